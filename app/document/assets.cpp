#include "document/assets.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "base/file.h"

namespace headlight {

namespace fs = std::filesystem;

Result<fs::path> asset_folder() {
  std::error_code unreadable;
  const fs::path executable = fs::read_symlink("/proc/self/exe", unreadable);
  return first_asset_folder(asset_places(std::getenv("HEADLIGHT_DATA"), executable));
}

std::vector<fs::path> asset_places(const char* data, const fs::path& executable) {
  if (data != nullptr && *data != '\0') return {data};
  std::vector<fs::path> places;
  if (executable.has_parent_path()) {
    places.push_back(executable.parent_path().parent_path() / "share" / "headlight");
  }
  places.emplace_back(HEADLIGHT_SOURCE_DIR);
  return places;
}

Result<fs::path> first_asset_folder(const std::vector<fs::path>& places) {
  std::string looked;
  for (const fs::path& place : places) {
    std::error_code unreadable;
    if (fs::is_directory(place / "assets", unreadable) && fs::is_directory(place / "shaders", unreadable)) return place;
    looked += (looked.empty() ? "neither in " : " nor in ") + place.string();
  }
  return bad_input("HEADLIGHT_DATA", "", "a folder with assets/ and shaders/ in it", looked);
}

Result<Lexicon> read_lexicon() {
  const auto folder = asset_folder();
  if (!folder) return folder.error();
  const auto path = *folder / "assets" / "lexicon.txt";
  const auto text = read_file(path, kLargestAsset);
  if (!text) return text.error();
  return parse_lexicon(path.string(), *text);
}

}  // namespace headlight
