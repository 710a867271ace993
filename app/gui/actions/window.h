// Changes of the window and its files by keys and buttons.
#pragma once

#include "gui/frame/gui.h"
#include "session/loop/command_line_of.h"

namespace headlight {

/// The other theme, the other language, everything larger or smaller by a tenth.
void switch_theme(Gui& gui);
void switch_language(Gui& gui);
void resize_window(Gui& gui, bool larger);
void choose_colours(Gui& gui, ColourMap colours);
/// Copies the state as a command line that reproduces it, or shows the reason why it cannot.
void copy_as_command(Gui& gui, CommandGives gives = CommandGives::picture);
/// The number of the pinned cell as the chosen head's map has it, with all its digits.
void copy_weight(Gui& gui);
/// Copies the program of View::code.
void copy_program(Gui& gui);
/// Saves to the session's file, or opens the browser where there is none yet.
void save_session(Gui& gui);
/// Closes, cancels or unpins one thing, the frontmost first.
void leave(Gui& gui);

}  // namespace headlight
