// Everything that can be done, by name: what the palette lists.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gui/frame/gui.h"
#include "session/command_line_of.h"

namespace headlight {

struct Action {
  std::string title;      // in the window's language
  std::string other;      // in the other one, and further words by which it is found
  const char* keys = "";  // that do the same
  std::function<void(Gui&)> run;
};

/// Those that can be done now, the likely ones first.
std::vector<Action> actions(const Gui& gui);

/// Those of them that have every word of the query in their title or their other words, whatever their case: those that
/// have them in their title first.
std::vector<Action> found_actions(const Gui& gui, const std::string& query);

/// The other theme, the other language, everything larger or smaller by a tenth.
void switch_theme(Gui& gui);
void switch_language(Gui& gui);
void resize_window(Gui& gui, bool larger);
/// Copies the state as a command line that gives that, or says why that cannot be.
void copy_as_command(Gui& gui, CommandGives gives = CommandGives::picture);
/// The sessions' file, or the browser where there is none yet.
void save_session(Gui& gui);

}  // namespace headlight
