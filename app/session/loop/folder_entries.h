// Entries of a folder, and which of them can be opened: read on a worker, because folders can be large and disks slow.
#pragma once

#include <filesystem>
#include <vector>

#include "base/progress.h"
#include "session/loop/worker.h"

namespace headlight {

/// The visible entries of a folder, folders first, each with what it is (Browser::Entry). Of a folder with a config.json
/// that is the family and the size; of a file one of `session`, `lesson`, `page`, `tensors`, `mask`, `text`, by its ending.
/// Error: the folder cannot be read.
Result<std::vector<Browser::Entry>> folder_entries(const std::filesystem::path& folder, const Progress& progress);

/// `BERT, 12×12`: a family as people write it, its layers and its heads; empty where config.json says nothing that is known.
std::string model_in_words(const std::filesystem::path& folder);
std::string model_in_words(std::string_view family, const Config& config);

}  // namespace headlight
