// A conversation instead of the sentence box.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// The turns, as high as chat_height: those beyond the first few are reached by scrolling.
void chat_turns(Gui& gui, float width);
float chat_height(const Gui& gui);

/// The buttons that add a turn and that leave the last answer open. Precondition: there is a turn.
void turn_buttons(Gui& gui);

/// One turn more: of the other role than the last one. Of a text the conversation that begins with it.
void add_turn(Gui& gui);

}  // namespace headlight
