// The parts of the atlas: the maps themselves are in atlas_panel.cpp.
#pragma once

#include "gui/heads/heads.h"

namespace headlight {

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
