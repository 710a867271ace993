// The panel of View::study: the figure of the study that was opened, as wide as the window lets it be read.
#pragma once

#include "gui/actions/tool_window.h"

namespace headlight {

extern const ToolWindow kStudyWindow;

}  // namespace headlight
