#include "read/array/array.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

#include "base/file.h"
#include "model/half.h"

namespace headlight {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read as little-endian memory");

template <class Stored, class Widen>
void append_as(bool big_endian, std::string_view bytes, std::vector<float>& values, const Widen& widen) {
  std::size_t into = values.size();
  values.resize(into + bytes.size() / sizeof(Stored));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Stored)) {
    char element[sizeof(Stored)];
    std::memcpy(element, bytes.data() + at, sizeof(Stored));
    if (big_endian) std::reverse(element, element + sizeof(Stored));
    Stored stored;
    std::memcpy(&stored, element, sizeof(Stored));
    values[into++] = widen(stored);
  }
}

template <class Number>
void append_numbers(bool big_endian, std::string_view bytes, std::vector<float>& values) {
  append_as<Number>(big_endian, bytes, values, [](Number stored) { return static_cast<float>(stored); });
}

struct DtypeRow {
  std::size_t width;
  std::string_view name;
  std::string_view named[3];  // by DtypeNaming; empty: the format has no such type
};
constexpr DtypeRow kDtypes[] = {  // in the order of Dtype, without those in blocks
    {1, "bool", {"b1", "BOOL", "Bool"}},       {1, "uint8", {"u1", "U8", "Byte"}},
    {1, "int8", {"i1", "I8", "Char"}},         {2, "uint16", {"u2", "U16", ""}},
    {2, "int16", {"i2", "I16", "Short"}},      {4, "uint32", {"u4", "U32", ""}},
    {4, "int32", {"i4", "I32", "Int"}},        {8, "uint64", {"u8", "U64", ""}},
    {8, "int64", {"i8", "I64", "Long"}},       {2, "float16", {"f2", "F16", "Half"}},
    {2, "bfloat16", {"", "BF16", "BFloat16"}}, {4, "float32", {"f4", "F32", "Float"}},
    {8, "float64", {"f8", "F64", "Double"}},   {1, "float8_e4m3fn", {"", "F8_E4M3", ""}}};

const DtypeRow& row_of(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::optional<WeightKind> weight_kind(Dtype dtype) {
  if (dtype == Dtype::f32) return WeightKind::float32;
  if (dtype == Dtype::f16) return WeightKind::float16;
  if (dtype == Dtype::bf16) return WeightKind::bfloat16;
  if (!is_in_blocks(dtype)) return std::nullopt;
  return static_cast<WeightKind>(static_cast<int>(dtype) - static_cast<int>(Dtype::q4_0) +
                                 static_cast<int>(WeightKind::q4_0));
}

std::size_t width(Dtype dtype) {
  return is_in_blocks(dtype) ? static_cast<std::size_t>(blocks_of(*weight_kind(dtype)).bytes) : row_of(dtype).width;
}

std::size_t block_size(Dtype dtype) {
  return is_in_blocks(dtype) ? static_cast<std::size_t>(blocks_of(*weight_kind(dtype)).numbers) : 1;
}

std::string_view name(Dtype dtype) {
  return is_in_blocks(dtype) ? blocks_of(*weight_kind(dtype)).name : row_of(dtype).name;
}

std::optional<Dtype> dtype_named(DtypeNaming naming, std::string_view name) {
  const auto row = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const DtypeRow& one) {
    return !name.empty() && one.named[static_cast<std::size_t>(naming)] == name;
  });
  return row == std::end(kDtypes) ? std::nullopt : std::optional(static_cast<Dtype>(row - std::begin(kDtypes)));
}

bool is_floating(Dtype dtype) { return weight_kind(dtype).has_value() || dtype == Dtype::f64 || dtype == Dtype::f8; }

std::optional<std::size_t> num_elements(const std::vector<Index>& shape) {
  std::size_t product = 1;
  for (const Index size : shape) {
    if (size < 0 || static_cast<std::size_t>(size) > kMostElements) return std::nullopt;
    if (size == 0) product = 0;
    if (product > 0 && static_cast<std::size_t>(size) > kMostElements / product) return std::nullopt;
    product *= static_cast<std::size_t>(size);
  }
  return product;
}

std::string shape_text(const std::vector<Index>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    if (axis == 8) return text + "…)";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

const Array* find_array(const std::map<std::string, Array>& arrays, const std::string& name) {
  const auto at = arrays.find(name);
  return at == arrays.end() ? nullptr : &at->second;
}

Array array_of(const Matrix& numbers) {
  return {.shape = {numbers.rows(), numbers.cols()}, .values = {numbers.data(), numbers.data() + numbers.size()}};
}

std::optional<std::string> metadata_text(const ArrayFile& file, const std::string& key) {
  const auto at = file.metadata.find(key);
  return at == file.metadata.end() ? std::nullopt : std::optional(at->second);
}

void append_widened(Dtype dtype, bool big_endian, std::string_view bytes, std::vector<float>& values) {
  assert(bytes.size() % width(dtype) == 0);
  switch (dtype) {
    case Dtype::boolean:
      return append_as<std::uint8_t>(false, bytes, values, [](std::uint8_t byte) { return byte != 0 ? 1.0f : 0.0f; });
    case Dtype::u8: return append_numbers<std::uint8_t>(big_endian, bytes, values);
    case Dtype::i8: return append_numbers<std::int8_t>(big_endian, bytes, values);
    case Dtype::u16: return append_numbers<std::uint16_t>(big_endian, bytes, values);
    case Dtype::i16: return append_numbers<std::int16_t>(big_endian, bytes, values);
    case Dtype::u32: return append_numbers<std::uint32_t>(big_endian, bytes, values);
    case Dtype::i32: return append_numbers<std::int32_t>(big_endian, bytes, values);
    case Dtype::u64: return append_numbers<std::uint64_t>(big_endian, bytes, values);
    case Dtype::i64: return append_numbers<std::int64_t>(big_endian, bytes, values);
    case Dtype::f16: return append_as<std::uint16_t>(big_endian, bytes, values, from_float16);
    case Dtype::bf16: return append_as<std::uint16_t>(big_endian, bytes, values, from_bfloat16);
    case Dtype::f32: return append_numbers<float>(big_endian, bytes, values);
    case Dtype::f64: return append_numbers<double>(big_endian, bytes, values);
    case Dtype::f8: return append_as<std::uint8_t>(false, bytes, values, from_float8);
    default: break;
  }
  const WeightBlocks& blocks = blocks_of(*weight_kind(dtype));
  const std::size_t count = bytes.size() / width(dtype), before = values.size();
  values.resize(before + count * block_size(dtype));
  blocks.widen(bytes.data(), static_cast<Index>(count), values.data() + before);
}

Result<StoredArrays> mapped_arrays(const std::filesystem::path& path,
                                   Result<StoredArrays> (*locate)(std::string_view where, std::string_view bytes)) {
  const auto mapped = TRY(MappedFile::open(path));
  auto file = locate(path.string(), mapped->bytes());
  if (was_shortened(mapped.get())) return shortened(path.string());
  if (const std::string other = file ? "" : stand_in(path); !other.empty())
    return bad_input(path.string(), "", "the file itself", other, ErrorCode::file_damaged);
  if (!file) return file;
  for (auto& [name, array] : file->arrays)
    if (!array.owner) {
      array.owner = mapped;
      array.mapped = mapped.get();
    }
  return file;
}

ArrayFile in_memory(const StoredArrays& stored) {
  ArrayFile file;
  file.metadata = stored.metadata;
  for (const auto& [name, from] : stored.arrays) {
    Array array{.dtype = from.dtype, .shape = from.shape, .values = {}};
    array.values.reserve(count_of(from));
    append_widened(from.dtype, false, from.bytes, array.values);
    file.arrays.emplace(name, std::move(array));
  }
  return file;
}

StoredArrays stored_in_memory(std::string_view where, ArrayFile file) {
  const auto kept = std::make_shared<const ArrayFile>(std::move(file));
  StoredArrays stored{.arrays = {}, .metadata = kept->metadata};
  for (const auto& [name, array] : kept->arrays) {
    const std::string_view bytes(reinterpret_cast<const char*>(array.values.data()),
                                 array.values.size() * sizeof(float));
    stored.arrays.emplace(name, StoredArray{.dtype = is_floating(array.dtype) ? Dtype::f32 : array.dtype,
                                            .shape = array.shape,
                                            .bytes = bytes,
                                            .where = std::string(where),
                                            .owner = kept});
  }
  return stored;
}

}  // namespace headlight
