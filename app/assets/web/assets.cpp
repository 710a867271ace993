// The assets of a page are files of its memory.
#include "assets/assets.h"

namespace headlight {

Result<std::filesystem::path> asset_folder() { return std::filesystem::path("/"); }

}  // namespace headlight
