// The steps of one weight as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "explain/steps.h"

namespace headlight {

/// Every step with its numbers, at most eight to a line, under a title that names the two tokens.
std::string explain_text(const Trace& trace, const HeadRef& head, const CellRef& cell, const std::vector<Step>& steps);

/// [{"name", "title", "formula", "matrix", "shape", "value", "terms": [{"from", "value", "times", "factor"}]}]. Numbers
/// read back to the same float; an infinite one is the string "-inf".
std::string explain_json(const Trace& trace, const std::vector<Step>& steps);

}  // namespace headlight
