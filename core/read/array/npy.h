// NumPy's .npy format: a magic string, a Python dictionary with dtype, order and shape, the array's bytes.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// The header before the data.
struct NpyHeader {
  Dtype dtype = Dtype::f32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<Index> shape;
  std::size_t count = 0;  // elements
};

/// Magic, version and header length: this many bytes state how long the header is.
inline constexpr std::size_t kNpyPrefix = 12;

/// The offset at which the data begins, from the first bytes of the file. Versions 1 to 3.
Result<std::size_t> npy_data_offset(std::string_view where, std::string_view prefix);

/// `header` are all bytes before the data.
Result<NpyHeader> parse_npy_header(std::string_view where, std::string_view header);

/// Strings of NumPy, filled up with zeros: UTF-32 (dtype <U), or bytes (dtype S).
struct NpyStrings {
  std::size_t letters = 0;        // of each string
  std::size_t width = 4;          // bytes of a letter
  std::vector<Index> shape = {};  // empty: a single one
  std::size_t count = 0;

  std::size_t bytes() const { return width * letters * count; }
};

/// The same of an array of strings; nothing where the header is that of another array.
std::optional<NpyStrings> parse_npy_strings(std::string_view header);

/// Elements in file order → the array, in C order.
Array make_array(const NpyHeader& header, std::vector<float> values);

/// A whole .npy file: exactly one array.
Result<Array> parse_npy(std::string_view where, std::string_view bytes);
Result<Array> read_npy(const std::filesystem::path& path);

}  // namespace headlight
