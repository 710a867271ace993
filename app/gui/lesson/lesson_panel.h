// A lesson as a strip below the sentence: what the step says, what it asks for, and the way on. No dialog: the window is
// the reader's meanwhile.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// How high the strip is, as wide as the window; 0 where no lesson is read.
float lesson_height(Gui& gui, float width);
void lesson_panel(Gui& gui);

/// The button of the top bar and the list of lessons below it; F2 opens it as well, and a digit chooses from it.
void lesson_menu(Gui& gui);
/// How wide that button is; 0 where there are no lessons.
float lesson_menu_width(Gui& gui);

}  // namespace headlight
