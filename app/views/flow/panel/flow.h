// The view of lines between the words.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void flow_panel(Gui& gui);  // for the heads of a layer

}  // namespace headlight
