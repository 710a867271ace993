// The contents of a panel without an answer, or with an answer to an earlier question.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Where no maps can stand: a card with what is wrong in plain words and what to do next, the examples of an empty
/// window, or that the answer is being computed. True where it drew one: the panel then draws nothing else.
bool state_card(Gui& gui);

/// Where the text is longer than the model reads: a button that cuts it, drawn by `button`. True where it stands.
bool read_first_button(Gui& gui, bool (*button)(Gui&, const char*, const char*));

/// What is wrong with the question while the maps still are of the one before, or a remark on an answer of one word.
/// True where there is something wrong.
bool problem_line(Gui& gui);
/// No sentence, or no answer yet.
void nothing_yet(Gui& gui);

}  // namespace headlight
