// Buttons that stand in several views.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Keeps the answer on the screen as A.
void keep_button(Gui& gui);
/// Whether each head has colours, or bars, up to its own largest weight.
void own_range_button(Gui& gui);

}  // namespace headlight
