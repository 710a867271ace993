#include "heads/rollout.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/parallel.h"

namespace headlight {
namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

bool same_words(const Tokens& a, const Tokens& b) {
  return std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                    [](const Token& x, const Token& y) { return x.raw == y.raw; });
}

/// ½ mean of the heads + ½ I, rows divided by their sums; without a residual the mean of the heads alone.
Doubles mixing(const Trace& trace, Stack stack, Index layer) {
  const Index heads = trace.num_heads(stack), tokens = trace.queries(stack);
  Doubles sum = Doubles::Zero(tokens, tokens);
  for (Index head = 0; head < heads; ++head)
    sum += effective_weights(trace, {layer, head, stack}).cwiseMax(0.0f).cast<double>();
  sum /= 2 * static_cast<double>(heads);
  if (!parts_off(trace.request.edits, stack, layer).residual) sum.diagonal().array() += 0.5;
  const auto smallest = std::numeric_limits<double>::min();  // a row that attends to nothing stays 0
  sum.array().colwise() /= sum.rowwise().sum().array().max(smallest).eval();
  return sum;
}

}  // namespace

std::optional<MapUnavailable> why_no_rollout(const Trace& trace, Stack stack) {
  if (stack == Stack::cross || !same_words(trace.query_tokens(stack), trace.key_tokens(stack)))
    return MapUnavailable::two_sequences;
  if (is_too_long(trace, stack)) return MapUnavailable::too_long;
  return std::nullopt;
}

std::optional<std::vector<Matrix>> rollout_maps(const Trace& trace, Stack stack, Progress& progress, int threads) {
  assert(!why_no_rollout(trace, stack));
  const Index layers = trace.num_layers(stack);
  progress.done = progress.begin;
  std::vector<Doubles> mixings(static_cast<std::size_t>(layers));
  parallel_for(layers, threads, [&](Index layer) {
    if (progress.stop) return;
    mixings[static_cast<std::size_t>(layer)] = mixing(trace, stack, layer);
    progress.advance(progress.share / static_cast<float>(layers));
  });
  std::vector<Matrix> maps;
  for (std::size_t layer = 0; layer < mixings.size() && !progress.stop; ++layer) {
    if (layer > 0) mixings[layer] = mixings[layer] * mixings[layer - 1];
    maps.push_back(mixings[layer].cast<float>());
  }
  if (progress.stop) return std::nullopt;
  return maps;
}

}  // namespace headlight
