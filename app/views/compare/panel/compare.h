// The view of two answers beside each other.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void compare_start_panel(Gui& gui);   // where there is nothing to compare yet: what to do
void compare_header_panel(Gui& gui);  // what A is and what B is
void compare_grid_panel(Gui& gui);    // the difference of every head
void compare_maps_panel(Gui& gui);    // A, B and B − A of the chosen head
void patch_panel(Gui& gui);           // what of A brings its answer back in B
void compare_words_panel(Gui& gui);   // the scale, what colours of words mean, and the next word in both

}  // namespace headlight
