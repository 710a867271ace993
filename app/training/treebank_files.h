// Treebanks that heads are measured on, from their files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "train/measure/treebank_scores.h"

namespace headlight {

/// CoNLL-U files of at most kMostTreebankBytes. Errors are those of the files.
Result<std::vector<HeldOutTreebank>> read_treebanks(const std::vector<std::string>& files);

}  // namespace headlight
