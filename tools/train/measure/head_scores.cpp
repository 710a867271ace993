#include "train/measure/head_scores.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "base/parallel.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {

Speller::Speller(const Model& model, const Grammar& grammar) {
  std::unordered_map<std::string_view, std::int64_t> rows;
  const auto& [words, ids] = *model.vocabulary;
  for (std::size_t row = 0; row < words.size(); ++row) {
    rows.emplace(words[row], ids.empty() ? static_cast<std::int64_t>(row) : ids[row]);
  }
  const auto start = rows.find(kSpecialWords[kStartRow]), unknown_row = rows.find(kSpecialWords[kUnknownRow]);
  if (start != rows.end() && model.config.arch != Arch::encoder) start_ = start->second;
  const std::size_t own = grammar.words.size();
  for (std::size_t i = 0; i < own + grammar.dictionary.words.size(); ++i) {
    const auto row = rows.find(target_word(grammar, static_cast<std::int32_t>(i)));
    if (row == rows.end() && i < own) ++unknown;
    ids_.push_back(row != rows.end() ? row->second : unknown_row != rows.end() ? unknown_row->second : 0);
  }
}

Request Speller::request(const std::shared_ptr<const Model>& model, const std::vector<std::int32_t>& words,
                         const std::vector<std::int32_t>& english) const {
  const bool two_texts = model->config.arch == Arch::encoder_decoder;
  Request request{.model = model, .config = model->config, .tokens = tokens(words, !two_texts)};
  if (two_texts) request.target = tokens(english, true);
  if (model->config.arch != Arch::encoder) request.mask.causal = true;
  return request;
}

Tokens Speller::tokens(const std::vector<std::int32_t>& words, bool start) const {
  Tokens tokens;
  if (start && start_) {
    Token& first = tokens.tokens.emplace_back();
    first.id = *start_;
    first.special = true;
  }
  for (const std::int32_t word : words) tokens.tokens.emplace_back().id = ids_[static_cast<std::size_t>(word)];
  return tokens;
}

std::shared_ptr<const Model> untrained_model(const Model& model) {
  Model fresh = *random_model(model.config);
  fresh.embeddings = model.embeddings;  // the vectors of the words, and none of what was learned about them …
  Random random(derive_seed(model.config.seed, "relations"));
  Matrix tokens(model.embeddings.tokens->outputs(), model.embeddings.tokens->inputs());
  const float limit = std::sqrt(3.0f / static_cast<float>(tokens.cols()));
  for (Index i = 0; i < tokens.size(); ++i) tokens.data()[i] = random.symmetric(limit);
  fresh.embeddings.tokens = table_of(std::move(tokens));  // … not even those
  if (fresh.encoder && model.encoder) {
    fresh.encoder->embeddings = model.encoder->embeddings;
    fresh.encoder->embeddings.tokens = fresh.embeddings.tokens;
  }
  return std::make_shared<const Model>(std::move(fresh));
}

namespace {

/// The most frequent distance; 0 where there is none.
int best_distance(const std::vector<GoldPair>& golds, std::optional<int> kind) {
  std::map<int, Index> counts;
  for (const GoldPair& gold : golds)
    if (!kind || gold.kind == *kind) ++counts[gold.distance];
  int best = 0;
  Index most = 0;
  for (const auto& [distance, count] : counts)
    if (count > most) best = distance, most = count;
  return best;
}

/// The row of each word's id in the model's output layer; ids that are not there are rows themselves.
std::unordered_map<std::int64_t, Index> rows_of_ids(const Model& model) {
  std::unordered_map<std::int64_t, Index> rows;
  if (model.vocabulary)
    for (std::size_t row = 0; row < model.vocabulary->ids.size(); ++row)
      rows.emplace(model.vocabulary->ids[row], static_cast<Index>(row));
  return rows;
}

/// Of what the main stack reads, from its second token on.
Foretold foretold_words(const Trace& trace, const std::unordered_map<std::int64_t, Index>& rows) {
  const auto row_of = [&](std::int64_t id) {
    const auto found = rows.find(id);
    return found == rows.end() ? static_cast<Index>(id) : found->second;
  };
  Foretold foretold;
  const std::vector<Token>& tokens = trace.query_tokens().tokens;
  const Matrix logits = logit_rows(trace, 0, static_cast<Index>(tokens.size()) - 1);
  for (std::size_t position = 1; position < tokens.size(); ++position) {
    const Index right = row_of(tokens[position].id);
    if (right < 0 || right >= logits.cols()) continue;
    const Vector chances = probabilities(logits.row(static_cast<Index>(position) - 1));
    Index best = 0;
    chances.maxCoeff(&best);
    ++foretold.words;
    foretold.right += best == right;
    foretold.nats -= std::log(std::max(1e-30, static_cast<double>(chances(right))));
  }
  return foretold;
}

/// Looks of every head on the golds of one case.
void look_at(const Trace& trace, Stack stack, const MeasuredCase& one, std::span<std::vector<HeadLook>> golds) {
  const Index heads = trace.num_heads(stack), columns = trace.num_layers(stack) * heads;
  for (std::vector<HeadLook>& looks : golds) looks.resize(static_cast<std::size_t>(2 * columns));
  for (Index column = 0; column < columns; ++column) {
    const HeadRef head{.layer = column / heads, .head = column % heads, .stack = stack};
    Matrix weights = attention_rows(trace, head, 0, trace.queries(stack));
    if (one.weights) weights = one.weights(weights);
    for (std::size_t gold = 0; gold < golds.size(); ++gold) {
      const auto looks = one.look(weights, gold);
      std::copy(looks.begin(), looks.end(), golds[gold].begin() + 2 * column);
    }
  }
}

}  // namespace

bool foretells(const Model& model) { return model.config.arch != Arch::encoder && static_cast<bool>(model.output); }

Result<HeadLooks> looks_of(const std::shared_ptr<const Model>& model, const std::vector<MeasuredCase>& cases,
                           Stack stack, int threads, Progress& progress, float share, std::vector<Foretold>* foretold) {
  std::vector<std::size_t> begin(cases.size() + 1, 0);
  for (std::size_t i = 0; i < cases.size(); ++i) begin[i + 1] = begin[i] + cases[i].golds.size();
  HeadLooks looks(begin.back());
  const auto rows = foretold ? rows_of_ids(*model) : std::unordered_map<std::int64_t, Index>();
  if (foretold) foretold->resize(cases.size());
  std::vector<std::optional<Error>> errors(cases.size());
  const float done = progress.done;
  std::atomic<std::size_t> answered = 0;
  parallel_for(static_cast<Index>(cases.size()), threads, [&](Index number) {
    if (progress.stop) return;
    const auto i = static_cast<std::size_t>(number);
    Request request = cases[i].request;
    request.model = model;
    request.config = model->config;
    Progress of_case;
    const auto trace = forward(request, of_case, nullptr, 1);
    if (!trace) {
      errors[i] = trace.error();
      return;
    }
    look_at(**trace, stack, cases[i], std::span(looks).subspan(begin[i], cases[i].golds.size()));
    if (foretold) (*foretold)[i] = foretold_words(**trace, rows);
    progress.done = done + share * static_cast<float>(++answered) / static_cast<float>(cases.size());
  });
  for (const auto& error : errors)
    if (error) return *error;
  return progress.stop ? HeadLooks{} : looks;
}

HeadScore score_of(const HeadLooks& looks, const std::vector<std::size_t>& golds, std::size_t column,
                   const std::vector<bool>& hard) {
  HeadScore score;
  Index hard_right = 0;
  for (std::size_t i = 0; i < golds.size(); ++i) {
    const HeadLook& one = looks[golds[i]][column];
    score.accuracy += one.right;
    score.weight += one.weight;
    if (hard.empty() || !hard[i]) continue;
    ++score.hard_count;
    hard_right += one.right;
  }
  const double count = std::max<double>(1, static_cast<double>(golds.size()));
  score.accuracy /= count;
  score.weight /= count;
  if (score.hard_count > 0) score.hard = static_cast<double>(hard_right) / static_cast<double>(score.hard_count);
  return score;
}

std::size_t best_column(const HeadLooks& looks, const std::vector<std::size_t>& golds, std::size_t first,
                        std::size_t step) {
  std::size_t best = first;
  double most = -1;
  for (std::size_t column = first; !looks.empty() && column < looks.front().size(); column += step)
    if (const double now = score_of(looks, golds, column, {}).accuracy; now > most) best = column, most = now;
  return best;
}

Result<bool> Measured::look(const std::shared_ptr<const Model>& model, Stack stack, int threads, Progress& progress,
                            float share, std::vector<Foretold>* foretold) {
  const auto fresh = untrained_model(*model);
  for (const auto& [of, cases, looks] : {std::tuple{&model, &validation, &on_validation},
                                         {&model, &test, &on_test},
                                         {&fresh, &validation, &fresh_on_validation},
                                         {&fresh, &test, &fresh_on_test}}) {
    auto found = TRY(looks_of(*of, *cases, stack, threads, progress, share, looks == &on_test ? foretold : nullptr));
    if (progress.stop) return false;
    *looks = std::move(found);
  }
  return true;
}

RelationGolds golds_of(const std::vector<MeasuredCase>& cases, int relation) {
  RelationGolds found;
  std::size_t row = 0;
  for (const MeasuredCase& one : cases)
    for (const GoldPair& gold : one.golds) {
      if (gold.relation == relation) {
        found.rows.push_back(row);
        found.pairs.push_back(gold);
      }
      ++row;
    }
  return found;
}

RelationMeasure::RelationMeasure(const Measured& measured, int relation,
                                 const std::function<bool(std::size_t gold, int distance)>& leads_right)
    : measured_(measured),
      chosen_on_(golds_of(measured.validation, relation)),
      scored_on_(golds_of(measured.test, relation)) {
  const std::vector<GoldPair>& test = scored_on_.pairs;
  const auto is_right = [&](std::size_t gold, int distance) {
    return leads_right ? leads_right(gold, distance) : test[gold].distance == distance;
  };
  const int offset = best_distance(chosen_on_.pairs, std::nullopt);
  std::map<int, int> of_kind;
  for (const GoldPair& gold : chosen_on_.pairs)
    if (!of_kind.contains(gold.kind)) of_kind[gold.kind] = best_distance(chosen_on_.pairs, gold.kind);
  for (std::size_t i = 0; i < test.size(); ++i) {
    const auto found = of_kind.find(test[i].kind);
    const bool right = is_right(i, offset), kind_right = found != of_kind.end() && is_right(i, found->second);
    offset_ += right;
    kind_offset_ += kind_right;
    hard_.push_back(!right && !kind_right);
  }
  const double count = std::max<double>(1, static_cast<double>(test.size()));
  offset_ /= count;
  kind_offset_ /= count;
}

double RelationMeasure::validated(std::size_t column) const {
  return score_of(measured_.on_validation, chosen_on_.rows, column, {}).accuracy;
}

HeadScore RelationMeasure::tested(std::size_t column) const {
  return score_of(measured_.on_test, scored_on_.rows, column, hard_);
}

void RelationMeasure::add_baselines(RelationScore& score, std::size_t first, std::size_t step) const {
  const std::size_t fresh = best_column(measured_.fresh_on_validation, chosen_on_.rows, first, step);
  score.random = score_of(measured_.fresh_on_test, scored_on_.rows, fresh, {}).accuracy;
  score.offset = offset_;
  score.kind_offset = kind_offset_;
  score.sentences = static_cast<Index>(scored_on_.rows.size());
}

NextWordScore next_word_score(const std::vector<Foretold>& sentences) {
  NextWordScore score;
  double nats = 0;
  for (const Foretold& one : sentences) {
    score.words += one.words;
    score.accuracy += static_cast<double>(one.right);
    nats += one.nats;
  }
  if (score.words == 0) return score;
  const auto count = static_cast<double>(score.words);
  score.accuracy /= count;
  score.perplexity = std::exp(nats / count);
  return score;
}

}  // namespace headlight
