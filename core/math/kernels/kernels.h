// The inner loops of math/reference.h (products, softmax, norms, activations), compiled for several kinds of processor;
// the best is chosen at run time. Every number of a result is one sum in a fixed order, whatever the register width and
// the number of rows: all processors with fused multiply-add give the same bits, those without it differ in the last
// digit, and a row computed alone equals the same row computed with others.
#pragma once

#include <cstdint>

#include "base/index.h"

namespace headlight {

/// A matrix in memory: at[i·row + j·col].
template <class Number>
struct Strided {
  Number* at = nullptr;
  Index row = 0, col = 1;
};

/// C (m, n) = A·B, plus C where `add`, plus `bias` (n) in each row where there is one; all that times `scale`.
/// A has any strides, so that Aᵀ needs no copy; B and C are row-major.
struct Product {
  struct {
    Index m = 0, n = 0, k = 0;
  } size;
  Strided<const float> a, b;
  const std::uint16_t* b_half = nullptr;  // instead of `b`: the upper 16 bits of its numbers (bfloat16); n is 64 then
  Strided<float> c;
  const float* bias = nullptr;
  bool add = false;
  float scale = 1;
  const void* ahead = nullptr;  // the memory that is read next, as long as B: prefetched meanwhile; null: nothing
};

/// A row with mean 0 (where `centred`) and variance 1, scaled and shifted.
struct RowNorm {
  Index d = 0;
  bool centred = true;  // layer norm; else RMS norm
  float epsilon = 1e-5f;
  const float* scale = nullptr;
  const float* shift = nullptr;  // null: none
  float* unit = nullptr;         // (d) receives the row before scale and shift; null: not wanted
  float* inverse = nullptr;      // receives 1 / standard deviation; null: not wanted
};

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

struct MathKernels {
  void (*product)(const Product&);
  /// (rows, cols), rows from_row apart → (cols, to_cols), zeros in the columns from `rows` to `to_cols`.
  void (*transpose)(const float* from, Index from_row, Index rows, Index cols, float* to, Index to_cols);
  /// bfloat16 → float32, which is exact
  void (*widen)(const std::uint16_t* halves, Index count, float* to);
  /// Scores → weights in the same memory; see softmax_rows. Trailing zeros among the exponentials change no bit of the
  /// sum.
  void (*softmax)(float* row, Index count, float& largest, float& sum);
  /// x ← e^x for x ≤ 0, to about one unit in the last digit: the exponential of softmax. Exactly 0 below −87 (and for
  /// −inf), NaN for NaN.
  void (*exponential)(float* x, Index count);
  void (*norm)(const RowNorm&, const float* x, float* y);
  void (*relu)(float* x, Index count);
  void (*gelu)(float* x, Index count);
  void (*gelu_tanh)(float* x, Index count);
  void (*silu)(float* x, Index count);
  void (*quick_gelu)(float* x, Index count);
  /// The same values, and their derivatives in `slope`: for training.
  void (*relu_with_slope)(float* x, float* slope, Index count);
  void (*gelu_with_slope)(float* x, float* slope, Index count);
  /// The largest number; NaNs are ignored. −inf where there is none.
  float (*largest)(const float* x, Index count);
  /// into ← the larger of into and x
  void (*larger)(float* into, const float* x, Index count);
  /// Whether all numbers are finite.
  bool (*finite)(const float* x, Index count);

  // Of training alone.
  /// dx (+)= the gradient of x; the gradients of scale and shift accumulate.
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
  /// 0 with probability p, else 1 / (1 − p); a function of seed and index.
  void (*dropout_factors)(std::uint64_t seed, float p, float* factors, Index count);
  double (*sum_of_squares)(const float* x, Index count);
  void (*adamw)(const AdamWStep&, const float* gradients, float* first, float* second, float* values, Index count);
};

/// The table for this processor.
const MathKernels& math_kernels();

/// Whether this processor has AVX2 with FMA, or AVX-512.
bool runs_avx2();
bool runs_avx512();

/// The tables that this processor can run, the one for the oldest processors first: for tests.
struct NamedMathKernels {
  const char* name;
  const MathKernels* table;
};
struct RunnableMathKernels {
  NamedMathKernels tables[3];
  int count = 0;
};
RunnableMathKernels runnable_math_kernels();

}  // namespace headlight
