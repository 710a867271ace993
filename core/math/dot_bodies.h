// Products with weights as they are stored, row by row: every number is a dot product of two rows. Compiled for several
// processors: see lanes.h.
#pragma once

#include "math/kernels.h"
#include "math/lanes.h"

namespace headlight {
namespace {

/// A dot product is summed in stretches of this many numbers, each in sixteen running sums: a few rows of such stretches
/// fit the first cache.
constexpr Index kDotStretch = 512;
/// Rows of X that stay in the first cache, and rows of W that stay in the second, while they meet.
constexpr Index kDotRows = 8, kDotColumns = 128;
/// Dot products that are summed at a time, as many as fit the registers, and the most rows of X that they are of.
constexpr int kDots = kWidth == 16 ? 16 : kWidth == 8 ? 4 : 2;
constexpr int kDotTileRows = kWidth == 16 ? 4 : kWidth == 8 ? 2 : 1;

/// A stretch of some rows of X where cache lines begin, so that no register is read from two of them.
struct DotRows {
  static constexpr Index kApart = kDotStretch + 16;  // not a power of two: those share their place in the cache
  alignas(64) float numbers[kDotRows * kApart];
};

#if defined(__AVX512F__)
/// The sums of sixteen registers, each in the order of fold().
inline Lanes sums_of_sixteen(const Lanes* v) {
  Lanes eight[8], four[4], two[2];
  HEADLIGHT_UNROLL
  for (int i = 0; i < 8; ++i) {
    const Lanes a = v[2 * i], b = v[2 * i + 1];
    eight[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
               __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
  HEADLIGHT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const Lanes a = eight[2 * i], b = eight[2 * i + 1];
    four[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
              __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  HEADLIGHT_UNROLL
  for (int i = 0; i < 2; ++i) {
    const Lanes a = four[2 * i], b = four[2 * i + 1];
    two[i] = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
             __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  }
  const Lanes a = two[0], b = two[1];
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
#endif

/// Dot products of R rows with C rows over one stretch.
template <int R, int C>
inline void dot_tile(const float* const (&x)[R], const float* const (&w)[C], Index count, float* sums) {
  constexpr int kParts = 16 / kWidth;
  Sixteen total[R * C];
  HEADLIGHT_UNROLL
  for (int i = 0; i < R * C; ++i) {
    HEADLIGHT_UNROLL
    for (int part = 0; part < kParts; ++part) total[i].part[part] = Lanes{};
  }
  const auto add = [&](int part, const auto& loaded) {
    Lanes column[C];
    HEADLIGHT_UNROLL
    for (int c = 0; c < C; ++c) column[c] = loaded(w[c]);
    HEADLIGHT_UNROLL
    for (int r = 0; r < R; ++r) {
      const Lanes row = loaded(x[r]);
      HEADLIGHT_UNROLL
      for (int c = 0; c < C; ++c)
        total[r * C + c].part[part] = multiply_add(row, column[c], total[r * C + c].part[part]);
    }
  };
  Index k = 0;
  for (; k + 16 <= count; k += 16) {
    HEADLIGHT_UNROLL
    for (int part = 0; part < kParts; ++part)
      add(part, [at = k + part * kWidth](const float* from) { return load(from + at); });
  }
  HEADLIGHT_UNROLL
  for (int part = 0; part < kParts; ++part) {
    const Index at = k + part * kWidth;
    if (at < count) add(part, [at, left = count - at](const float* from) { return load(from + at, left); });
  }
#if defined(__AVX512F__)
  static_assert(R * C == 16);
  Lanes parts[16];
  HEADLIGHT_UNROLL
  for (int i = 0; i < 16; ++i) parts[i] = total[i].part[0];
  store(sums, sums_of_sixteen(parts));
#else
  HEADLIGHT_UNROLL
  for (int i = 0; i < R * C; ++i) sums[i] = sum(total[i]);
#endif
}

/// One stretch [k, k + count): `rows` rows of X from i on, which lie in `near`, with rows [j, j_end) of W. Rows beyond
/// the last are the last once more, and are not kept.
template <int R>
inline void dot_rows(const DotProducts& p, const DotRows& near, Index k, Index count, Index i, Index rows, Index j,
                     Index j_end) {
  constexpr int C = kDots / R;
  for (; j < j_end; j += C) {
    const float* w[C];
    const Index columns = j_end - j < C ? j_end - j : C;
    HEADLIGHT_UNROLL
    for (int c = 0; c < C; ++c) w[c] = p.w + (c < columns ? j + c : j_end - 1) * p.w_row + k;
    for (Index row = 0; row < rows; row += R) {
      const float* x[R];
      HEADLIGHT_UNROLL
      for (int r = 0; r < R; ++r) x[r] = near.numbers + (row + r < rows ? row + r : rows - 1) * DotRows::kApart;
      float sums[kDots];
      dot_tile<R, C>(x, w, count, sums);
      for (Index r = 0; r < R && row + r < rows; ++r) {
        float* c = p.c + (i + row + r) * p.c_row + j;
        for (Index at = 0; at < columns; ++at) {
          float result = sums[r * C + at];
          if (k > 0) result += c[at];
          if (p.bias && k + count == p.k) result += p.bias[j + at];
          c[at] = result;
        }
      }
    }
  }
}

template <int R>
inline void dot_block(const DotProducts& p, const DotRows& near, Index k, Index count, Index i, Index rows, Index j,
                      Index j_end) {
  if constexpr (R > 1)
    if (rows <= R / 2) return dot_block<R / 2>(p, near, k, count, i, rows, j, j_end);
  dot_rows<R>(p, near, k, count, i, rows, j, j_end);
}

inline void dot_products(const DotProducts& p) {
  DotRows near;
  for (Index j = 0; j < p.n; j += kDotColumns) {
    const Index j_end = j + kDotColumns < p.n ? j + kDotColumns : p.n;
    for (Index k = 0; k < p.k; k += kDotStretch) {
      const Index count = p.k - k < kDotStretch ? p.k - k : kDotStretch;
      for (Index i = 0; i < p.m; i += kDotRows) {
        const Index rows = p.m - i < kDotRows ? p.m - i : kDotRows;
        for (Index r = 0; r < rows; ++r)
          for (Index at = 0; at < count; at += kWidth)
            store(near.numbers + r * DotRows::kApart + at, load(p.x + (i + r) * p.x_row + k + at, count - at));
        dot_block<kDotTileRows>(p, near, k, count, i, rows, j, j_end);
      }
    }
  }
}

}  // namespace
}  // namespace headlight
