// Attention of one head over one sentence, there and back. Compiled for several processors: see lanes.h.
#pragma once

#include "math/product_bodies.h"
#include "train/network/kernels.h"

namespace headlight {
namespace {

inline Index seen_keys(const AttentionPass& pass, Index query) {
  return pass.causal && query + 1 < pass.keys ? query + 1 : pass.keys;
}

/// Scores → weights of one row, zeros from `seen` on (Vaswani et al. 2017, equation 1).
inline void softmax_row(float* row, Index seen, Index size, float scale) {
  Sixteen peak, total;
  HEADLIGHT_UNROLL
  for (int i = 0; i < 16 / kWidth; ++i) peak.part[i] = all(-3.0e38f), total.part[i] = Lanes{};
  for (Index j = 0; j < size; j += kWidth) {
    const Lanes x = first(load(row + j) * scale, seen - j, -__builtin_inff());
    store(row + j, x);
    Lanes& part = peak.part[part_of(j)];
    part = larger(part, x);
  }
  const float most = fold(peak, [](Lanes a, Lanes b) { return larger(a, b); });
  for (Index j = 0; j < size; j += kWidth) {
    const Lanes x = exponential_lanes(load(row + j) - most);
    store(row + j, x);
    total.part[part_of(j)] += x;
  }
  const float inverse = 1.0f / sum(total);
  for (Index j = 0; j < size; j += kWidth) store(row + j, load(row + j) * inverse);
}

inline void attention_forward(const AttentionPass& pass) {
  const Index size = pass.weights_row;
  transpose(pass.k, pass.k_row, pass.keys, pass.d_k, pass.scratch, size);
  product({.m = pass.queries,
           .n = size,
           .k = pass.d_k,
           .a = pass.q,
           .a_row = pass.q_row,
           .a_col = 1,
           .b = pass.scratch,
           .b_row = size,
           .c = pass.weights,
           .c_row = size});
  for (Index i = 0; i < pass.queries; ++i) softmax_row(pass.weights + i * size, seen_keys(pass, i), size, pass.scale);
  const float* weights = pass.weights;
  if (pass.factors) {
    for (Index at = 0; at < pass.queries * size; at += kWidth)
      store(pass.dropped + at, load(pass.weights + at) * load(pass.factors + at));
    weights = pass.dropped;
  }
  product({.m = pass.queries,
           .n = pass.d_k,
           .k = pass.keys,
           .a = weights,
           .a_row = size,
           .a_col = 1,
           .b = pass.v,
           .b_row = pass.v_row,
           .c = pass.z,
           .c_row = pass.z_row});
}

inline void attention_backward(const AttentionPass& pass, const AttentionGradients& gradients) {
  const Index size = pass.weights_row;
  float* const scores = pass.scratch + pass.d_k * size;  // their gradients
  transpose(pass.v, pass.v_row, pass.keys, pass.d_k, pass.scratch, size);
  product({.m = pass.queries,
           .n = size,
           .k = pass.d_k,
           .a = gradients.z,
           .a_row = pass.z_row,
           .a_col = 1,
           .b = pass.scratch,
           .b_row = size,
           .c = scores,
           .c_row = size});
  for (Index i = 0; i < pass.queries; ++i) {
    const float* weights = pass.weights + i * size;
    float* row = scores + i * size;
    Sixteen total;
    HEADLIGHT_UNROLL
    for (int part = 0; part < 16 / kWidth; ++part) total.part[part] = Lanes{};
    for (Index j = 0; j < size; j += kWidth) {
      Lanes x = load(row + j);
      if (pass.factors) {
        x *= load(pass.factors + i * size + j);
        store(row + j, x);
      }
      total.part[part_of(j)] += load(weights + j) * x;
    }
    const float mean = sum(total);
    for (Index j = 0; j < size; j += kWidth) store(row + j, load(weights + j) * (load(row + j) - mean) * pass.scale);
  }
  product({.m = pass.queries,
           .n = pass.d_k,
           .k = pass.keys,
           .a = scores,
           .a_row = size,
           .a_col = 1,
           .b = pass.k,
           .b_row = pass.k_row,
           .c = gradients.q,
           .c_row = pass.q_row});
  product({.m = pass.keys,
           .n = pass.d_k,
           .k = pass.queries,
           .a = scores,
           .a_row = 1,
           .a_col = size,
           .b = pass.q,
           .b_row = pass.q_row,
           .c = gradients.k,
           .c_row = pass.k_row});
  product({.m = pass.keys,
           .n = pass.d_k,
           .k = pass.queries,
           .a = pass.factors ? pass.dropped : pass.weights,
           .a_row = 1,
           .a_col = size,
           .b = gradients.z,
           .b_row = pass.z_row,
           .c = gradients.v,
           .c_row = pass.v_row});
}

}  // namespace
}  // namespace headlight
