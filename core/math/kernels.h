// The inner loops of the engine, compiled for several kinds of processor; the best one is chosen where the program runs.
// Every number of a result is one sum in one order, whatever the width of the registers and however many rows are asked
// for with it: processors that have fused multiply-add give the same bits, those that have none differ in the last place,
// and a row alone is the row among others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/index.h"

namespace headlight {

/// C (m, n) = A·B, plus C where `add`, plus `bias` (n) in each row where there is one; all that times `scale`.
/// A is read as a[i·a_row + p·a_col], so that either way round costs nothing; B and C are row-major.
struct Product {
  Index m = 0, n = 0, k = 0;
  const float* a = nullptr;
  Index a_row = 0, a_col = 0;
  const float* b = nullptr;
  const std::uint16_t* b_half = nullptr;  // in place of `b`: the upper halves of its numbers (bfloat16); n is 64 then
  Index b_row = 0;
  float* c = nullptr;
  Index c_row = 0;
  const float* bias = nullptr;
  bool add = false;
  float scale = 1;
  const void* ahead = nullptr;  // what is read next, as long as B: fetched meanwhile; null: nothing is
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
  /// Scores → weights in place; see softmax_rows. Zeros at the end of a row's exponentials change no bit of its sum.
  void (*softmax)(float* row, Index count, float& largest, float& sum);
  /// e^x in place for x ≤ 0, to about one unit in the last place: what softmax has. Exactly 0 below −87 (and for −inf),
  /// NaN for NaN.
  void (*exponential)(float* x, Index count);
  void (*norm)(const RowNorm&, const float* x, float* y);
  void (*relu)(float* x, Index count);
  void (*gelu)(float* x, Index count);
  void (*gelu_tanh)(float* x, Index count);
  void (*silu)(float* x, Index count);
  /// The same values, and their derivatives in `slope`: for training.
  void (*relu_with_slope)(float* x, float* slope, Index count);
  void (*gelu_with_slope)(float* x, float* slope, Index count);
  /// The largest of them; one that is not a number is not larger than any. −inf for none.
  float (*largest)(const float* x, Index count);
  /// into ← the larger of into and x
  void (*larger)(float* into, const float* x, Index count);
  /// Whether all are numbers and none is infinite.
  bool (*finite)(const float* x, Index count);
};

/// The table for this processor.
const MathKernels& math_kernels();

/// Whether this processor runs what was compiled for AVX2 with FMA, or for AVX-512.
bool runs_avx2();
bool runs_avx512();

/// All tables of a kind that this processor can run, the plainest first: for tests.
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
/// Of one source compiled for three kinds of processor those that this one runs; null where there is no such.
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
