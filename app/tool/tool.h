// What a tool gives to the program: one value, which app/main.cpp lists. The viewer knows no tool; each of its layers
// asks those of the list for what is its own. A program without a tool has the viewer alone.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace headlight {

struct Mistake;       // model/finding.h
struct OwnNumbers;    // read/external/own_numbers.h
struct ToolState;     // session/tool_state.h: commands of the state, answers, work beside them, judgements
struct ToolCommands;  // cli/frame/tool_commands.h: commands of the command line, ways of the viewer's commands
struct ToolWindow;    // gui/actions/tool_window.h: views, actions, parts of panels

struct Tool {
  std::string_view name;                  // as its folder: "train"
  std::string_view (*words)() = nullptr;  // the table of its texts, in JSON
  const ToolState* state = nullptr;
  const ToolCommands* commands = nullptr;
  const ToolWindow* window = nullptr;
  /// What cannot be right about numbers that were typed.
  std::vector<Mistake> (*check_numbers)(const OwnNumbers& numbers) = nullptr;
};

/// The tools of this program, in the order in which what they add is listed. Each program defines it (app/main.cpp).
std::span<const Tool* const> tools();

/// What the first tool that has it gives at this place: of_tools(&Tool::check_numbers). Null where none has.
template <class Given>
Given of_tools(Given Tool::*place) {
  for (const Tool* tool : tools())
    if (tool->*place) return tool->*place;
  return {};
}
/// What the first tool that has it gives at this place of its part: of_tools(&Tool::state, &ToolState::opens). Null
/// where none has.
template <class Part, class Given>
Given of_tools(const Part* Tool::*part, Given Part::*place) {
  for (const Tool* tool : tools())
    if (tool->*part && (tool->*part)->*place) return (tool->*part)->*place;
  return {};
}

}  // namespace headlight
