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
  math.product({.size = {pass.queries, size, pass.d_k},
                .a = {pass.q, pass.q_row},
                .b = {pass.scratch, size},
                .c = {pass.weights, size},
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
  math.product({.size = {pass.queries, pass.d_k, pass.keys},
                .a = {weights, size},
                .b = {pass.v, pass.v_row},
                .c = {pass.z, pass.z_row}});
}

void attention_backward(const AttentionPass& pass, const AttentionGradients& gradients) {
  const MathKernels& math = math_kernels();
  const Index size = pass.weights_row;
  float* const scores = pass.scratch + pass.d_k * size;  // their gradients
  math.transpose(pass.v, pass.v_row, pass.keys, pass.d_k, pass.scratch, size);
  math.product({.size = {pass.queries, size, pass.d_k},
                .a = {gradients.z, pass.z_row},
                .b = {pass.scratch, size},
                .c = {scores, size}});
  if (pass.factors) kernels().multiply(scores, pass.factors, pass.queries * size);
  for (Index i = 0; i < pass.queries; ++i)
    kernels().softmax_backward(pass.weights + i * size, scores + i * size, size, pass.scale);
  if (gradients.scores) kernels().add(scores, gradients.scores, pass.scale, pass.queries * size);
  math.product({.size = {pass.queries, pass.d_k, pass.keys},
                .a = {scores, size},
                .b = {pass.k, pass.k_row},
                .c = {gradients.q, pass.q_row}});
  math.product({.size = {pass.keys, pass.d_k, pass.queries},
                .a = {scores, 1, size},
                .b = {pass.q, pass.q_row},
                .c = {gradients.k, pass.k_row}});
  math.product({.size = {pass.keys, pass.d_k, pass.queries},
                .a = {pass.factors ? pass.dropped : pass.weights, 1, size},
                .b = {gradients.z, pass.z_row},
                .c = {gradients.v, pass.v_row}});
}

}  // namespace headlight
