#include "derived/writer_split.h"

#include <cmath>

#include "math/attention.h"

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

}  // namespace

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

Result<std::shared_ptr<const WriterSplit>> split_writers(const WriterQuestion& question,
                                                         const std::atomic<bool>& stop) {
  auto split = writer_split(*question.trace, question.head, question.cell);
  if (stop) return std::shared_ptr<const WriterSplit>();
  if (!split) return split.error();
  return std::make_shared<const WriterSplit>(*std::move(split));
}

std::optional<WriterCell> cell_of_writer(const Trace& trace, const Writer& writer, Index token) {
  if (writer.kind != WriterKind::head) return std::nullopt;
  WriterCell at{writer.head, {token, 0}};
  attention_rows(trace, at.head, token, 1).row(0).maxCoeff(&at.cell.key);
  return at;
}

}  // namespace headlight
