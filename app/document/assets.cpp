#include "document/assets.h"

#include <cstdlib>

#include "base/folders.h"
#include "base/system.h"

namespace headlight {

namespace fs = std::filesystem;

Result<fs::path> asset_folder() {
  return first_asset_folder(asset_places(std::getenv("HEADLIGHT_DATA"), program_file()));
}

std::vector<fs::path> asset_places(const char* data, const fs::path& executable) {
  if (data != nullptr && *data != '\0') return {data};
  std::vector<fs::path> places;
  if (executable.has_parent_path()) {
    const fs::path folder = executable.parent_path(), prefix = folder.parent_path();
    for (const fs::path& place : {prefix, folder, prefix.parent_path()})
      places.push_back(place / "share" / "headlight");
  }
  places.emplace_back(HEADLIGHT_SOURCE_DIR);
  return places;
}

Result<fs::path> first_asset_folder(const std::vector<fs::path>& places) {
  std::string looked;
  for (const fs::path& place : places) {
    if (is_folder(place / "assets") && is_folder(place / "shaders")) return place;
    looked += (looked.empty() ? "neither in " : " nor in ") + place.string();
  }
  return bad_input("HEADLIGHT_DATA", "", "a folder with assets/ and shaders/ in it", looked);
}

}  // namespace headlight
