// A tool with one command.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kFollowedTool;

}  // namespace headlight
