// A lesson as a column beside the maps: the text of the step, its goal, and the way on. Links in the text point at
// what they name. It is no dialog: the rest of the window stays usable.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// How wide the column is; 0 where no lesson is read.
float lesson_width(const Gui& gui);
void lesson_panel(Gui& gui);

/// The button of the top bar and the list of lessons below it; F2 opens it as well, and a digit chooses from it.
void lesson_menu(Gui& gui);
/// How wide that button is; 0 where there are no lessons.
float lesson_menu_width(Gui& gui);

}  // namespace headlight
