#include "read/gguf/gguf_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/mapped_file.h"
#include "base/utf8.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "GGUF", kEnding = ".gguf";
constexpr std::uint64_t kMostEntries = 65536, kMostTensors = 262144, kLongestKey = 65535, kMostShardFiles = 1024;
constexpr std::uint32_t kMostAxes = 4;
constexpr std::int64_t kMostAlignment = std::int64_t{1} << 20;

enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };
constexpr std::optional<Dtype> kTypes[] = {Dtype::u8,  Dtype::i8,  Dtype::u16,     Dtype::i16,   Dtype::u32,
                                           Dtype::i32, Dtype::f32, Dtype::boolean, std::nullopt, std::nullopt,
                                           Dtype::u64, Dtype::i64, Dtype::f64};

/// The kinds of numbers, in the order of ggml's numbers; some are no longer written.
constexpr std::string_view kTensorKinds =
    "F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL "
    "IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4 IQ4_NL_4_8 "
    "IQ4_NL_8_8 MXFP4 NVFP4";

/// Nothing: it is not read.
std::optional<Dtype> dtype_of_kind(std::string_view kind) {
  for (Dtype block = Dtype::q4_0; block <= Dtype::iq4_xs; block = static_cast<Dtype>(static_cast<int>(block) + 1))
    if (name(block) == kind) return block;
  return dtype_named(DtypeNaming::safetensors, kind);
}

/// Reads from the beginning; after the first wrong thing every answer is empty.
class GgufReader {
 public:
  GgufReader(std::string_view where, std::string_view bytes) : where_(where), bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    const std::string_view from = take(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }

  std::string_view text() { return take(number<std::uint64_t>()); }

  /// A name or key; `what` it is.
  std::string name(std::string_view what) {
    const auto length = number<std::uint64_t>();
    if (!error_ && (length == 0 || length > kLongestKey))
      fail(what, "a name of 1 to " + std::to_string(kLongestKey) + " bytes", std::to_string(length));
    const std::string_view text = take(length);
    if (!error_ && first_invalid_utf8(text)) fail(what, "a name in UTF-8", printable(text));
    return std::string(error_ ? std::string_view() : text);
  }

  std::string_view take(std::uint64_t length) {
    if (error_) return {};
    if (length > left()) {
      fail("size", std::to_string(length) + " more bytes at " + std::to_string(at_), std::to_string(left()),
           ErrorCode::file_too_short);
      return {};
    }
    const std::string_view part = bytes_.substr(at_, length);
    at_ += length;
    return part;
  }

  void fail(std::string_view what, std::string_view expected, std::string_view found,
            ErrorCode code = ErrorCode::file_damaged) {
    if (!error_) error_ = bad_input(where_, what, expected, found, code);
  }

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view where_, bytes_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

std::string type_text(std::uint32_t type) { return "type " + std::to_string(type); }

GgufList read_list(GgufReader& reader, const std::string& key) {
  GgufList list;
  const auto type = reader.number<std::uint32_t>();
  list.count = reader.number<std::uint64_t>();
  constexpr std::size_t kLengthOfText = 8;
  if (type == static_cast<std::uint32_t>(GgufType::text)) {
    if (list.count > reader.left() / kLengthOfText)
      reader.fail(printable(key), "texts within the file", std::to_string(list.count), ErrorCode::file_too_short);
    for (std::uint64_t i = 0; i < list.count && !reader.error(); ++i) list.texts.push_back(reader.text());
    return list;
  }
  if (type >= std::size(kTypes) || !kTypes[type]) {
    reader.fail(printable(key), "a list of numbers or texts", type_text(type), ErrorCode::bad_value);
    return list;
  }
  list.dtype = kTypes[type];
  const std::size_t size = width(*list.dtype);
  if (list.count > reader.left() / size)
    reader.fail(printable(key), "numbers within the file", std::to_string(list.count), ErrorCode::file_too_short);
  list.bytes = reader.take(list.count * size);
  return list;
}

double finite(GgufReader& reader, const std::string& key, double number) {
  if (!std::isfinite(number))
    reader.fail(printable(key), "a finite number", formatted("%g", number), ErrorCode::bad_value);
  return number;
}

GgufValue read_value(GgufReader& reader, const std::string& key) {
  const auto type = reader.number<std::uint32_t>();
  switch (static_cast<GgufType>(type)) {
    case GgufType::u8: return std::int64_t{reader.number<std::uint8_t>()};
    case GgufType::i8: return std::int64_t{reader.number<std::int8_t>()};
    case GgufType::u16: return std::int64_t{reader.number<std::uint16_t>()};
    case GgufType::i16: return std::int64_t{reader.number<std::int16_t>()};
    case GgufType::u32: return std::int64_t{reader.number<std::uint32_t>()};
    case GgufType::i32: return std::int64_t{reader.number<std::int32_t>()};
    case GgufType::f32: return finite(reader, key, reader.number<float>());
    case GgufType::boolean: return reader.number<std::uint8_t>() != 0;
    case GgufType::text: return reader.text();
    case GgufType::list: return read_list(reader, key);
    case GgufType::u64: {
      const auto value = reader.number<std::uint64_t>();
      if (value > static_cast<std::uint64_t>(INT64_MAX)) return static_cast<double>(value);
      return static_cast<std::int64_t>(value);
    }
    case GgufType::i64: return reader.number<std::int64_t>();
    case GgufType::f64: return finite(reader, key, reader.number<double>());
  }
  reader.fail(printable(key), "a value of a type from 0 to 12", type_text(type), ErrorCode::bad_value);
  return false;
}

struct TensorEntry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::uint64_t begin = 0, size = 0;  // in the data
};

TensorEntry read_tensor_entry(GgufReader& reader) {
  TensorEntry entry;
  entry.name = reader.name("a tensor's name");
  const std::string what = printable(entry.name);
  const auto axes = reader.number<std::uint32_t>();
  if (axes == 0 || axes > kMostAxes) reader.fail(what + ": shape", "1 to 4 axes", std::to_string(axes));
  for (std::uint32_t axis = 0; axis < axes && !reader.error(); ++axis) {
    const auto size = reader.number<std::uint64_t>();
    if (size == 0 || size > kMostElements) reader.fail(what + ": shape", "sizes from 1", std::to_string(size));
    entry.shape.insert(entry.shape.begin(), static_cast<Index>(size));
  }
  const auto number = reader.number<std::uint32_t>();
  entry.begin = reader.number<std::uint64_t>();
  if (reader.error()) return entry;
  const auto kinds = split_at(' ', kTensorKinds);
  const std::string kind = number < kinds.size() ? std::string(kinds[number]) : type_text(number);
  const auto dtype = dtype_of_kind(kind);
  if (!dtype) {
    reader.fail(what, "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL or IQ4_XS", kind,
                ErrorCode::quantized_weights);
    return entry;
  }
  entry.dtype = *dtype;
  const auto count = num_elements(entry.shape);
  const auto block = static_cast<Index>(block_size(entry.dtype));
  if (!count) reader.fail(what + ": shape", "a tensor that memory can hold", shape_text(entry.shape));
  else if (entry.shape.back() % block != 0)
    reader.fail(what + ": shape", "rows of whole blocks of " + std::to_string(block), shape_text(entry.shape));
  else entry.size = bytes_of(entry.dtype, *count);
  return entry;
}

/// Each tensor within the data, on its place, and none over another.
Status check_places(std::string_view where, std::vector<TensorEntry>& entries, std::uint64_t alignment,
                    std::size_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  for (const TensorEntry& entry : entries) {
    const std::string what = printable(entry.name) + ": offset";
    if (entry.begin % alignment != 0)
      return bad_input(where, what, "a multiple of " + std::to_string(alignment), std::to_string(entry.begin),
                       ErrorCode::file_damaged);
    if (entry.begin < end)
      return bad_input(where, what, "at least " + std::to_string(end) + ", where the tensor before it ends",
                       std::to_string(entry.begin), ErrorCode::file_damaged);
    if (entry.begin > data_size || entry.size > data_size - entry.begin)
      return bad_input(where, what,
                       std::to_string(entry.size) + " bytes within the " + std::to_string(data_size) + " of data",
                       std::to_string(entry.begin), ErrorCode::file_too_short);
    end = entry.begin + entry.size;
  }
  return Done{};
}

/// The counts of tensors and of metadata behind the version.
std::pair<std::uint64_t, std::uint64_t> read_gguf_header(GgufReader& reader) {
  if (reader.take(kMagic.size()) != kMagic) reader.fail("", "a GGUF file", "another file", ErrorCode::unknown_kind);
  const auto version = reader.number<std::uint32_t>();
  if (version == 0x02000000 || version == 0x03000000)
    reader.fail("version", "a little-endian file", "a big-endian one", ErrorCode::unknown_kind);
  if (version != 2 && version != 3) reader.fail("version", "2 or 3", std::to_string(version), ErrorCode::unknown_kind);
  const auto tensors = reader.number<std::uint64_t>(), entries = reader.number<std::uint64_t>();
  if (tensors > kMostTensors)
    reader.fail("tensors", "at most " + std::to_string(kMostTensors), std::to_string(tensors));
  if (entries > kMostEntries)
    reader.fail("metadata", "at most " + std::to_string(kMostEntries) + " keys", std::to_string(entries));
  return {tensors, entries};
}

std::string shard_name(const std::string& stem, std::int64_t shard, std::int64_t count) {
  return stem + formatted("-%05lld-of-%05lld", static_cast<long long>(shard), static_cast<long long>(count)) +
         std::string(kEnding);
}

Result<GgufFile> map_one(const fs::path& path) {
  const auto mapped = TRY(MappedFile::open(path));
  auto file = locate_gguf(path.string(), mapped->bytes());
  if (was_shortened(mapped.get())) return shortened(path.string());
  if (const std::string other = file ? "" : stand_in(path); !other.empty())
    return bad_input(path.string(), "", "a GGUF file", other, ErrorCode::file_damaged);
  if (!file) return file;
  for (auto& [name, array] : file->stored.arrays) {
    array.owner = mapped;
    array.mapped = mapped.get();
  }
  file->files.push_back(mapped);
  return file;
}

}  // namespace

std::vector<float> GgufList::numbers() const {
  std::vector<float> values;
  if (!dtype) return values;
  values.reserve(count);
  append_widened(*dtype, false, bytes, values);
  return values;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto at = metadata.find(key);
  return at == metadata.end() ? nullptr : &at->second;
}

const GgufList* GgufFile::list(std::string_view key) const {
  const GgufValue* found = find(key);
  return found ? std::get_if<GgufList>(found) : nullptr;
}

std::optional<double> GgufFile::number(std::string_view key) const {
  if (const auto whole = value<std::int64_t>(key)) return static_cast<double>(*whole);
  return value<double>(key);
}

Result<GgufFile> locate_gguf(std::string_view where, std::string_view bytes) {
  GgufReader reader(where, bytes);
  GgufFile file{.where = std::string(where), .metadata = {}, .stored = {}};
  const auto [tensors, metadata] = read_gguf_header(reader);
  for (std::uint64_t i = 0; i < metadata && !reader.error(); ++i) {
    std::string key = reader.name("metadata");
    GgufValue value = read_value(reader, key);
    if (reader.error()) break;
    const auto [at, fresh] = file.metadata.emplace(std::move(key), std::move(value));
    if (!fresh) reader.fail(printable(at->first), "one value", "two");
  }
  const bool stated = file.find("general.alignment") != nullptr;
  const std::int64_t alignment = file.value<std::int64_t>("general.alignment").value_or(stated ? 0 : 32);
  if (alignment < 1 || alignment > kMostAlignment || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
    reader.fail("general.alignment", "a power of two", std::to_string(alignment));
  std::vector<TensorEntry> entries;
  for (std::uint64_t i = 0; i < tensors && !reader.error(); ++i) entries.push_back(read_tensor_entry(reader));
  if (reader.error()) return *reader.error();
  const std::size_t apart = static_cast<std::size_t>(alignment);
  const std::size_t begin = std::min((reader.at() + apart - 1) / apart * apart, bytes.size());
  const std::string_view data = bytes.substr(begin);
  TRY(check_places(where, entries, apart, data.size()));
  for (TensorEntry& entry : entries) {
    const std::string what = printable(entry.name);
    const auto [at, fresh] =
        file.stored.arrays.emplace(std::move(entry.name), StoredArray{.dtype = entry.dtype,
                                                                      .shape = std::move(entry.shape),
                                                                      .bytes = data.substr(entry.begin, entry.size),
                                                                      .where = std::string(where)});
    if (!fresh) return bad_input(where, what, "one tensor of this name", "two", ErrorCode::file_damaged);
  }
  return file;
}

Result<GgufFile> map_gguf(const fs::path& path) {
  auto file = TRY(map_one(path));
  const std::int64_t shards = file.value<std::int64_t>("split.count").value_or(1);
  if (shards <= 1) return file;
  const std::string own = path.filename().string();
  const std::int64_t number = file.value<std::int64_t>("split.no").value_or(-1) + 1;
  if (shards > static_cast<std::int64_t>(kMostShardFiles) || number < 1 || number > shards)
    return bad_input(path.string(), "split.count", "at most " + std::to_string(kMostShardFiles) + " shards",
                     std::to_string(shards), ErrorCode::file_damaged);
  const std::string ending = shard_name("", number, shards);
  if (!own.ends_with(ending))
    return bad_input(path.string(), "name", "an ending in " + ending + ", as split.count says", own,
                     ErrorCode::file_damaged);
  const std::string stem = own.substr(0, own.size() - ending.size());
  for (std::int64_t shard = 1; shard <= shards; ++shard) {
    if (shard == number) continue;
    const fs::path other = path.parent_path() / shard_name(stem, shard, shards);
    auto part = TRY(map_one(other));
    for (auto& [name, array] : part.stored.arrays)
      if (!file.stored.arrays.emplace(name, std::move(array)).second)
        return bad_input(other.string(), printable(name), "each tensor in one shard", "it in another too",
                         ErrorCode::file_damaged);
    file.metadata.merge(part.metadata);
    file.files.push_back(part.files.front());
  }
  return file;
}

bool is_gguf(const fs::path& path) {
  if (!is_regular(path)) return false;  // a pipe is not waited for
  std::ifstream file(path, std::ios::binary);
  char begin[4] = {};
  return file.read(begin, sizeof begin) && std::string_view(begin, sizeof begin) == kMagic;
}

}  // namespace headlight
