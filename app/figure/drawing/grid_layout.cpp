#include "figure/drawing/grid_layout.h"

#include <algorithm>
#include <cmath>

namespace headlight {

namespace {

constexpr float kLeastWidthShare = 0.88f;            // of the least width
constexpr float kLeastGap = 0.08f, kMostGap = 0.5f;  // of a map's width

}  // namespace

Box GridLayout::place(HeadRef head) const {
  const Index row = head.layer * rows_per_layer + head.head / columns, column = head.head % columns;
  return {static_cast<float>(column) * (width + gap + spread), static_cast<float>(row) * (height + gap), width, height};
}

GridLayout layout_grid(float area_width, float area_height, Index layers, Index heads, float least_width,
                       float most_width, float extra_height, float gap) {
  GridLayout best{.layers = layers, .heads = heads, .gap = gap};
  const auto rows_of = [&](Index columns) { return (heads + columns - 1) / columns; };  // and columns of so many rows
  const auto width_of = [&](Index columns) {
    return std::min(most_width, (area_width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  };
  for (Index columns = 1; columns <= heads; ++columns) {
    const float rows = static_cast<float>(layers * rows_of(columns));
    const float by_height = (area_height - gap * (rows - 1)) / rows - extra_height;
    const float width = std::floor(std::min(width_of(columns), by_height));
    if (width > best.width) best.columns = columns, best.width = width;
  }
  if (best.width < least_width) {
    // Rows of the same length; a little below the least width rather than one row more.
    Index rows = 1;
    while (rows < heads && width_of(rows_of(rows)) < kLeastWidthShare * least_width) ++rows;
    best.columns = rows_of(rows);
    const float whole_map = std::max(least_width, area_height - extra_height);  // seen without scrolling
    best.width = std::max(std::floor(std::min(width_of(best.columns), whole_map)), 1.0f);
  }
  best.rows_per_layer = rows_of(best.columns);
  best.height = best.width + extra_height;
  const float rows = static_cast<float>(layers * best.rows_per_layer);
  best.content_height = rows * (best.height + gap) - gap;
  const float used = static_cast<float>(best.columns) * (best.width + gap) - gap;
  const float spare = best.columns > 1 ? (area_width - used) / static_cast<float>(best.columns - 1) : 0;
  if (spare >= kLeastGap * best.width) best.spread = std::floor(std::min(spare, kMostGap * best.width));
  return best;
}

}  // namespace headlight
