// Buttons that stand in several views, and the switches that fold tokens.
#pragma once

#include "gui/actions/actions.h"
#include "gui/frame/gui.h"
#include "words/compare_words.h"

namespace headlight {

/// A line of a menu that does what a row of the table of actions does, with the keys of the row.
void act_line(Gui& gui, const char* name, const Words& label, Act act);
/// Keeps the answer on the screen as A.
void keep_button(Gui& gui, const Words& label = kCompareWords.keep_as_a);

/// Draws the switches for folds of the maps or the lines, behind the last item where `beside` and where there is room.
void fold_switches(Gui& gui, bool beside);
/// The changes of the weights before they were drawn, in words; empty where there are none.
std::vector<std::string> folds_in_words(const Gui& gui);

}  // namespace headlight
