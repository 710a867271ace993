#include "train/measure/head_scores.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.h"
#include "math/output.h"

namespace headlight {
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

}  // namespace

Result<HeadLooks> look_at_all(const std::vector<Request>& requests, const std::vector<std::size_t>& num_golds,
                              const ReadLooks& read, int threads, Progress& progress, float share) {
  std::vector<std::size_t> begin(requests.size() + 1, 0);
  for (std::size_t i = 0; i < requests.size(); ++i) begin[i + 1] = begin[i] + num_golds[i];
  HeadLooks looks(begin.back());
  std::vector<std::optional<Error>> errors(requests.size());
  const float done = progress.done;
  std::atomic<std::size_t> answered = 0;
  parallel_for(static_cast<Index>(requests.size()), threads, [&](Index number) {
    if (progress.stop) return;
    const auto i = static_cast<std::size_t>(number);
    Progress own;
    const auto trace = forward(requests[i], own, nullptr, 1);
    if (!trace) {
      errors[i] = trace.error();
      return;
    }
    read(**trace, i, std::span(looks).subspan(begin[i], num_golds[i]));
    progress.done = done + share * static_cast<float>(++answered) / static_cast<float>(requests.size());
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

PositionScores position_scores(const std::vector<GoldPair>& validation, const std::vector<GoldPair>& test,
                               const std::function<bool(std::size_t gold, int distance)>& is_right) {
  PositionScores scores;
  const int offset = best_distance(validation, std::nullopt);
  std::map<int, int> of_kind;
  for (const GoldPair& gold : validation)
    if (!of_kind.contains(gold.kind)) of_kind[gold.kind] = best_distance(validation, gold.kind);
  for (std::size_t i = 0; i < test.size(); ++i) {
    const auto found = of_kind.find(test[i].kind);
    const bool right = is_right(i, offset), kind_right = found != of_kind.end() && is_right(i, found->second);
    scores.offset += right;
    scores.kind_offset += kind_right;
    scores.hard.push_back(!right && !kind_right);
  }
  const double count = std::max<double>(1, static_cast<double>(test.size()));
  scores.offset /= count;
  scores.kind_offset /= count;
  return scores;
}

std::unordered_map<std::int64_t, Index> rows_of_ids(const Model& model) {
  std::unordered_map<std::int64_t, Index> rows;
  if (model.vocabulary)
    for (std::size_t row = 0; row < model.vocabulary->ids.size(); ++row)
      rows.emplace(model.vocabulary->ids[row], static_cast<Index>(row));
  return rows;
}

Foretold foretold_words(const Trace& trace, const std::unordered_map<std::int64_t, Index>& rows) {
  const auto row_of = [&](std::int64_t id) {
    const auto found = rows.find(id);
    return found == rows.end() ? static_cast<Index>(id) : found->second;
  };
  Foretold foretold;
  const std::vector<Token>& tokens = trace.query_tokens().tokens;
  const Matrix logits = logit_rows(trace, 0, static_cast<Index>(tokens.size()) - 1);
  for (std::size_t place = 1; place < tokens.size(); ++place) {
    const Index right = row_of(tokens[place].id);
    if (right < 0 || right >= logits.cols()) continue;
    const Vector chances = probabilities(logits.row(static_cast<Index>(place) - 1));
    Index best = 0;
    chances.maxCoeff(&best);
    ++foretold.words;
    foretold.right += best == right;
    foretold.nats -= std::log(std::max(1e-30, static_cast<double>(chances(right))));
  }
  return foretold;
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
