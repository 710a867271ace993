// Options of `figure` that only some pictures read.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/parser.h"
#include "view/view_state.h"

namespace headlight {

/// `--threshold: expected --view flow, found --view head`: an option that the picture would ignore.
Status check_read(const Parser& given, FigureKind kind, const std::string& view);

}  // namespace headlight
