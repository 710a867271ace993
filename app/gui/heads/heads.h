// The view of all heads, and the chosen head beside them.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void grid_panel(Gui& gui);   // every head of every layer
void head_panel(Gui& gui);   // the chosen head, large, and one of its rows as bars
void words_panel(Gui& gui);  // the next word, before and after, and writing on

/// Whether there is room and reason for words_panel.
bool shows_words(const AppState& state);

/// The line above the grid: the order of the heads, and the search for heads; behind the last item where that is of the
/// same line and there is room.
void head_order_line(Gui& gui, bool same_line);

}  // namespace headlight
