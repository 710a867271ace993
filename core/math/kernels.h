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
  /// The same values, and their derivatives in `slope`: for training.
  void (*relu_with_slope)(float* x, float* slope, Index count);
  void (*gelu_with_slope)(float* x, float* slope, Index count);
  /// The largest number; NaNs are ignored. −inf where there is none.
  float (*largest)(const float* x, Index count);
  /// into ← the larger of into and x
  void (*larger)(float* into, const float* x, Index count);
  /// Whether all numbers are finite.
  bool (*finite)(const float* x, Index count);
};

/// The table for this processor.
const MathKernels& math_kernels();

/// Whether this processor has AVX2 with FMA, or AVX-512.
bool runs_avx2();
bool runs_avx512();

/// All tables of a kind that this processor can run, the one for the oldest processors first: for tests.
template <class Table>
struct NamedTable {
  const char* name;
  const Table* table;
};
template <class Table>
struct TableChoice {
  NamedTable<Table> tables[3];
  int count = 0;

  const Table& best() const { return *tables[count - 1].table; }
};
/// The tables that this processor can run, of one source compiled for three kinds; null where a kind was not compiled.
template <class Table>
TableChoice<Table> runnable(const Table* baseline, const Table* avx2, const Table* avx512) {
  TableChoice<Table> choice;
  choice.tables[choice.count++] = {"baseline", baseline};
  if (avx2 && runs_avx2()) choice.tables[choice.count++] = {"avx2", avx2};
  if (avx512 && runs_avx512()) choice.tables[choice.count++] = {"avx512", avx512};
  return choice;
}
using NamedMathKernels = NamedTable<MathKernels>;
TableChoice<MathKernels> runnable_math_kernels();

}  // namespace headlight
