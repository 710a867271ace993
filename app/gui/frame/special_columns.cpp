#include "gui/frame/special_columns.h"

namespace headlight {
namespace {

/// Special tokens are distinguished up to so many columns: of more a column is a pixel or two.
constexpr Index kMostPale = 128;

/// How much of the colours of their columns is covered.
constexpr float kPaleCover = 0.627f;

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

void add_pale_columns(const Gui& gui, Drawing& map, const MapContent& content, const MapLayout& layout) {
  const Box& plot = layout.plot;
  for (const Index j : pale_columns(gui, content))
    map.add(Rectangle{.box = {plot.x + static_cast<float>(j) * layout.cell, plot.y, layout.cell, plot.h},
                      .fill = to_rgb(gui.colours().background),
                      .opacity = kPaleCover});
}

}  // namespace headlight
