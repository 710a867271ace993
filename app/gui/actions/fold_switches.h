// The switches that fold tokens, above maps and above lines.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Draws the switches for folds of the maps or the lines, behind the last item where `beside` and where there is room.
void fold_switches(Gui& gui, bool beside);
/// The changes of the weights before they were drawn, in words; empty where there are none.
std::vector<std::string> folds_in_words(const Gui& gui);

}  // namespace headlight
