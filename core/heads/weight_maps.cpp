#include "heads/weight_maps.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

#include "base/names.h"
#include "base/parallel.h"
#include "heads/head_measures.h"
#include "heads/stack_weights.h"

namespace headlight {
namespace {

constexpr std::string_view kUnavailableNames[] = {
    "attention alone, without values", "queries and keys of two sequences", "numbers below 0", "more than 128 tokens"};
static_assert(kThumbnail == 128);

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of W_O that are taken at a time: a weight in half precision is never widened whole.
constexpr Index kOutputRows = 256;

/// ‖f(x_j)‖ of every head and key, (H, S); an empty matrix when `stop` became true.
Matrix value_norms(const Trace& trace, Stack stack, Index layer, const std::atomic<bool>& stop) {
  const AttentionTrace& attention = trace.attention(stack, layer);
  const Linear& output = attention_weights(*trace.model, stack, layer).output;
  const Index heads = attention.num_heads(), keys = attention.value.rows();
  Doubles squares = Doubles::Zero(heads, keys);
  const auto values = [&](Index head) {
    return head_columns(attention.value, attention.kv_head(head), attention.num_kv_heads);
  };
  if (output.is_identity())
    for (Index head = 0; head < heads; ++head)
      squares.row(head) = values(head).cast<double>().rowwise().squaredNorm().transpose();
  for (Index first = 0; !output.is_identity() && first < output.outputs(); first += kOutputRows) {
    const Matrix rows = weight_rows(output, first, std::min(kOutputRows, output.outputs() - first));
    for (Index head = 0; head < heads; ++head) {
      if (stop) return {};
      const Matrix added = values(head) * head_columns(rows, head, heads).transpose();  // (S, rows)
      squares.row(head) += added.cast<double>().rowwise().squaredNorm().transpose();
    }
  }
  return squares.cwiseSqrt().cast<float>();
}

/// ½ mean of the heads + ½ I, rows divided by their sums; without a residual the mean of the heads alone.
Doubles mixing(const Trace& trace, Stack stack, Index layer, const std::vector<Index>& heads) {
  const Index tokens = trace.queries(stack);
  Doubles sum = Doubles::Zero(tokens, tokens);
  for (const Index head : heads) sum += effective_weights(trace, {layer, head, stack}).cwiseMax(0.0f).cast<double>();
  sum /= 2 * static_cast<double>(heads.size());
  if (!parts_off(trace.request.edits, stack, layer).residual) sum.diagonal().array() += 0.5;
  const auto smallest = std::numeric_limits<double>::min();  // a row that attends to nothing stays 0
  sum.array().colwise() /= sum.rowwise().sum().array().max(smallest).eval();
  return sum;
}

}  // namespace

std::string_view name(MapUnavailable why) { return name_in(kUnavailableNames, why); }

bool is_too_long(const Trace& trace, Stack stack) {
  return std::max(trace.queries(stack), trace.keys(stack)) > kThumbnail;
}

Matrix effective_weights(const Trace& trace, const HeadRef& head) {
  const Matrix& weights = trace.head(head).thumbnail;
  const Edits& edits = trace.request.edits;
  if (!is_off(edits, head)) return weights;
  if (edits.off_as == OffAs::zero) return weights.cwiseMin(0.0f);
  const Vector mean = weights.cwiseMax(0.0f).cast<double>().colwise().mean().cast<float>();
  // A blocked cell has a weight here where other queries may look at that key.
  const Matrix means = mean.replicate(weights.rows(), 1);
  return (weights.array() < 0.0f && means.array() == 0.0f).select(weights, means);
}

std::optional<MapUnavailable> why_no_norms(const Trace& trace, Stack stack) {
  if (trace.attention(stack, 0).patterns) return MapUnavailable::no_values;
  if (is_too_long(trace, stack)) return MapUnavailable::too_long;
  return std::nullopt;
}

std::optional<std::vector<Matrix>> norm_maps(const Trace& trace, Stack stack, Progress& progress, int threads) {
  assert(!why_no_norms(trace, stack));
  const Index layers = trace.num_layers(stack), heads = trace.num_heads(stack);
  progress.done = progress.begin;
  std::vector<Matrix> maps(static_cast<std::size_t>(layers * heads));
  parallel_for(layers, threads, [&](Index layer) {
    if (progress.stop) return;
    const Matrix norms = value_norms(trace, stack, layer, progress.stop);
    if (norms.size() == 0) return;
    for (Index head = 0; head < heads; ++head) {
      Matrix& map = maps[static_cast<std::size_t>(layer * heads + head)] =
          effective_weights(trace, {layer, head, stack});
      map = (map.array() < 0.0f).select(map, map.array().rowwise() * norms.row(head).array());
    }
    progress.advance(progress.share / static_cast<float>(layers));
  });
  if (progress.stop) return std::nullopt;
  return maps;
}

std::optional<MapUnavailable> why_no_rollout(const Trace& trace, Stack stack) {
  if (!is_one_sequence(trace, stack)) return MapUnavailable::two_sequences;
  if (trace.is_signed) return MapUnavailable::below_zero;
  if (is_too_long(trace, stack)) return MapUnavailable::too_long;
  return std::nullopt;
}

std::optional<std::vector<Matrix>> rollout_maps(const Trace& trace, Stack stack, Progress& progress, int threads,
                                                const std::vector<HeadRef>& only) {
  assert(!why_no_rollout(trace, stack));
  std::map<Index, std::vector<Index>> heads;  // of each layer
  for (const HeadRef& head : only) heads[head.layer].push_back(head.head);
  for (Index i = 0; only.empty() && i < trace.num_layers(stack) * trace.num_heads(stack); ++i)
    heads[i / trace.num_heads(stack)].push_back(i % trace.num_heads(stack));
  const std::vector<std::pair<Index, std::vector<Index>>> layers(heads.begin(), heads.end());
  progress.done = progress.begin;
  std::vector<Doubles> mixings(layers.size());
  parallel_for(static_cast<Index>(layers.size()), threads, [&](Index at) {
    if (progress.stop) return;
    const auto& [layer, of_layer] = layers[static_cast<std::size_t>(at)];
    mixings[static_cast<std::size_t>(at)] = mixing(trace, stack, layer, of_layer);
    progress.advance(progress.share / static_cast<float>(layers.size()));
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
