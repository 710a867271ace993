#include "session/tool_state.h"

#include <algorithm>

namespace headlight {

std::string_view tool_of(View view) { return view == View::train ? "train" : ""; }

bool is_there(View view) {
  return tool_of(view).empty() ||
         std::ranges::any_of(tools(), [&](const Tool* tool) { return tool->state && tool->state->view == view; });
}

Error missing_tool(std::string_view what, std::string_view tool) {
  return Error(ErrorCode::bad_value, std::string(what), "this build has no " + std::string(tool) + " tool");
}

}  // namespace headlight
