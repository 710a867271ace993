// Which mistake was made in an attention, and whether a checkpoint was loaded right.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kDiagnoseTool;

}  // namespace headlight
