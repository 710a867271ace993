// The .safetensors format: eight bytes of header length, a JSON header, the arrays' bytes.
// https://github.com/huggingface/safetensors#format
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// Where the arrays are in `bytes`, which must stay, and the metadata. Nothing but the header is looked at. Offsets
/// must tile the data without gaps or overlaps, as the format demands; they need not be aligned. Errors name `where`
/// and the array.
Result<StoredArrays> locate_safetensors(std::string_view where, std::string_view bytes);

/// The same of a file that is mapped while one of its arrays is there.
Result<StoredArrays> map_safetensors(const std::filesystem::path& path);

/// All arrays as float32, and the metadata.
Result<ArrayFile> parse_safetensors(std::string_view where, std::string_view bytes);

Result<ArrayFile> read_safetensors(const std::filesystem::path& path);

}  // namespace headlight
