#include "train/network/attention_pass.h"

#include <algorithm>

#include "math/kernels.h"
#include "train/network/kernels.h"

namespace headlight {
namespace {

Index seen_keys(const AttentionPass& pass, Index query) {
  return pass.causal && query + 1 < pass.keys ? query + 1 : pass.keys;
}

}  // namespace

void attention_forward(const AttentionPass& pass) {
  const MathKernels& math = math_kernels();
  const Index size = pass.weights_row;
  math.transpose(pass.k, pass.k_row, pass.keys, pass.d_k, pass.scratch, size);
  math.product({.m = pass.queries,
                .n = size,
                .k = pass.d_k,
                .a = pass.q,
                .a_row = pass.q_row,
                .a_col = 1,
                .b = pass.scratch,
                .b_row = size,
                .c = pass.weights,
                .c_row = size,
                .scale = pass.scale});
  for (Index i = 0; i < pass.queries; ++i) {
    float* row = pass.weights + i * size;
    const Index seen = seen_keys(pass, i);
    float largest, sum;
    math.softmax(row, seen, largest, sum);
    std::fill(row + seen, row + size, 0.0f);
  }
  const float* weights = pass.weights;
  if (pass.factors) {
    std::copy(pass.weights, pass.weights + pass.queries * size, pass.dropped);
    kernels().multiply(pass.dropped, pass.factors, pass.queries * size);
    weights = pass.dropped;
  }
  math.product({.m = pass.queries,
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

void attention_backward(const AttentionPass& pass, const AttentionGradients& gradients) {
  const MathKernels& math = math_kernels();
  const Index size = pass.weights_row;
  float* const scores = pass.scratch + pass.d_k * size;  // their gradients
  math.transpose(pass.v, pass.v_row, pass.keys, pass.d_k, pass.scratch, size);
  math.product({.m = pass.queries,
                .n = size,
                .k = pass.d_k,
                .a = gradients.z,
                .a_row = pass.z_row,
                .a_col = 1,
                .b = pass.scratch,
                .b_row = size,
                .c = scores,
                .c_row = size});
  if (pass.factors) kernels().multiply(scores, pass.factors, pass.queries * size);
  for (Index i = 0; i < pass.queries; ++i)
    kernels().softmax_backward(pass.weights + i * size, scores + i * size, size, pass.scale);
  if (gradients.scores) kernels().add(scores, gradients.scores, pass.scale, pass.queries * size);
  math.product({.m = pass.queries,
                .n = pass.d_k,
                .k = pass.keys,
                .a = scores,
                .a_row = size,
                .a_col = 1,
                .b = pass.k,
                .b_row = pass.k_row,
                .c = gradients.q,
                .c_row = pass.q_row});
  math.product({.m = pass.keys,
                .n = pass.d_k,
                .k = pass.queries,
                .a = scores,
                .a_row = 1,
                .a_col = size,
                .b = pass.q,
                .b_row = pass.q_row,
                .c = gradients.k,
                .c_row = pass.k_row});
  math.product({.m = pass.keys,
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

}  // namespace headlight
