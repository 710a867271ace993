// Where the program's files are: the bundled models, the lexicon, the shaders.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Bytes; a larger asset is refused.
inline constexpr std::size_t kLargestAsset = std::size_t{1} << 24;

/// The folder that holds `assets/` and `shaders/`: $HEADLIGHT_DATA where that is set, else share/headlight beside the
/// folder of the program or library, in it, or one folder further up, where pip puts the data of a user on Windows;
/// else the source tree it was built from; of a page the root of its memory. The Error names each folder tried.
Result<std::filesystem::path> asset_folder();

/// The candidate folders for an executable at `executable`, in order; `data` is the value of $HEADLIGHT_DATA, null or
/// empty where it is not set. Where it is set it is the only candidate, so that a wrong value is an error.
std::vector<std::filesystem::path> asset_folders(const char* data, const std::filesystem::path& executable);

/// The first of `folders` with a folder `assets` and a folder `shaders` in it.
Result<std::filesystem::path> first_asset_folder(const std::vector<std::filesystem::path>& folders);

}  // namespace headlight
