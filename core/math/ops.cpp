#include "math/ops.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <vector>

#include "math/kernels/kernels.h"
#include "math/stored_weight.h"

namespace headlight {
namespace {

/// A product with fewer multiplications runs on one thread.
constexpr Index kWorthThreads = 1 << 19;
/// Inputs of a panel per product.
constexpr Index kStretch = kMostInputs;
/// Rows of x per product, about: with the panels of this product and the next they stay in an L2 cache of 1 MiB. More
/// would be read from the L3 cache for each panel; with fewer the weights would come from memory more often. Weights
/// that are transposed for each product are so for more rows.
constexpr Index kRows = 132, kRowsOfTransposed = 264, kTileRows = 6;  // whole tiles of the kernels
/// Up to so many rows, bfloat16 weights are widened inside the product; for more, a stretch is widened once before it.
constexpr Index kFewRows = 24;
constexpr Index kWeightPanel = PanelMatrix::kPanel;
/// Numbers per part of an elementwise operation.
constexpr Index kNumbersOfPart = 1 << 14;

/// The inputs [k, k + count) of a panel of outputs: (count, kWeightPanel).
struct PanelStretch {
  Index panel = 0, k = 0, count = 0;
};

/// Blocks of equal size, of about `most` rows.
Index rows_of_block(Index rows, Index most) {
  const Index blocks = std::max<Index>(1, (rows + most / 2) / most), each = (rows + blocks - 1) / blocks;
  return std::max<Index>(1, (each + kTileRows - 1) / kTileRows) * kTileRows;
}

/// The memory of the next stretch, to be prefetched; null where there is none, or where it may be shorter.
const void* after(const PanelMatrix& panels, const PanelStretch& at) {
  const bool ends = at.k + at.count == panels.cols;
  const Index panel = ends ? at.panel + 1 : at.panel, k = ends ? 0 : at.k + at.count;
  const bool there = panel * kWeightPanel < panels.rows && k + at.count <= panels.cols;
  if (!there) return nullptr;
  const Index begin = panels.panel(panel) + k * kWeightPanel;
  return panels.halves ? static_cast<const void*>(panels.halves.get() + begin) : panels.numbers.get() + begin;
}

/// x·Wᵀ + b, panel by panel of outputs: transposed(stretch, space) returns the numbers of one stretch, (count, a
/// panel), written to `space` or where they already are. Each number of y is one sum in the order of the inputs.
template <class Transposed>
Matrix product(const ConstMatrixRef& x, Index outputs, const Vector& bias, const Threads& threads,
               const Transposed& transposed, const PanelMatrix* packed = nullptr) {
  Matrix y(x.rows(), outputs);
  const bool alone = x.rows() * x.cols() * outputs < kWorthThreads;
  const Index rows = rows_of_block(x.rows(), packed ? kRows : kRowsOfTransposed);
  const Index panels = (outputs + kWeightPanel - 1) / kWeightPanel, blocks = (x.rows() + rows - 1) / rows;
  const Index stretches = std::max<Index>(1, (x.cols() + kStretch - 1) / kStretch);
  const Index length = (x.cols() + stretches - 1) / stretches;
  parallel_for(panels * blocks, alone ? Threads{1, threads.stop} : threads, [&](Index part) {
    const Index panel = part % panels, first = panel * kWeightPanel, row = part / panels * rows;
    Product product{.size = {std::min(rows, x.rows() - row), std::min(kWeightPanel, outputs - first)},
                    .a = {.row = x.outerStride()},
                    .b = {.row = kWeightPanel},
                    .c = {&y(row, first), y.outerStride()},
                    .bias = bias.size() > 0 ? bias.data() + first : nullptr};
    alignas(64) float space[kWeightPanel * kStretch];
    for (Index k = 0; k < x.cols(); k += length) {
      product.size.k = std::min(length, x.cols() - k);
      product.a.at = x.data() + row * x.outerStride() + k;
      const PanelStretch stretch{panel, k, product.size.k};
      product.ahead = packed ? after(*packed, stretch) : nullptr;
      product.b_half = packed && x.rows() <= kFewRows && product.size.n == kWeightPanel && packed->halves
                           ? packed->halves.get() + packed->panel(panel) + k * kWeightPanel
                           : nullptr;
      product.b.at = product.b_half ? nullptr : transposed(stretch, space);
      math_kernels().product(product);
      product.add = true;
      product.bias = nullptr;
    }
  });
  return y;
}

/// Calls each(t) for every row of x, several rows a thread.
template <class Each>
void for_rows(const ConstMatrixRef& x, const Threads& threads, const Each& each) {
  const Index rows = std::max<Index>(1, kNumbersOfPart / std::max<Index>(x.cols(), 1));
  parallel_for((x.rows() + rows - 1) / rows, threads, [&](Index part) {
    for (Index t = part * rows; t < std::min(x.rows(), (part + 1) * rows); ++t) each(t);
  });
}

/// Transposes part of a row-major weight into a panel.
void transpose(const ConstMatrixRef& rows, float* to) {
  math_kernels().transpose(rows.data(), rows.outerStride(), rows.rows(), rows.cols(), to, kWeightPanel);
}

}  // namespace

Matrix linear(const ConstMatrixRef& x, const Linear& weights, const Threads& threads) {
  assert(!weights.panels || weights.weight.size() == 0);
  const auto used = weights.stored ? panels_of_used(*weights.stored, threads) : nullptr;
  if (used || weights.panels) {
    const PanelMatrix& panels = used ? *used : *weights.panels;
    return product(
        x, panels.rows, weights.bias, threads,
        [&](const PanelStretch& at, float* space) -> const float* {
          const Index begin = panels.panel(at.panel) + at.k * kWeightPanel;
          if (panels.numbers) return panels.numbers.get() + begin;
          math_kernels().widen(panels.halves.get() + begin, at.count * kWeightPanel, space);
          return space;
        },
        &panels);
  }
  if (weights.stored)
    return product(x, weights.stored->rows, weights.bias, threads, [&](const PanelStretch& at, float* space) {
      transpose_stored(*weights.stored, at.panel, at.k, at.count, space);
      return space;
    });
  if (const Matrix& weight = weights.weight; weight.size() > 0)
    return product(x, weight.rows(), weights.bias, threads, [&](const PanelStretch& at, float* space) {
      const Index first = at.panel * kWeightPanel;
      transpose(weight.block(first, at.k, std::min(kWeightPanel, weight.rows() - first), at.count), space);
      return space;
    });
  Matrix y = x;
  if (weights.bias.size() > 0) y.rowwise() += weights.bias;
  return y;
}

Matrix norm(const ConstMatrixRef& x, const NormWeights& weights, const Threads& threads) {
  return norm_heads(x, weights, 1, threads);
}

Matrix norm_heads(const ConstMatrixRef& x, const NormWeights& weights, Index heads, const Threads& threads) {
  Matrix y(x.rows(), x.cols());
  const RowNorm own{.d = x.cols() / heads,
                    .centred = weights.kind == NormKind::layer_norm,
                    .epsilon = weights.epsilon,
                    .scale = weights.scale.data(),
                    .shift = weights.shift.size() > 0 ? weights.shift.data() : nullptr};
  for_rows(x, threads, [&](Index t) {
    for (Index head = 0; head < heads; ++head)
      math_kernels().norm(own, x.data() + t * x.outerStride() + head * own.d, &y(t, head * own.d));
  });
  return y;
}

float activate(float x, Activation activation) {
  Matrix one = Matrix::Constant(1, 1, x);
  activate(one, activation);
  return one(0, 0);
}

void activate(MatrixRef x, Activation activation, const Threads& threads) {
  const MathKernels& kernels = math_kernels();
  const auto function = activation == Activation::relu        ? kernels.relu
                        : activation == Activation::gelu      ? kernels.gelu
                        : activation == Activation::gelu_tanh ? kernels.gelu_tanh
                        : activation == Activation::silu      ? kernels.silu
                                                              : kernels.quick_gelu;
  for_rows(x, threads, [&](Index t) { function(x.data() + t * x.outerStride(), x.cols()); });
}

bool all_finite(const Matrix& x, const Threads& threads) {
  std::atomic<bool> finite = true;
  parallel_for((x.size() + kNumbersOfPart - 1) / kNumbersOfPart, threads, [&](Index part) {
    const Index begin = part * kNumbersOfPart;
    if (!math_kernels().finite(x.data() + begin, std::min(kNumbersOfPart, x.size() - begin))) finite = false;
  });
  return finite;
}

void pool_into(const ConstMatrixRef& rows, Index first, Index pattern_rows, Index pattern_columns, Matrix& picture) {
  const Index given = rows.cols();
  if (pattern_rows == picture.rows() && pattern_columns == picture.cols()) {
    picture.block(first, 0, rows.rows(), given) = rows;
    return;
  }
  Vector peak(given);         // the maximum of the rows that form one row of the picture
  std::vector<Index> begins;  // the first of the columns that form one column of the picture
  for (Index j = 0; j <= picture.cols() && pattern_columns != picture.cols(); ++j)
    begins.push_back(std::min(given, j * pattern_columns / picture.cols()));
  for (Index r = 0; r < rows.rows();) {
    const auto target_of = [&](Index row) { return ((first + row + 1) * picture.rows() - 1) / pattern_rows; };
    const Index target = target_of(r);
    peak = rows.row(r++);
    for (; r < rows.rows() && target_of(r) == target; ++r)
      math_kernels().larger(peak.data(), rows.data() + r * rows.outerStride(), given);
    if (pattern_columns == picture.cols()) {
      math_kernels().larger(&picture(target, 0), peak.data(), given);
      continue;
    }
    for (std::size_t j = 0; j + 1 < begins.size(); ++j) {
      float& largest = picture(target, static_cast<Index>(j));
      for (Index column = begins[j]; column < begins[j + 1]; ++column) largest = std::max(largest, peak(column));
    }
  }
}

Matrix farther_from_zero(const Matrix& largest, const Matrix& below) {
  return (below.array() > largest.array()).select(-below, largest);
}

}  // namespace headlight
