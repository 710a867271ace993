// The inner loops that training has beside those of math/kernels.h, compiled for several kinds of processor; the best
// one is chosen where the program runs. Every sum is taken in one order, whatever the width of the registers:
// processors that have fused multiply-add give the same bits, and those that have none differ in the last place.
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

struct AdamWStep {
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float keep = 1;        // 1 − learning rate · decay
  float rate = 0;        // learning rate / (1 − β1^t)
  float correction = 1;  // 1 / sqrt(1 − β2^t)
  float gradient_scale = 1;
};

struct Kernels {
  /// dx (+)= the gradient of x; the gradients of scale and shift are added to.
  void (*norm_backward)(const NormPass&, const float* dy, float* dx, bool add, float* dscale, float* dshift);
  /// x ← x · factors
  void (*multiply)(float* x, const float* factors, Index count);
  /// x ← x + y · factor
  void (*add)(float* x, const float* y, float factor, Index count);
  /// row (size): the gradients of a row of attention weights → those of the scores before `scale`.
  void (*softmax_backward)(const float* weights, float* row, Index size, float scale);
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
