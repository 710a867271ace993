#include "gui/frame/special_columns.h"

namespace headlight {
namespace {

/// Special tokens are told apart up to so many columns: of more a column is a pixel or two.
constexpr Index kMostPale = 128;

/// How much of the colours of their columns is covered, of 255.
constexpr unsigned kPaleCover = 0xA0;

}  // namespace

std::vector<Index> pale_columns(const Gui& gui, const MapContent& content) {
  std::vector<Index> pale;
  const Region& region = content.region;
  if (region.num_keys > kMostPale) return pale;
  const Token* tokens = column_tokens(gui.state, content).data() + region.first_key;
  for (Index j = 0; j < region.num_keys; ++j)
    if (is_resting_place(tokens[j])) pale.push_back(j);
  return pale;
}

bool has_pale_columns(const Gui& gui) {
  return !pale_columns(gui, whole_content(gui.state, {.stack = gui.state.view.chosen.stack})).empty();
}

void pale_special_columns(const Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout) {
  const ImU32 cover = (gui.colours().background & ~IM_COL32_A_MASK) | (kPaleCover << IM_COL32_A_SHIFT);
  const Box& plot = layout.plot;
  for (const Index j : pale_columns(gui, content)) {
    const float x = plot.x + static_cast<float>(j) * layout.cell;
    list.AddRectFilled({x, plot.y}, {x + layout.cell, plot.bottom()}, cover);
  }
}

}  // namespace headlight
