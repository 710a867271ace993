// The parts of the grid panel: the maps with their words are in grid_panel.cpp itself.
#pragma once

#include "gui/heads/heads.h"

namespace headlight {

/// Which of its ways the grid shows the heads in, as buttons; behind the last item where `beside` and there is room.
void grid_switch(Gui& gui, bool beside);

/// All layers, all heads, as small as they must be.
void glance_grid(Gui& gui);
/// One row or one column of every head, as bars.
void line_grid(Gui& gui);

/// What the head was put in order by, as it stands beside its title; empty where it has no such number.
std::string order_value_text(const AppState& state, const HeadRef& head);
/// How strongly a head is drawn in the grid: less where it is off, not looked for, or of an earlier answer.
float head_opacity(const AppState& state, const HeadRef& head);

}  // namespace headlight
