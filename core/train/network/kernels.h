// The inner loops of training, compiled for several kinds of processor; the best one is chosen where the program runs.
// Every sum is taken in one order, whatever the width of the registers: processors that have fused multiply-add give
// the same bits, and those that have none differ in the last place.
#pragma once

#include <cstdint>

#include "math/kernels.h"

namespace headlight {

/// y = unit · scale + shift, where `unit` is x with mean 0 (where `centred`) and variance 1 in each row.
struct NormPass {
  Index rows = 0, d = 0;
  bool centred = true;  // layer norm; else RMS norm
  float epsilon = 1e-5f;
  const float* scale = nullptr;
  const float* shift = nullptr;  // null: none
  float* unit = nullptr;         // (rows, d) kept for the way back
  float* inverse = nullptr;      // (rows) 1 / standard deviation, kept
};

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

/// What the way back needs besides. Gradients of q, k, v lie as they do, and are written, not added to.
struct AttentionGradients {
  const float* z = nullptr;  // rows z_row apart
  float *q = nullptr, *k = nullptr, *v = nullptr;
};

struct AdamWStep {
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float keep = 1;        // 1 − learning rate · decay
  float rate = 0;        // learning rate / (1 − β1^t)
  float correction = 1;  // 1 / sqrt(1 − β2^t)
  float gradient_scale = 1;
};

struct Kernels {
  void (*product)(const Product&);
  void (*transpose)(const float* from, Index rows, Index cols, float* to);
  void (*norm_forward)(const NormPass&, const float* x, float* y);
  /// dx (+)= the gradient of x; the gradients of scale and shift are added to.
  void (*norm_backward)(const NormPass&, const float* dy, float* dx, bool add, float* dscale, float* dshift);
  /// x → its activation; `slope` receives the derivative.
  void (*relu)(float* x, float* slope, Index count);
  void (*gelu)(float* x, float* slope, Index count);
  /// x ← x · factors
  void (*multiply)(float* x, const float* factors, Index count);
  /// x ← x + y · factor
  void (*add)(float* x, const float* y, float factor, Index count);
  void (*attention_forward)(const AttentionPass&);
  void (*attention_backward)(const AttentionPass&, const AttentionGradients&);
  /// scores (n) → the gradient of weight · cross-entropy; returned: the cross-entropy itself, and whether the target
  /// had the largest score.
  double (*cross_entropy)(float* scores, Index n, Index target, float weight, float smoothing, bool& right);
  /// 0 with probability p, else 1 / (1 − p); a function of seed and place.
  void (*dropout_factors)(std::uint64_t seed, float p, float* factors, Index count);
  double (*sum_of_squares)(const float* x, Index count);
  void (*adamw)(const AdamWStep&, const float* gradients, float* first, float* second, float* values, Index count);
};

/// The table for this processor.
const Kernels& kernels();

/// All tables that this processor can run, the plainest first: for tests.
using NamedKernels = NamedTable<Kernels>;
TableChoice<Kernels> runnable_kernels();

}  // namespace headlight
