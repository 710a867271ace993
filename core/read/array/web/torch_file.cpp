// A page reads no zip archives: its models are safetensors files.
#include "read/array/torch_file.h"

namespace headlight {

bool is_torch_name(const std::filesystem::path&) { return false; }

Result<StoredArrays> map_torch(const std::filesystem::path& path) {
  return bad_input(path.string(), "kind", "a .safetensors file", "another file", ErrorCode::unknown_kind);
}

}  // namespace headlight
