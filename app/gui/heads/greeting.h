#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Draws the line above the maps of a first start; false where it was read.
bool greeting(Gui& gui);

}  // namespace headlight
