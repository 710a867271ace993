#include "derived/head_ranking.h"

#include <algorithm>
#include <map>

#include "heads/head_measures.h"

namespace headlight {
namespace {

/// A row's part where most rows look equally far, and where most look at one word, as at the first of a causal model.
constexpr float kOfStep = 0.5f, kOfSink = 0.1f;
constexpr float kOfName = 2;  // beside it, where its cell is named

/// Whether the rows, or columns, of a thumbnail are words: without special tokens and padding.
std::vector<bool> are_words(const Tokens& tokens, Index cells) {
  std::vector<bool> words(static_cast<std::size_t>(cells), true);
  const auto count = static_cast<Index>(tokens.size());
  for (Index i = 0; i < count; ++i) {
    const Token& token = tokens.tokens[static_cast<std::size_t>(i)];
    if (token.special || token.pad) words[static_cast<std::size_t>(i * cells / count)] = false;
  }
  return words;
}

}  // namespace

bool HeadRanking::is_of(const Request& request) const {
  return model == WeakRef<Model>(request.model) && config == request.config && tokens == request.tokens &&
         target == request.target;
}

float shown_by_head(const Trace& trace, const HeadRef& head, Index named) {
  const Matrix& weights = trace.head(head).thumbnail;
  const auto rows = are_words(trace.query_tokens(head.stack), weights.rows());
  const auto columns = are_words(trace.key_tokens(head.stack), weights.cols());
  const bool of_self = head.stack != Stack::cross;
  struct Look {
    Index row, column;
    float weight;
  };
  std::vector<Look> looks;
  std::map<Index, std::size_t> distances, targets;  // how many rows have each
  std::size_t counted = 0;
  for (Index i = 0; i < weights.rows(); ++i) {
    if (!rows[static_cast<std::size_t>(i)]) continue;
    Look look{i, -1, 0};
    Index open = 0;
    for (Index j = 0; j < weights.cols(); ++j) {
      if (!columns[static_cast<std::size_t>(j)] || weights(i, j) < 0) continue;
      ++open;
      if (!(of_self && i == j) && weights(i, j) > look.weight) look = {i, j, weights(i, j)};
    }
    if (open < 2) continue;
    ++counted;
    if (look.column < 0) continue;
    looks.push_back(look);
    ++distances[look.column - i];
    ++targets[look.column];
  }
  float sum = 0;
  for (const Look& look : looks) {
    const bool steps = of_self && 2 * distances[look.column - look.row] > counted;
    const bool rests = 2 * targets[look.column] > counted;
    sum += look.weight * look.weight * (rests ? kOfSink : steps ? kOfStep : 1);
  }
  sum += kOfName * static_cast<float>(named);
  return counted > 0 ? std::min(1.0f, sum / static_cast<float>(counted)) : 0;
}

std::shared_ptr<const HeadRanking> rank_heads(const RankingQuestion& question, Progress& progress) {
  const auto trace = question.trace.lock();
  if (!trace) return nullptr;
  const Request& request = trace->request;
  auto ranking = std::make_shared<HeadRanking>();
  ranking->model = request.model;
  ranking->config = request.config;
  ranking->tokens = request.tokens;
  ranking->target = request.target;
  for (const HeadRef& head : heads_of(*trace)) {
    if (progress.stop) return nullptr;
    const auto named = std::equal_range(question.named.begin(), question.named.end(), head);
    ranking->entries.push_back({head, shown_by_head(*trace, head, named.second - named.first)});
  }
  return ranking;
}

}  // namespace headlight
