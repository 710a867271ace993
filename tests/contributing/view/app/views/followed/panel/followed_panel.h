// The view `followed` in the window.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void followed_panel(Gui& gui);

}  // namespace headlight
