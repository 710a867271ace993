// Questions that are asked of many pairs of sentences, patches, and effects of heads that are off.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kStudyTool;

}  // namespace headlight
