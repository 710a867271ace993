// Training a model: the command, its view in the window, the scores of its heads.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kTrainTool;

}  // namespace headlight
