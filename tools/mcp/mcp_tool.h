// Questions of agents: the Model Context Protocol on standard input and output.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kMcpTool;

}  // namespace headlight
