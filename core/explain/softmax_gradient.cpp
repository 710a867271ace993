#include "explain/softmax_gradient.h"

#include <algorithm>
#include <cmath>

#include "math/attention.h"

namespace headlight {

Vector softmax_gradient(const Matrix& weights) {
  Vector size(weights.rows());
  for (Index r = 0; r < weights.rows(); ++r) {
    // Only sums of positive numbers: a difference of nearly equal ones would hide how small the size is.
    double sum = 0, squares = 0;
    for (Index c = 0; c < weights.cols(); ++c) {
      const double a = weights(r, c), own = a * (1 - a);
      sum += own * own + 2 * a * a * squares;
      squares += a * a;
    }
    size(r) = static_cast<float>(std::sqrt(sum));
  }
  return size;
}

namespace {

/// The sizes of rows [first, first + count) of one head.
Vector gradient_of(const AttentionTrace& attention, Index head, Index first, Index count) {
  Vector sizes(count);
  for (Index row = 0; row < count; row += kRowBlock) {
    const Index rows = std::min(kRowBlock, count - row);
    sizes.segment(row, rows) = softmax_gradient(softmax_of_rows(attention, head, first + row, rows));
  }
  return sizes;
}

/// All that the scores are made of, with another scale.
AttentionTrace rescaled(const AttentionTrace& attention, float scale) {
  AttentionTrace result;
  result.query = attention.query;
  result.key = attention.key;
  result.heads.resize(attention.heads.size());
  result.mask = attention.mask;
  result.scale = scale;
  result.softcap = attention.softcap;
  result.sinks = attention.sinks;
  result.relative_bias = attention.relative_bias;
  result.distances = attention.distances;
  result.num_kv_heads = attention.num_kv_heads;
  return result;
}

}  // namespace

ScaleEffect scale_effect(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  ScaleEffect effect{
      .scale = attention.scale, .gradient = gradient_of(attention, head.head, first, count), .other = {}};
  if (attention.patterns) return effect;
  const Index d_k = attention.query.cols() / attention.num_heads();
  if (effect.scale == 1) effect.other_scale = 1 / std::sqrt(static_cast<float>(d_k));
  if (effect.other_scale == effect.scale) return effect;
  effect.other = gradient_of(rescaled(attention, effect.other_scale), head.head, first, count);
  return effect;
}

}  // namespace headlight
