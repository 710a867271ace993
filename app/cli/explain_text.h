// The steps of one weight as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "cli/values.h"
#include "explain/steps.h"

namespace headlight {

/// Every step with its numbers, at most eight to a line, under a title that names the two tokens and states how far they
/// are from each other. With another answer to compare with (else null) the rows of each matrix that differ follow.
std::string explain_text(const Trace& trace, const HeadRef& head, const CellRef& cell, const std::vector<Step>& steps,
                         const Trace* before);

/// [{"name", "title", "formula", "matrix", "shape", "value", "terms": [{"from", "value", "times", "factor"}]}]. Numbers
/// read back to the same float; an infinite one is the string "-inf". With another answer "moved": the rows of the
/// step's matrix that differ from it; not of what is learned, nor where the sizes differ.
Value explain_json(const Trace& trace, const std::vector<Step>& steps, const Trace* before);

}  // namespace headlight
