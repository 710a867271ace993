// What two files contain about one layer of attention: the one that is taken to be right as a Known, the arrays of the
// other one.
#pragma once

#include <string>

#include "diagnose/export_file.h"
#include "diagnose/variant.h"

namespace headlight {

/// Everything that `right` contains about one layer, and d_k and the inputs from either file; queries, keys and scores
/// that do not lead to its weights are left out. `before` stands before the kinds in the arrays' names. No weights:
/// nothing is known.
Known known_of(const ExportFile& right, const ExportFile& other, const std::string& before, Index layer);
LayerArrays arrays_of(const ExportFile& file, const std::string& before, Index layer);

}  // namespace headlight
