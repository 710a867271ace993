#include "figure/glance_layout.h"

#include <algorithm>
#include <cmath>

namespace headlight {

Box GlanceLayout::place(Index row, Index column) const {
  return {first.x + static_cast<float>(column) * (cell + gap), first.y + static_cast<float>(row) * (cell + gap), cell,
          cell};
}

GlanceLayout layout_glance(float width, float height, Index rows, Index columns, Point margin, float least,
                           float most) {
  GlanceLayout layout{.columns = columns, .first = margin};
  const float across = static_cast<float>(columns), down = static_cast<float>(rows);
  const float pitch = std::min((width - margin.x) / across, (height - margin.y) / down);
  // An eighth of the pitch keeps maps apart at any size.
  layout.gap = std::clamp(std::floor(pitch / 8), 1.0f, 12.0f);
  layout.cell = std::clamp(std::floor(pitch) - layout.gap, least, most);
  layout.content_height = margin.y + down * (layout.cell + layout.gap) - layout.gap;
  return layout;
}

Box within_square(const Box& square, Index queries, Index keys) {
  const auto longer = static_cast<float>(std::max<Index>({queries, keys, 1}));
  const float w = std::max(1.0f, std::round(square.w * static_cast<float>(keys) / longer));
  const float h = std::max(1.0f, std::round(square.h * static_cast<float>(queries) / longer));
  return {square.x + std::floor((square.w - w) / 2), square.y + std::floor((square.h - h) / 2), w, h};
}

}  // namespace headlight
