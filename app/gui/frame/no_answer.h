// The contents of a panel without an answer, or with an answer to an earlier question.
#pragma once

#include <string>

#include "gui/frame/gui.h"

namespace headlight {

/// An error or a warning in one line: in English the error's line; in Chinese its meaning, followed by the error's line
/// where the code does not state everything.
std::string plain_line(const Gui& gui, const Error& error);
std::string plain_line(const Gui& gui, ErrorCode code, const std::string& line);
/// The same where there is room for more: in Chinese the error's line stands beneath its meaning.
std::string plain_lines(const Gui& gui, const Error& error);

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
