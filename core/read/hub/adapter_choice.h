// Which adapters a checkpoint is read with.
#pragma once

#include <filesystem>
#include <vector>

namespace headlight {

/// Those that lie in its folder, none, or those of other folders, one added to the other.
struct AdapterChoice {
  bool none = false;
  std::vector<std::filesystem::path> folders = {};
};

}  // namespace headlight
