// Buttons that stand in several views.
#pragma once

#include "gui/frame/gui.h"
#include "words/compare_words.h"

namespace headlight {

/// Keeps the answer on the screen as A.
void keep_button(Gui& gui, const Words& label = kCompareWords.keep_as_a);

}  // namespace headlight
