// Files that are being written, of which nothing may stay behind.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace headlight {

/// A file of the folder without a name, which is gone as soon as it is closed: the descriptor, to be closed by the
/// caller.
Result<int> nameless_file(const std::filesystem::path& folder);

/// Removes what a program that was killed had begun to write into the folder.
void sweep_temporaries(const std::filesystem::path& folder);

}  // namespace headlight
