#include "figure/drawing/pooled_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headlight {
namespace {

struct CellRange {
  Index begin = 0, end = 0;
};

/// The cells of each pixel, or of each cell itself where none share one.
std::vector<CellRange> covered(const PixelSpan& on, Index cells) {
  std::vector<CellRange> all;
  if (on.begin == on.end || !is_crowded(on, cells)) {
    for (Index i = 0; i < cells; ++i) all.push_back({i, i + 1});
    return all;
  }
  const double begin = static_cast<double>(on.begin);
  const double reach = static_cast<double>(cells) / (static_cast<double>(on.end) - begin);  // cells a pixel
  // A little less than half to either side: a neighbour that only rounding touches is not covered.
  const double half = 0.4995 * reach;
  const PixelRange pixels = pixels_of(on);
  for (int i = 0; i < pixels.count; ++i) {
    const double middle = (pixels.first + i + 0.5 - begin) * reach;
    all.push_back({std::clamp<Index>(static_cast<Index>(std::floor(middle - half)), 0, cells - 1),
                   std::clamp<Index>(static_cast<Index>(std::ceil(middle + half)), 1, cells)});
  }
  // Of a pixel that is cut less than half shows in its neighbour.
  if (!all.empty()) all.front().begin = 0, all.back().end = cells;
  return all;
}

float larger(float a, float b) { return b > a || a != a ? b : a; }

float farther(float a, float b) {
  constexpr float kBlocked = -3e38f;
  if (!(a >= kBlocked)) return a != a || b >= kBlocked ? b : a;
  return b >= kBlocked && std::abs(b) > std::abs(a) ? b : a;
}

template <float brighter(float, float)>
Matrix pooled(const Matrix& weights, const std::vector<CellRange>& rows, const std::vector<CellRange>& columns) {
  Matrix result(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  const Index width = weights.cols();
  std::vector<float> line(static_cast<std::size_t>(width));
  float* const brightest = line.data();  // of the cells that share a row of pixels
  float* out = result.data();
  for (const CellRange& of : rows) {
    const float* cells = weights.data() + of.begin * width;
    std::copy(cells, cells + width, brightest);
    for (Index i = of.begin + 1; i < of.end; ++i) {
      cells = weights.data() + i * width;
      for (Index j = 0; j < width; ++j) brightest[j] = brighter(brightest[j], cells[j]);
    }
    for (const CellRange& from : columns) {
      *out = brightest[from.begin];
      for (Index j = from.begin + 1; j < from.end; ++j) *out = brighter(*out, brightest[j]);
      ++out;
    }
  }
  return result;
}

}  // namespace

PixelRange pixels_of(const PixelSpan& on) {
  const int first = static_cast<int>(std::ceil(on.begin - 0.5f));
  return {first, std::max(0, static_cast<int>(std::ceil(on.end - 0.5f)) - first)};
}

Matrix pooled_map(const Matrix& weights, const PixelSpan& rows, const PixelSpan& columns, bool diverging) {
  const std::vector<CellRange> down = covered(rows, weights.rows()), across = covered(columns, weights.cols());
  return diverging ? pooled<farther>(weights, down, across) : pooled<larger>(weights, down, across);
}

}  // namespace headlight
