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
/// Opens the search for heads, with the words of the pinned cell, and gives it the keyboard.
void begin_search(Gui& gui);
/// The next order of the heads, or the one before.
void step_order(Gui& gui, bool back);
/// The next way in which the grid shows the heads, or the one before.
void step_grid(Gui& gui, bool back);
/// The next kind of maps, or the one before.
void step_map_kind(Gui& gui, bool back);

}  // namespace headlight
