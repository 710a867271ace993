// What a training adds to the state of a window: its commands, its slot, its worker.
#pragma once

#include "session/tool_state.h"

namespace headlight {

extern const ToolState kTrainState;

}  // namespace headlight
