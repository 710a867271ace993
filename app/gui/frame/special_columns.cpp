#include "gui/frame/special_columns.h"

#include <algorithm>

namespace headlight {
namespace {

/// Special tokens are told apart up to so many columns: of more a column is a pixel or two.
constexpr Index kMostPale = 128;

/// How much of the colours of their columns is covered, of 255.
constexpr unsigned kPaleCover = 0xA0;

}  // namespace

bool is_pale_column(const Gui& gui, const MapContent& content, Index column) {
  if (content.region.num_keys > kMostPale) return false;
  const Token& token = column_tokens(gui.state, content)[static_cast<std::size_t>(content.region.first_key + column)];
  return token.special && !token.pad;
}

bool has_pale_columns(const Gui& gui) {
  const MapContent content = whole_content(gui.state, {.stack = gui.state.view.chosen.stack});
  for (Index j = 0; j < std::min(content.region.num_keys, kMostPale + 1); ++j)
    if (is_pale_column(gui, content, j)) return true;
  return false;
}

void pale_special_columns(const Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout) {
  const ImU32 cover = (gui.colours().background & ~IM_COL32_A_MASK) | (kPaleCover << IM_COL32_A_SHIFT);
  const Box& plot = layout.plot;
  for (Index j = 0; j < std::min(content.region.num_keys, kMostPale + 1); ++j)
    if (is_pale_column(gui, content, j)) {
      const float x = plot.x + static_cast<float>(j) * layout.cell;
      list.AddRectFilled({x, plot.y}, {x + layout.cell, plot.bottom()}, cover);
    }
}

}  // namespace headlight
