// Whether a page is right: its answer is computed again, and every weight that its q and k give is compared.
#pragma once

#include <filesystem>
#include <vector>

#include "check/checkpoint_check.h"
#include "text/words.h"

namespace headlight {

/// The findings, in order: the tokens, the shapes, the weights against the stated error, the thing compared with.
/// Errors: a file that is no page or is cut off. Of a page whose model is not there its numbers, with a warning.
Result<std::vector<Finding>> check_page(const std::filesystem::path& file, const Lexicon& lexicon, Progress& progress);

}  // namespace headlight
