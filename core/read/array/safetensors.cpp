#include "read/array/safetensors.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/file.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
/// Far above any real header (a few hundred bytes an array), low enough that parsing one costs little memory.
constexpr std::size_t kMostHeaderBytes = std::size_t{32} << 20;

/// One array's entry in the header.
struct Entry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::size_t begin = 0, end = 0;  // in the data
};

std::optional<std::vector<Index>> sizes(const json& list) {
  constexpr std::size_t kMostDimensions = 32;
  if (!list.is_array() || list.size() > kMostDimensions) return std::nullopt;
  std::vector<Index> result;
  for (const json& size : list) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > kMostElements) return std::nullopt;
    result.push_back(static_cast<Index>(size.get<std::uint64_t>()));
  }
  return result;
}

Result<Entry> parse_entry(std::string_view where, const std::string& name, const json& fields) {
  const std::string what = printable(name);
  if (!fields.is_object())
    return bad_input(where, what, "an object with dtype, shape and data_offsets", "none", ErrorCode::file_damaged);
  Entry entry;
  entry.name = name;

  const auto dtype = fields.find("dtype");
  if (dtype == fields.end() || !dtype->is_string())
    return bad_input(where, what + ": dtype", "a name", "none", ErrorCode::file_damaged);
  const auto known = dtype_named(DtypeNaming::safetensors, dtype->get_ref<const std::string&>());
  if (!known)
    return bad_input(where, what + ": dtype", "BOOL, U8 to I64, F16, BF16, F32 or F64",
                     printable(dtype->get_ref<const std::string&>()), ErrorCode::bad_value);
  entry.dtype = *known;

  const auto shape = fields.find("shape");
  const auto shape_sizes = shape == fields.end() ? std::nullopt : sizes(*shape);
  const auto count = shape_sizes ? num_elements(*shape_sizes) : std::nullopt;
  if (!count)
    return bad_input(where, what + ": shape", "a list of sizes",
                     shape_sizes ? shape_text(*shape_sizes) + ", too large" : "something else",
                     ErrorCode::file_damaged);
  entry.shape = *shape_sizes;

  const auto offsets = fields.find("data_offsets");
  const auto range = offsets == fields.end() ? std::nullopt : sizes(*offsets);
  if (!range || range->size() != 2 || (*range)[0] > (*range)[1])
    return bad_input(where, what + ": data_offsets", "[begin, end]", "something else", ErrorCode::file_damaged);
  entry.begin = static_cast<std::size_t>((*range)[0]);
  entry.end = static_cast<std::size_t>((*range)[1]);
  if (entry.end - entry.begin != *count * width(entry.dtype))
    return bad_input(where, what + ": data_offsets",
                     std::to_string(*count * width(entry.dtype)) + " bytes for " +
                         std::string(headlight::name(entry.dtype)) + " " + shape_text(entry.shape),
                     std::to_string(entry.end - entry.begin), ErrorCode::file_damaged);
  return entry;
}

Status check_tiling(std::string_view where, std::vector<Entry>& entries, std::size_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::size_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.end > data_size)
      return bad_input(where, printable(entry.name) + ": data_offsets",
                       "an end within the " + std::to_string(data_size) + " bytes of data", std::to_string(entry.end),
                       ErrorCode::file_too_short);
    if (entry.begin != at)
      return bad_input(where, printable(entry.name) + ": data_offsets",
                       "a begin of " + std::to_string(at) + ", where the array before it ends",
                       std::to_string(entry.begin), ErrorCode::file_damaged);
    at = entry.end;
  }
  if (at != data_size)
    return bad_input(where, "size", std::to_string(at) + " bytes of data", std::to_string(data_size),
                     data_size < at ? ErrorCode::file_too_short : ErrorCode::file_damaged);
  return Done{};
}

Status take_metadata(std::string_view where, const json& fields, std::map<std::string, std::string>& metadata) {
  if (!fields.is_object())
    return bad_input(where, "__metadata__", "an object of strings", fields.type_name(), ErrorCode::file_damaged);
  for (const auto& [key, value] : fields.items()) {
    if (!value.is_string())
      return bad_input(where, "__metadata__: " + printable(key), "a string", value.type_name(),
                       ErrorCode::file_damaged);
    metadata.emplace(key, value.get_ref<const std::string&>());
  }
  return Done{};
}

}  // namespace

Result<StoredArrays> locate_safetensors(std::string_view where, std::string_view bytes) {
  if (bytes.size() < kLengthBytes)
    return bad_input(where, "size", "a safetensors file of at least 8 bytes", std::to_string(bytes.size()),
                     bytes.empty() ? ErrorCode::file_empty : ErrorCode::file_too_short);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (header_size > std::min(bytes.size(), kMostHeaderBytes))
    return bad_input(where, "header length", "at most " + std::to_string(std::min(bytes.size(), kMostHeaderBytes)),
                     std::to_string(header_size), ErrorCode::file_damaged);
  const std::string_view text = bytes.substr(0, header_size);
  if (text.empty() || text.front() != '{')
    return bad_input(where, "header", "a JSON object", "something else", ErrorCode::file_damaged);
  auto header = parse_json(std::string(where) + ": header", text);
  if (!header) return header.error();
  const std::string_view data = bytes.substr(header_size);

  StoredArrays file;
  std::vector<Entry> entries;
  for (const auto& [name, fields] : header->items()) {
    if (name == "__metadata__") {
      TRY(take_metadata(where, fields, file.metadata));
      continue;
    }
    entries.push_back(TRY(parse_entry(where, name, fields)));
  }
  TRY(check_tiling(where, entries, data.size()));
  for (Entry& entry : entries)
    file.arrays.emplace(std::move(entry.name), StoredArray{.dtype = entry.dtype,
                                                           .shape = std::move(entry.shape),
                                                           .bytes = data.substr(entry.begin, entry.end - entry.begin),
                                                           .where = std::string(where)});
  return file;
}

Result<StoredArrays> map_safetensors(const std::filesystem::path& path) {
  return mapped_arrays(path, locate_safetensors);
}

Result<ArrayFile> parse_safetensors(std::string_view where, std::string_view bytes) {
  const auto stored = TRY(locate_safetensors(where, bytes));
  return in_memory(stored);
}

Result<ArrayFile> read_safetensors(const std::filesystem::path& path) {
  if (!is_regular(path)) {
    const auto bytes = TRY(read_file(path));
    return parse_safetensors(path.string(), bytes);
  }
  const auto stored = TRY(map_safetensors(path));
  ArrayFile file = in_memory(stored);
  for (const auto& [name, array] : stored.arrays)
    if (was_shortened(array.mapped)) return shortened(path.string());
  return file;
}

}  // namespace headlight
