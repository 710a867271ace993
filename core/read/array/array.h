// Named arrays as they come out of a file: float32 whatever they were stored as, in C order, with their shape.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/printable.h"
#include "base/result.h"

namespace headlight {

/// How an array was stored. Boolean is remembered because a mask of booleans means something else than one of floats.
enum class Dtype { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };

/// Bytes of one element as stored.
std::size_t width(Dtype dtype);
/// NumPy's name: bool, uint8, …, float32.
std::string_view name(Dtype dtype);
/// The type of this name in the files of one format: `f4`, `F32`, `Float` (as in FloatStorage).
enum class DtypeNaming { npy, safetensors, torch };
std::optional<Dtype> dtype_named(DtypeNaming naming, std::string_view name);
/// Neither boolean nor integer.
bool is_floating(Dtype dtype);

struct Array {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;   // empty: a single number
  std::vector<float> values;  // the last axis runs fastest
};

struct ArrayFile {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;  // safetensors' own; an .npz has none
};

/// The text of a metadata field; nothing where the file has no such field.
std::optional<std::string> metadata_text(const ArrayFile& file, const std::string& key);

/// The largest size of one axis and the largest product of all that any reader accepts: their bytes still fit an Index.
inline constexpr std::size_t kMostElements = within_memory(std::uint64_t{1} << 43) / 8;

/// Elements of an array of this shape; nothing where an axis is negative or the product exceeds kMostElements.
std::optional<std::size_t> num_elements(const std::vector<Index>& shape);

/// `(4, 6)`, `(12,)`, `()`, as NumPy writes a shape.
std::string shape_text(const std::vector<Index>& shape);

/// Appends the elements in `bytes` (a whole number of them) to `values`, each widened or rounded to float32.
void append_widened(Dtype dtype, bool big_endian, std::string_view bytes, std::vector<float>& values);

}  // namespace headlight
