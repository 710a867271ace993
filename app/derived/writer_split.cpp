#include "derived/writer_split.h"

#include <cmath>

#include "math/attention.h"
#include "math/forward.h"

namespace headlight {
namespace {

std::size_t index_in(const std::vector<Writer>& writers, const Writer& one) {
  return static_cast<std::size_t>(std::find(writers.begin(), writers.end(), one) - writers.begin());
}

/// The writers of a side with the most of all terms' magnitude.
WriterAxis named(const std::vector<Writer>& all, const std::vector<double>& magnitudes) {
  std::vector<std::size_t> order = largest_first(all.size(), [&](std::size_t i) { return magnitudes[i]; });
  order.resize(std::min(order.size(), kNamedWriters));
  std::sort(order.begin(), order.end());
  WriterAxis axis{.others = all.size() - order.size()};
  for (const std::size_t at : order) axis.writers.push_back(all[at]);
  return axis;
}

/// Passes without a writer are made for answers of at most so many multiplications, about: some seconds for all lines.
constexpr double kMostProvenProducts = 2e10;

double block_products(const Trace& trace) {
  const auto width = static_cast<double>(trace.request.config.d_model);
  return 12 * width * width * static_cast<double>(trace.queries() * trace.num_layers(Stack::self));
}

/// The row of a word: its weights at every token, one row a piece.
struct WordRow {
  const Trace& trace;
  const HeadRef& head;
  const FoldedAxis::Group& query;
  Matrix weights = attention_rows(trace, head, query.first, query.count).cwiseMax(0.0f);

  float at(const FoldedAxis::Group& key) const {
    return weights.middleCols(key.first, key.count).sum() / static_cast<float>(query.count);
  }
  /// Adds the mean logarithm of the weight of a word to the writers of the query and of the key. With the shares π of
  /// its pieces in its weight, ln Σ exp(score) = Σ π·score − Σ π·ln π.
  Status add(const FoldedAxis::Group& key, double sign, std::vector<Rivals::Line>& of_query,
             std::vector<Rivals::Line>& of_key) const {
    const auto add_to = [](std::vector<Rivals::Line>& lines, const std::optional<Writer>& writer, double value) {
      const auto known =
          std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one.writer == writer; });
      if (known == lines.end()) lines.push_back({writer, value});
      else known->value += value;
    };
    for (Index row = 0; row < query.count; ++row) {
      const double sum = weights.row(row).segment(key.first, key.count).cast<double>().sum();
      for (Index piece = key.first; piece < key.first + key.count; ++piece) {
        const double share = sum > 0 ? static_cast<double>(weights(row, piece)) / sum : 0;
        if (share <= 0) continue;
        const double part = sign * share / static_cast<double>(query.count);
        const auto split = TRY(split_score(trace, head, {query.first + row, piece}));
        for (const ScoreTerm& term : split.terms) {
          add_to(of_query, term.query, part * term.value);
          add_to(of_key, term.key, part * term.value);
        }
        for (auto* lines : {&of_query, &of_key}) add_to(*lines, std::nullopt, -part * std::log(share));
      }
    }
    return Done{};
  }
};

/// The largest lines, and the rest.
void keep_largest(Rivals& rivals, std::vector<Rivals::Line> all, bool of_query) {
  Rivals other = rivals;
  other.of_query = of_query;
  other.lines.clear(), other.rest = 0, other.difference = 0;
  for (const std::size_t at : largest_first(all.size(), [&](std::size_t i) { return std::abs(all[i].value); })) {
    other.difference += all[at].value;
    if (other.lines.size() < kMostRivalLines && all[at].value != 0) other.lines.push_back(all[at]);
    else other.rest += all[at].value;
  }
  if (rivals.lines.empty() || other.carried() > rivals.carried()) rivals = std::move(other);
}

/// The edits without the writer; nothing where it is no part that can be switched off.
std::optional<Edits> edits_without(const Edits& edits, const Writer& writer) {
  Edits without = edits;
  if (writer.kind == WriterKind::head) switch_off(without, writer.head, true);
  else if (writer.kind == WriterKind::ffn)
    switch_off(without, writer.head.stack, writer.head.layer, BlockPart::ffn, true);
  else return std::nullopt;
  return without;
}

}  // namespace

Result<std::optional<Rivals>> rivals_of(const Trace& trace, const HeadRef& head, const CellRef& cell,
                                        Progress& progress) {
  const Tokens &queries = trace.query_tokens(head.stack), &keys = trace.key_tokens(head.stack);
  const Edits& edits = trace.request.edits;
  if (std::max(trace.queries(head.stack), trace.keys(head.stack)) > kMostFolded ||
      is_row_edited(edits, head, cell.query) || edits.dropout > 0)
    return std::optional<Rivals>();
  const Fold fold = fold_or_whole(queries, keys, {.special = true, .words = true});
  const auto asked = fold.groups_of(cell);
  if (!asked) return std::optional<Rivals>();
  Rivals rivals{.query = fold.queries.tokens_of(asked->query), .word = fold.keys.tokens_of(asked->key)};
  const WordRow row{trace, head, rivals.query};
  for (const FoldedAxis::Group& key : fold.keys.groups)
    if (!(key == rivals.word) && row.at(key) > rivals.rival_weight)
      rivals.rival = key, rivals.rival_weight = row.at(key);
  rivals.weight = row.at(rivals.word);
  if (std::max(rivals.rival_weight, rivals.weight) < kLeastRivalWeight || rivals.rival_weight <= 0 ||
      rivals.weight <= 0)
    return std::optional<Rivals>();
  if (rivals.weight < rivals.rival_weight) {
    std::swap(rivals.word, rivals.rival);
    std::swap(rivals.weight, rivals.rival_weight);
  }
  std::vector<Rivals::Line> of_query, of_key;
  TRY(row.add(rivals.word, 1, of_query, of_key));
  TRY(row.add(rivals.rival, -1, of_query, of_key));
  keep_largest(rivals, std::move(of_query), true);
  keep_largest(rivals, std::move(of_key), false);
  if (rivals.difference == 0) return std::optional<Rivals>();  // all words are given alike
  for (Rivals::Line& line : rivals.lines) {
    const auto without = line.writer ? edits_without(edits, *line.writer) : std::nullopt;
    if (!without || *without == edits || block_products(trace) > kMostProvenProducts) continue;
    Request request = trace.request;
    request.edits = *without;
    const auto answer = TRY(forward(request, progress, &trace));
    if (!answer) return std::optional<Rivals>();
    const WordRow other{*answer, head, rivals.query};
    line.weight = other.at(rivals.word), line.rival_weight = other.at(rivals.rival);
  }
  return std::optional(std::move(rivals));
}

Result<WriterSplit> writer_split(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  auto split = TRY(split_score(trace, head, cell));
  WriterSplit shown;
  shown.split = std::move(split);
  const std::vector<ScoreTerm>& terms = shown.split.terms;
  shown.order = largest_first(terms.size(), [&](std::size_t i) { return std::abs(terms[i].value); });
  // The terms stand in the order of the two lists, so that a writer is looked for once.
  std::vector<double> of_query(shown.split.queries.size()), of_key(shown.split.keys.size());
  std::vector<std::pair<std::size_t, std::size_t>> at(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool same_query = i > 0 && terms[i].query == terms[i - 1].query;
    const std::size_t next = same_query ? at[i - 1].second + 1 : 0;
    const std::vector<Writer>& keys = shown.split.keys;
    at[i] = {same_query ? at[i - 1].first : index_in(shown.split.queries, terms[i].query),
             next < keys.size() && keys[next] == terms[i].key ? next : index_in(keys, terms[i].key)};
    of_query[at[i].first] += std::abs(terms[i].value);
    of_key[at[i].second] += std::abs(terms[i].value);
  }
  shown.queries = named(shown.split.queries, of_query);
  shown.keys = named(shown.split.keys, of_key);
  const auto indices_of = [](const std::vector<Writer>& all, const WriterAxis& axis) {
    std::vector<Index> indices;
    for (const Writer& one : all) indices.push_back(static_cast<Index>(index_in(axis.writers, one)));
    return indices;
  };
  const std::vector<Index> rows = indices_of(shown.split.queries, shown.queries),
                           columns = indices_of(shown.split.keys, shown.keys);
  Eigen::MatrixXd sums =
      Eigen::MatrixXd::Zero(static_cast<Index>(shown.queries.size()), static_cast<Index>(shown.keys.size()));
  for (std::size_t i = 0; i < terms.size(); ++i) sums(rows[at[i].first], columns[at[i].second]) += terms[i].value;
  shown.sums = sums.cast<float>();
  shown.largest = shown.sums.size() > 0 ? shown.sums.cwiseAbs().maxCoeff() : 0;
  return shown;
}

Result<std::shared_ptr<const WriterSplit>> split_writers(const WriterQuestion& question, Progress& progress) {
  auto split = TRY(writer_split(*question.trace, question.head, question.cell));
  auto rivals = rivals_of(*question.trace, question.head, question.cell, progress);
  if (progress.stop) return std::shared_ptr<const WriterSplit>();
  if (rivals) split.rivals = *std::move(rivals);
  return std::make_shared<const WriterSplit>(std::move(split));
}

std::optional<WriterCell> cell_of_writer(const Trace& trace, const Writer& writer, Index token) {
  if (writer.kind != WriterKind::head) return std::nullopt;
  WriterCell at{writer.head, {token, 0}};
  attention_rows(trace, at.head, token, 1).row(0).maxCoeff(&at.cell.key);
  return at;
}

}  // namespace headlight
