// NumPy's .npz format: a zip archive of .npy files, stored or deflated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// Bytes that the arrays of one archive may take in memory, as float32. Deflate shrinks zeros a thousandfold, so the
/// size of the file says nothing about it.
inline constexpr std::size_t kMostNpzBytes = std::size_t{4} << 30;

/// All arrays, named without `.npy`; those of strings, of one axis or none, are metadata: the text, or a JSON list. Each member's size must be what its header says, each name stands once, and the
/// archive's checksums are verified. Memory grows with data that is really there, not with what a header declares.
Result<ArrayFile> parse_npz(std::string_view where, std::string_view bytes, std::size_t limit = kMostNpzBytes);

Result<ArrayFile> read_npz(const std::filesystem::path& path, std::size_t limit = kMostNpzBytes);

}  // namespace headlight
