// The .safetensors format: eight bytes of header length, a JSON header, the arrays' bytes.
// https://github.com/huggingface/safetensors#format
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "read/array.h"

namespace headlight {

/// All arrays and the metadata. Offsets must tile the data without gaps or overlaps, as the format demands; they need
/// not be aligned. Errors name `where` and the array.
Result<ArrayFile> parse_safetensors(std::string_view where, std::string_view bytes);

Result<ArrayFile> read_safetensors(const std::filesystem::path& path);

}  // namespace headlight
