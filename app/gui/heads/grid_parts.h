// The parts of the grid panel: the maps with their words are in grid_panel.cpp itself.
#pragma once

#include "gui/frame/panels.h"

namespace headlight {

/// Which of its ways the grid shows the heads in, as buttons; behind the last item where `beside` and there is room.
void grid_switch(Gui& gui, bool beside);
/// The next of these ways, or the one before.
void step_grid(Gui& gui, bool back);

/// All layers, all heads, as small as they must be.
void glance_grid(Gui& gui);
/// One row or one column of every head, as bars.
void line_grid(Gui& gui);

/// What the head was put in order by, as it stands beside its title; empty where it has no such number.
std::string order_value_text(const AppState& state, const HeadRef& head);
/// How strongly a head is drawn in the grid: less where it is off, not looked for, or of an earlier answer.
float head_opacity(const AppState& state, const HeadRef& head);

/// What can be folded in the maps or the lines, behind the last item where `beside` and where there is room.
void fold_switches(Gui& gui, bool beside);
/// What was done to the weights before they were drawn; empty where nothing was.
std::string folds_in_words(const Gui& gui);

/// Whether each head has colours, or bars, up to its own largest weight.
void own_range_button(Gui& gui);

}  // namespace headlight
