// NumPy's .npz format: a zip archive of .npy files, stored or deflated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// Bytes that the arrays of one archive may take in memory, as float32. Deflate shrinks zeros a thousandfold, so a
/// small file is trusted with no more than the first, or with so many times its size; the last is the most of any.
inline constexpr std::size_t kAnyNpzBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMostNpzInflation = 64;
inline constexpr std::size_t kMostNpzBytes = within_memory(std::uint64_t{4} << 30);

/// All arrays, named without `.npy`; those of strings, of one axis or none, are metadata: the text, or a JSON list.
/// Each member's size must be that in its header, each name stands once, and the archive's checksums are verified.
/// All headers are read before memory is taken for any array.
Result<ArrayFile> parse_npz(std::string_view where, std::string_view bytes, std::size_t limit = kMostNpzBytes);

Result<ArrayFile> read_npz(const std::filesystem::path& path, std::size_t limit = kMostNpzBytes);

/// All arrays of a file by its ending: an .npz, a file of PyTorch's (is_torch_name), else a safetensors file.
Result<ArrayFile> read_arrays(const std::filesystem::path& path);

}  // namespace headlight
