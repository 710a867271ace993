// Attention of one head over one sentence, forward and backward (Vaswani et al. 2017, equation 1).
#pragma once

#include "base/index.h"

namespace headlight {

/// One head of one sentence. Rows of queries, keys and values lie `q_row`, `k_row`, `v_row` apart.
struct AttentionPass {
  Index queries = 0, keys = 0, d_k = 0;
  Index weights_row = 0;  // keys, rounded up to a multiple of kWeightsMultiple
  float scale = 1;
  bool causal = false;  // query i sees keys 0 … i
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  Index q_row = 0, k_row = 0, v_row = 0;
  float* weights = nullptr;        // (queries, weights_row) kept; 0 beyond what is seen
  const float* factors = nullptr;  // of dropout, as weights; null: none
  float* dropped = nullptr;        // weights · factors, kept; the weights themselves where there are no factors
  float* z = nullptr;
  Index z_row = 0;
  float* scratch = nullptr;  // (d_k + queries) · weights_row
};
inline constexpr Index kWeightsMultiple = 16;

/// Further inputs of the backward pass. Gradients of q, k, v lie as they do, and are written, not added to.
struct AttentionGradients {
  const float* z = nullptr;  // rows z_row apart
  /// (queries, weights_row) What else is known of the gradients of the scaled scores; null: nothing.
  const float* scores = nullptr;
  float *q = nullptr, *k = nullptr, *v = nullptr;
};

/// weights = softmax(q·kᵀ·scale), z = weights·v
void attention_forward(const AttentionPass& pass);
void attention_backward(const AttentionPass& pass, const AttentionGradients& gradients);

}  // namespace headlight
