// What the judges add to a window: whether its checkpoint was loaded right.
#pragma once

#include "session/tool_state.h"

namespace headlight {

extern const ToolState kDiagnoseState;

}  // namespace headlight
