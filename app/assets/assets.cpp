#include "assets/assets.h"

#include <cstdlib>

#include "base/folders.h"
#include "base/system.h"

namespace headlight {

namespace fs = std::filesystem;

Result<fs::path> asset_folder() {
  return first_asset_folder(asset_folders(std::getenv("HEADLIGHT_DATA"), code_file()));
}

std::vector<fs::path> asset_folders(const char* data, const fs::path& executable) {
  if (data != nullptr && *data != '\0') return {data};
  std::vector<fs::path> folders;
  if (executable.has_parent_path()) {
    const fs::path folder = executable.parent_path(), prefix = folder.parent_path();
    for (const fs::path& base : {prefix, folder, prefix.parent_path()}) folders.push_back(base / "share" / "headlight");
  }
  folders.emplace_back(HEADLIGHT_SOURCE_DIR);
  return folders;
}

Result<fs::path> first_asset_folder(const std::vector<fs::path>& folders) {
  std::string looked;
  for (const fs::path& folder : folders) {
    if (is_folder(folder / "assets") && is_folder(folder / "shaders")) return folder;
    looked += (looked.empty() ? "neither in " : " nor in ") + folder.string();
  }
  return bad_input("HEADLIGHT_DATA", "", "a folder with assets/ and shaders/ in it", looked);
}

}  // namespace headlight
