#include "heads/attention_norms.h"

#include <algorithm>
#include <cassert>

#include "base/parallel.h"

namespace headlight {
namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows of W_O that are taken at a time: a weight in half precision is never widened whole.
constexpr Index kOutputRows = 256;

const Linear& output_weights(const Trace& trace, Stack stack, Index layer) {
  const StackWeights& weights = stack == Stack::encoder ? *trace.model->encoder : *trace.model;
  const BlockWeights& block = weights.blocks[static_cast<std::size_t>(layer)];
  return stack == Stack::cross ? block.cross->output : block.self.output;
}

/// ‖f(x_j)‖ of every head and key, (H, S); an empty matrix when `stop` became true.
Matrix value_norms(const Trace& trace, Stack stack, Index layer, const std::atomic<bool>& stop) {
  const AttentionTrace& attention = trace.attention(stack, layer);
  const Linear& output = output_weights(trace, stack, layer);
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

}  // namespace

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

}  // namespace headlight
