// The view of one block's inside.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void way_panel(Gui& gui);     // the block as a diagram, or the steps behind one weight
void matrix_panel(Gui& gui);  // one matrix of it, and the terms of one of its cells

}  // namespace headlight
