#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Three sentences above the maps of a first start; false where they were read.
bool greeting(Gui& gui);

}  // namespace headlight
