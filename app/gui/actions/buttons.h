// Buttons that stand in several views.
#pragma once

#include "gui/actions/actions.h"
#include "words/compare_words.h"

namespace headlight {

/// A line of a menu that does what a row of the table of actions does, with the keys of the row.
void act_line(Gui& gui, const char* name, const Words& label, Act act);
/// Keeps the answer on the screen as A.
void keep_button(Gui& gui, const Words& label = kCompareWords.keep_as_a);

}  // namespace headlight
