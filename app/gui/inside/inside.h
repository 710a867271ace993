// The views of one block: its inside, and its program.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void way_panel(Gui& gui);     // the block as a diagram, or the steps behind one weight
void code_panel(Gui& gui);    // the block, or its attention, as a program
void matrix_panel(Gui& gui);  // one matrix of it, and the terms of one of its cells

}  // namespace headlight
