#include "math/score_terms.h"

#include <algorithm>
#include <cmath>

#include "math/ops.h"

namespace headlight {
namespace {

/// The columns of one head, as a separate matrix.
Matrix head_of(const Matrix& side_by_side, Index head, Index heads) {
  return side_by_side.size() > 0 ? Matrix(head_columns(side_by_side, head, heads)) : Matrix{};
}

}  // namespace

void soft_cap(MatrixRef x, float cap) {
  const double bound = static_cast<double>(cap);
  for (Index r = 0; r < x.rows(); ++r)
    for (Index c = 0; c < x.cols(); ++c)
      x(r, c) = static_cast<float>(bound * std::tanh(static_cast<double>(x(r, c)) / bound));
}

void join_sink(float sink, MatrixRef weights, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum) {
  const auto logit = static_cast<double>(sink);
  for (Index r = 0; r < weights.rows(); ++r) {
    if (row_sum(r) == 0.0f) continue;
    const double before = static_cast<double>(row_max(r)), largest = std::max(before, logit);
    const double words = static_cast<double>(row_sum(r)) * std::exp(before - largest);
    const double all = words + std::exp(logit - largest);
    weights.row(r) *= static_cast<float>(words / all);
    row_max(r) = static_cast<float>(largest);
    row_sum(r) = static_cast<float>(all);
  }
}

Index distance_row(const DistanceVectors& vectors, Index distance) {
  const Index rows = vectors.rows(), half = rows / 2, size = std::abs(distance);
  Index shared = size;
  if (vectors.exact > 0 && size > vectors.exact) {
    // In float32, as the models were trained with it: a distance on an edge must fall to the same side.
    const auto exact = static_cast<float>(vectors.exact);
    const float beyond = std::log(static_cast<float>(size) / exact) /
                         std::log(static_cast<float>(static_cast<double>(vectors.max_distance - 1) /
                                                     static_cast<double>(vectors.exact)));
    shared = static_cast<Index>(std::ceil(beyond * (static_cast<float>(half - vectors.exact) - 1.0f))) + vectors.exact;
  }
  return std::clamp<Index>(half + (distance < 0 ? -shared : shared), 0, rows - 1);
}

DistanceTerms distance_terms(const AttentionTrace& attention, Index head, Index keys) {
  const DistanceVectors& vectors = *attention.distances;
  const Index heads = attention.num_heads();
  DistanceTerms terms{.keys = {.weight = head_of(vectors.keys, head, heads), .bias = {}}, .of_keys = {}};
  if (vectors.queries.size() == 0) return terms;
  const Matrix k = head_columns(attention.key, attention.kv_head(head), attention.num_kv_heads).topRows(keys);
  terms.of_keys = linear(k, Linear{.weight = head_of(vectors.queries, head, heads), .bias = {}}) * attention.scale;
  return terms;
}

Matrix content_to_position(const AttentionTrace& attention, const DistanceTerms& terms, Index head, Index first,
                           Index count, Index keys) {
  const Matrix q = head_columns(attention.query, head, attention.num_heads()).middleRows(first, count);
  const Matrix of_rows = linear(q, terms.keys) * attention.scale;
  Matrix added(count, keys);
  for (Index r = 0; r < count; ++r)
    for (Index key = 0; key < keys; ++key)
      added(r, key) = of_rows(r, distance_row(*attention.distances, first + r - key));
  return added;
}

Matrix position_to_content(const AttentionTrace& attention, const DistanceTerms& terms, Index first, Index count,
                           Index keys) {
  Matrix added(count, keys);
  for (Index r = 0; r < count; ++r)
    for (Index key = 0; key < keys; ++key)
      added(r, key) = terms.of_keys(key, distance_row(*attention.distances, first + r - key));
  return added;
}

}  // namespace headlight
