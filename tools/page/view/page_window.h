// Sharing an answer as a page, in the window.
#pragma once

#include "gui/actions/tool_window.h"

namespace headlight {

extern const ToolWindow kPageWindow;

}  // namespace headlight
