// What a panel shows in place of an answer.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// What is wrong with the question, as a line of small text; false where nothing is.
bool problem_line(Gui& gui);
/// That there is no text, or that the answer is being computed.
void nothing_yet(Gui& gui);

}  // namespace headlight
