#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Starts a training of the document's shape, or says that one goes on: by the plan of the panel, or by the usual one.
void say_start(Gui& gui, bool usual);

}  // namespace headlight
