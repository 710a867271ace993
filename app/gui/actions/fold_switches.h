// The switches that fold tokens, above maps and above lines.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// What can be folded in the maps or the lines, behind the last item where `beside` and where there is room.
void fold_switches(Gui& gui, bool beside);
/// What was done to the weights before they were drawn; empty where nothing was.
std::string folds_in_words(const Gui& gui);

}  // namespace headlight
