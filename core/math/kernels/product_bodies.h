// C = A·B for matrices that fit the caches: linear(), dot_products() and weighted_sums() of math/reference.h. A tile of
// C stays in registers while A and B stream by. Compiled for several kinds of processor: see lanes.h.
#pragma once

#include "math/kernels/kernels.h"
#include "math/kernels/lanes.h"

namespace headlight {
namespace {

constexpr Index kLine = 64;  // bytes of a cache line

#if defined(HEADLIGHT_SMALL_TILES)
/// Sanitized, each tile takes long to compile. A number of C is the same sum in a tile of any size.
constexpr int kTileLanes = 2;
template <int L>
constexpr int kTileRows = L == 2 ? 2 : 3;
#else
/// The largest tile of C that stays in registers, for L registers a row.
constexpr int kTileLanes = kWidth == 16 ? 4 : 2;
template <int L>
constexpr int kTileRows = kWidth == 16 ? (L == 4   ? 6
                                          : L == 3 ? 8
                                                   : 12)
                                       : (L == 2 ? 6 : 10);
#endif

/// Registers per row where B is bfloat16 and A has more rows than a tile: narrow tiles have more rows, so each number
/// is widened for more of them at once.
constexpr int kHalfLanes = kWidth == 16 ? 2 : kTileLanes;

template <class Number>
inline const Number* numbers_of(const Product& p) {
  if constexpr (sizeof(Number) == sizeof(float)) return p.b.at;
  else return p.b_half;
}

/// Rows [i, i + R), L registers from column j on, of which the last holds `last` numbers. Each number of C is one sum
/// in the order of k. With each k, kLines cache lines from `ahead` on are prefetched; where kLines is below 0, one line
/// for every −kLines k.
template <int R, int L, bool kWhole, int kLines = 0, class Number = float>
inline void tile(const Product& p, Index i, Index j, Index last, const char* ahead = nullptr) {
  Lanes c[R][L];
  const auto width = [&](int l) { return kWhole || l + 1 < L ? Index{kWidth} : last; };
  HEADLIGHT_UNROLL
  for (int r = 0; r < R; ++r) {
    HEADLIGHT_UNROLL
    for (int l = 0; l < L; ++l) { c[r][l] = Lanes{}; }
  }
  constexpr int kEvery = kLines < 0 ? -kLines : 1, kTogether = kLines < 0 ? 1 : kLines;
  // Three rows of A are reached from one pointer by the stride and its double: no address waits in memory.
  constexpr int kOfPointer = 3, kPointers = (R + kOfPointer - 1) / kOfPointer;
  const float* a[kPointers];
  HEADLIGHT_UNROLL
  for (int of = 0; of < kPointers; ++of) a[of] = p.a.at + (i + of * kOfPointer) * p.a.row;
  const Number* b = numbers_of<Number>(p) + j;
  const auto multiply = [&]() __attribute__((always_inline)) {  // one step of k
    Lanes row[L];
    HEADLIGHT_UNROLL
    for (int l = 0; l < L; ++l) row[l] = load(b + l * kWidth, width(l));
    HEADLIGHT_UNROLL
    for (int r = 0; r < R; ++r) {
      const Lanes x = all(a[r / kOfPointer][r % kOfPointer * p.a.row]);
      HEADLIGHT_UNROLL
      for (int l = 0; l < L; ++l) c[r][l] = multiply_add(x, row[l], c[r][l]);
    }
    HEADLIGHT_UNROLL
    for (int of = 0; of < kPointers; ++of) a[of] += p.a.col;
    b += p.b.row;
  };
  Index k = 0;
  for (; k + kEvery <= p.size.k; k += kEvery) {
    HEADLIGHT_UNROLL
    for (int line = 0; line < kTogether; ++line) __builtin_prefetch(ahead + line * kLine, 0, 2);
    ahead += kTogether * kLine;
    HEADLIGHT_UNROLL
    for (int times = 0; times < kEvery; ++times) multiply();
  }
  for (; k < p.size.k; ++k) multiply();
  // Copied first: a number that is stored might be one of `p`.
  float* const to = p.c.at + i * p.c.row + j;
  const Index to_row = p.c.row;
  const float scale = p.scale;
  const auto each = [&](const auto& visit) __attribute__((always_inline)) {
    HEADLIGHT_UNROLL
    for (int r = 0; r < R; ++r) {
      HEADLIGHT_UNROLL
      for (int l = 0; l < L; ++l) visit(c[r][l], to + r * to_row + l * kWidth, l);
    }
  };
  if (const float* bias = p.bias) each([&](Lanes& x, float*, int l) { x += load(bias + j + l * kWidth, width(l)); });
  if (p.add) each([&](Lanes& x, const float* at, int l) { x += load(at, width(l)); });
  each([&](const Lanes& x, float* at, int l) { store(at, x * scale, width(l)); });
}

/// R rows from i on, or the rows that are left.
template <int R, int L, bool kWhole, int kLines = 0, class Number = float>
inline void rows(const Product& p, Index i, Index j, Index last, const char* ahead = nullptr) {
  if (p.size.m - i >= R) tile<R, L, kWhole, kLines, Number>(p, i, j, last, ahead);
  else if constexpr (R > 1) rows<R - 1, L, kWhole, kLines, Number>(p, i, j, last, ahead);
}

template <int L, bool kWhole>
inline void columns(const Product& p, Index j, Index last) {
  constexpr int kRows = kTileRows<L>;
  for (Index i = 0; i < p.size.m; i += kRows) rows<kRows, L, kWhole>(p, i, j, last);
}

template <int L>
inline void columns(const Product& p, Index j, Index lanes, Index last) {
  if (lanes == L) last == kWidth ? columns<L, true>(p, j, last) : columns<L, false>(p, j, last);
  else if constexpr (L > 1) columns<L - 1>(p, j, lanes, last);
}

/// Prefetches the next B while this one is multiplied. Each pass through B prefetches its share, kLines with each k
/// (see tile), until all of it is requested.
template <int L, int kLines, class Number>
inline void product_beside(const Product& p) {
  constexpr int kRows = kTileRows<L>;
  const Index share = kLine * (kLines > 0 ? kLines * p.size.k : p.size.k / -kLines);  // bytes
  const char* ahead = static_cast<const char*>(p.ahead);
  Index left = ahead ? p.size.n * p.size.k * static_cast<Index>(sizeof(Number)) : 0;
  for (Index j = 0; j < p.size.n; j += L * kWidth)
    for (Index i = 0; i < p.size.m; i += kRows) {
      if (left <= 0) {
        rows<kRows, L, true, 0, Number>(p, i, j, kWidth);
        continue;
      }
      rows<kRows, L, true, kLines, Number>(p, i, j, kWidth, ahead);
      ahead += share;
      left -= share;
    }
}

/// As few prefetches in flight as possible: line-fill buffers are limited, and more requests stall the product.
template <int L, class Number>
inline void product_beside(const Product& p) {
  const Index passes = p.size.n / (L * kWidth) * ((p.size.m + kTileRows<L> - 1) / kTileRows<L>);
  const Index lines = p.size.n * static_cast<Index>(sizeof(Number)) / kLine;  // with each k, were there a single pass
  if (passes >= 8 * lines) product_beside<L, -8, Number>(p);
  else if (passes >= 4 * lines) product_beside<L, -4, Number>(p);
  else if (passes >= 2 * lines) product_beside<L, -2, Number>(p);
  else if (passes >= lines) product_beside<L, 1, Number>(p);
  else if (2 * passes >= lines) product_beside<L, 2, Number>(p);
  else product_beside<L, 4, Number>(p);
}

inline void product_beside_halves(const Product& p) {
  if (p.size.m > kTileRows<kTileLanes>) product_beside<kHalfLanes, std::uint16_t>(p);
  else product_beside<kTileLanes, std::uint16_t>(p);
}

inline void product(const Product& p) {
  if (p.b_half) return product_beside_halves(p);
  if (p.ahead && p.size.n % (kTileLanes * kWidth) == 0) return product_beside<kTileLanes, float>(p);
  Index left = (p.size.n + kWidth - 1) / kWidth;  // registers a row
  for (Index j = 0; left > 0;) {
    const Index lanes = left == kTileLanes + 1 ? (left + 1) / 2 : left < kTileLanes ? left : kTileLanes;
    left -= lanes;
    columns<kTileLanes>(p, j, lanes, left > 0 ? kWidth : p.size.n - j - (lanes - 1) * kWidth);
    j += lanes * kWidth;
  }
}

#if defined(__AVX512F__)
#define HEADLIGHT_EACH_LANE(F) \
  F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#elif defined(__AVX2__) && defined(__FMA__)
#define HEADLIGHT_EACH_LANE(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#else
#define HEADLIGHT_EACH_LANE(F) F(0), F(1), F(2), F(3)
#endif
#define HEADLIGHT_FROM_BELOW(J) ((J)&kStep) != 0 ? kWidth + (J)-kStep : (J)
#define HEADLIGHT_FROM_ABOVE(J) ((J)&kStep) != 0 ? kWidth + (J) : (J) + kStep

/// One round of a transposition: rows i and i + kStep exchange the numbers whose row and column differ in that bit.
template <int kStep>
inline void exchange(Lanes* row) {
  HEADLIGHT_UNROLL
  for (int i = 0; i < kWidth; ++i) {
    if ((i & kStep) != 0) continue;
    const Lanes upper = row[i], lower = row[i + kStep];
    row[i] = __builtin_shufflevector(upper, lower, HEADLIGHT_EACH_LANE(HEADLIGHT_FROM_BELOW));
    row[i + kStep] = __builtin_shufflevector(upper, lower, HEADLIGHT_EACH_LANE(HEADLIGHT_FROM_ABOVE));
  }
}

#undef HEADLIGHT_EACH_LANE
#undef HEADLIGHT_FROM_BELOW
#undef HEADLIGHT_FROM_ABOVE

/// (rows, cols), at most a register each way, → (cols, kWidth), zeros in the columns beyond `rows`.
inline void transpose_block(const float* from, Index from_row, Index rows, Index cols, float* to, Index to_row,
                            Index to_cols) {
  Lanes row[kWidth];
  HEADLIGHT_UNROLL
  for (int i = 0; i < kWidth; ++i) row[i] = i < rows ? load(from + i * from_row, cols) : Lanes{};
  exchange<1>(row);
  exchange<2>(row);
  if constexpr (kWidth >= 8) exchange<4>(row);
  if constexpr (kWidth >= 16) exchange<8>(row);
  HEADLIGHT_UNROLL
  for (int i = 0; i < kWidth; ++i)
    if (i < cols) store(to + i * to_row, row[i], to_cols);
}

/// (rows, cols) → (cols, to_cols), zeros in the columns from `rows` to `to_cols`.
inline void transpose(const float* from, Index from_row, Index rows, Index cols, float* to, Index to_cols) {
  for (Index i = 0; i < to_cols; i += kWidth)
    for (Index j = 0; j < cols; j += kWidth)
      transpose_block(from + i * from_row + j, from_row, rows - i, cols - j, to + j * to_cols + i, to_cols,
                      to_cols - i);
}

inline void widen(const std::uint16_t* halves, Index count, float* to) {
  Index i = 0;
  for (; i + kWidth <= count; i += kWidth) store(to + i, load(halves + i, kWidth));
  for (; i < count; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(halves[i]) << 16;
    __builtin_memcpy(to + i, &bits, sizeof bits);
  }
}

}  // namespace
}  // namespace headlight
