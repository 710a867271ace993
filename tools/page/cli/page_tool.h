// An answer as one HTML file that still computes, or as a site.
#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kPageTool;

}  // namespace headlight
