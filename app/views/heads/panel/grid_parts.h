// The parts of the atlas: a map is in atlas_map.cpp, all of them in atlas_panel.cpp.
#pragma once

#include <map>

#include "gui/frame/map_view.h"
#include "views/heads/heads_scene.h"

namespace headlight {

/// All maps of the atlas share these.
struct Atlas {
  HeadsLayout layout;
  ImVec2 origin;
  AxisLabels labels;
  bool by_layer = false;  // one map a layer, instead of one a head
  bool own_order = false;
  std::map<HeadRef, HeadName> names;
  std::vector<HeadRef> heads;     // that follow each other, group by group
  std::vector<HeadTitle> titles;  // of them, where maps have any
  float most = 0;                 // the largest number of that order

  Box at(const Box& box) const { return moved(box, {origin.x, origin.y}); }
  /// The height of a title's first line.
  float title_line() const { return layout.title - static_cast<float>(layout.name_lines) * ImGui::GetFontSize(); }
};

/// The n-th map in this box and its title, if that has a height: a button that chooses it, with its switch.
void draw_atlas_map(Gui& gui, const Atlas& atlas, std::size_t number, const Box& box, const Box& title);

/// Menus choose the kind of maps and their order; a line below them states the meaning of the maps, or the problem. The
/// height never changes.
void atlas_header(Gui& gui, const Box& slot);
/// A row for each relation of the grammar, a column for each layer: its best head, and how often that is right.
void relation_table(Gui& gui);

/// The menu of the orders of the heads, and what turns the order around.
float order_control_width(const Gui& gui);
void order_control(Gui& gui);
/// The two words that are looked for, and how many heads there are.
void search_line(Gui& gui);
/// While every head is switched off in turn, and where that cannot be done; false where neither is.
bool sweep_line(Gui& gui);

/// The number by which the heads are ordered, as it stands beside the title of one; empty where it has none.
std::string order_value_text(const AppState& state, const HeadRef& head);
/// How strongly a head is drawn in the atlas: less where it is off, not looked for, or of an earlier answer.
float head_opacity(const Gui& gui, const HeadRef& head);

}  // namespace headlight
