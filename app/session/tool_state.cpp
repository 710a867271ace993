#include "session/tool_state.h"

#include <algorithm>

#include "session/state.h"

namespace headlight {

std::string_view tool_of(View view) {
  return view == View::train ? "train" : view == View::study ? "study" : std::string_view();
}

const Tool* filling(View view) {
  for (const Tool* tool : tools())
    if (tool->state && tool->state->view == view) return tool;
  return nullptr;
}

bool is_there(View view) { return tool_of(view).empty() || filling(view); }

bool can_show(const AppState& state, View view) {
  const Tool* tool = filling(view);
  return is_there(view) && (!tool || !tool->state->fills || tool->state->fills(state));
}

std::shared_ptr<const ToolPicture> picture_of_tool(const AppState& state) {
  const Tool* tool = filling(state.view.view);
  return tool && tool->state->picture ? tool->state->picture(state) : nullptr;
}

std::optional<Command> opened_by_tool(const std::string& path) {
  for (const Tool* tool : tools())
    if (tool->state && tool->state->opens)
      if (auto instead = tool->state->opens(path)) return instead;
  return std::nullopt;
}

Error missing_tool(std::string_view what, std::string_view tool) {
  return Error(ErrorCode::bad_value, std::string(what), "this build has no " + std::string(tool) + " tool");
}

}  // namespace headlight
