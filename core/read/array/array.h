// Named arrays as they come out of a file: float32 whatever they were stored as, in C order, with their shape; or where
// they lie in their file, their bytes read on first access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/matrix.h"
#include "base/result.h"
#include "base/utf8.h"
#include "model/weight_blocks.h"

namespace headlight {

/// How an array was stored. Boolean is remembered because a mask of booleans means something else than one of floats.
/// f8: E4M3, as float8_e4m3fn of torch. From q4_0 on: in blocks, as WeightKind has them and in its order.
// clang-format off
enum class Dtype { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, f8,
                   q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, iq4_xs,
                   grouped_4, grouped_8, int8, float8, nf4, fp4 };
// clang-format on

/// Bytes of one element as stored, or of one block.
std::size_t width(Dtype dtype);
/// Elements of one block; 1 where each has bytes of its own.
std::size_t block_size(Dtype dtype);
/// Bytes of so many elements, which are whole blocks.
inline std::size_t bytes_of(Dtype dtype, std::size_t count) { return count / block_size(dtype) * width(dtype); }
inline bool is_in_blocks(Dtype dtype) { return dtype >= Dtype::q4_0; }
/// How a weight of these numbers stays in its file; none: it cannot.
std::optional<WeightKind> weight_kind(Dtype dtype);
/// NumPy's name: bool, uint8, …, float32.
std::string_view name(Dtype dtype);
/// The type of this name in the files of one format: `f4`, `F32`, `Float` (as in FloatStorage).
enum class DtypeNaming { npy, safetensors, torch };
std::optional<Dtype> dtype_named(DtypeNaming naming, std::string_view name);
/// Neither boolean nor integer; blocks are floating-point numbers.
bool is_floating(Dtype dtype);

struct Array {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;   // empty: a single number
  std::vector<float> values;  // the last axis runs fastest
};

struct ArrayFile {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;  // of a safetensors file; an .npz has none
};

/// The array of this name; null where there is none.
const Array* find_array(const std::map<std::string, Array>& arrays, const std::string& name);
/// (rows, columns) in float32.
Array array_of(const Matrix& numbers);

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

struct StoredArray {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::string_view bytes;                  // little-endian, on any address
  std::string where;                       // the file's name in messages
  std::shared_ptr<const void> owner = {};  // owns the bytes; null: the caller does
  const MappedFile* mapped = nullptr;      // the owner where it is a file
};

struct StoredArrays {
  std::map<std::string, StoredArray> arrays;
  std::map<std::string, std::string> metadata;  // of a safetensors file
};

/// Whether weights are packed as they are read, or stay in their file and are packed once they are used often: the
/// answer to one question then comes sooner. Until then the file must stay as it is.
enum class Reading { whole, as_used };

/// The arrays of a file as `locate` finds them in its bytes, which stay mapped while one of the arrays is there.
Result<StoredArrays> mapped_arrays(const std::filesystem::path& path,
                                   Result<StoredArrays> (*locate)(std::string_view where, std::string_view bytes));
/// All of them as float32 in memory.
ArrayFile in_memory(const StoredArrays& stored);
/// Arrays in memory as if they lay in a file.
StoredArrays stored_in_memory(std::string_view where, ArrayFile file);

/// Fewer than 32 bits a number: f16, bf16 or blocks.
inline bool is_narrow(const StoredArray& array) {
  return array.dtype == Dtype::f16 || array.dtype == Dtype::bf16 || is_in_blocks(array.dtype);
}
inline std::size_t count_of(const StoredArray& array) {
  return array.bytes.size() / width(array.dtype) * block_size(array.dtype);
}

/// The number in `count` bytes from `offset`, at most 8; bytes behind the end are zero.
inline std::uint64_t little_endian(std::string_view bytes, std::size_t offset, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count && offset + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  return value;
}

}  // namespace headlight
