#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// What is said above the maps of a first start, on one line; false where it was read.
bool greeting(Gui& gui);

}  // namespace headlight
