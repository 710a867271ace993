#include "read/array/npz.h"

#include <zip.h>

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/formatted.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
#include "read/array/npy.h"
#include "read/array/safetensors.h"
#include "read/array/torch_file.h"
#include "read/array/zip_directory.h"

namespace headlight {
namespace {

constexpr std::size_t kMostStringBytes = std::size_t{64} << 20;  // the words of a text, not a text
constexpr std::size_t kChunk = 1 << 20;                          // a multiple of every element's width

Error unreadable(std::string_view where, zip_error_t& reason) {
  Error error =
      bad_input(where, "archive", "a readable .npz (zip)", zip_error_strerror(&reason), ErrorCode::file_damaged);
  zip_error_fini(&reason);
  return error;
}

/// The next `size` bytes of a member; fewer only at its end.
Result<std::string> read_bytes(std::string_view where, zip_file_t* member, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const zip_int64_t got = zip_fread(member, bytes.data() + filled, size - filled);
    if (got < 0) return bad_input(where, "data", "readable bytes", zip_file_strerror(member), ErrorCode::file_damaged);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

/// A member that was opened, and the contents of its header; its data are to be read next.
struct OpenMember {
  ZipMember file;
  std::string where;  // in messages
  NpyHeader header;
  std::optional<NpyStrings> strings = {};  // where it holds text instead of numbers
  std::size_t data_at = 0;

  std::size_t size() const { return header.count * width(header.dtype); }
  std::string expected() const {
    return std::to_string(data_at + size()) + " bytes for " + std::string(name(header.dtype)) + " " +
           shape_text(header.shape);
  }
};

Result<OpenMember> open_member(std::string_view where, zip_t* archive, zip_uint64_t index, std::string& array_name) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
      (stat.valid & ZIP_STAT_SIZE) == 0)
    return bad_input(where, "member " + std::to_string(index), "a name and a size", zip_strerror(archive),
                     ErrorCode::file_damaged);
  const std::string_view member_name = stat.name;
  OpenMember member{
      .file = nullptr, .where = std::string(where) + ": " + printable(member_name), .header = {}, .strings = {}};
  if (!member_name.ends_with(".npy"))
    return bad_input(member.where, "", "an array (.npy)", "another file", ErrorCode::bad_value);
  array_name = member_name.substr(0, member_name.size() - 4);
  member.file.reset(zip_fopen_index(archive, index, 0));
  if (!member.file)
    return bad_input(member.where, "member", "a stored or deflated array", zip_strerror(archive),
                     ErrorCode::file_damaged);

  const auto start = TRY(read_bytes(member.where, member.file.get(), kNpyPrefix));
  const auto data_at = TRY(npy_data_offset(member.where, start));
  // A header never ends before the prefix does: it holds at least a dictionary.
  const auto rest =
      TRY(read_bytes(member.where, member.file.get(), data_at > start.size() ? data_at - start.size() : 0));
  member.data_at = data_at;
  member.strings = parse_npy_strings(start + rest);
  if (member.strings) {
    const std::size_t bytes = member.strings->bytes();
    if (bytes > kMostStringBytes || member.strings->count > kMostStringBytes / 4)
      return bad_input(member.where, "size", "at most " + std::to_string(kMostStringBytes) + " bytes of text",
                       std::to_string(std::max(bytes, 4 * member.strings->count)), ErrorCode::too_large);
    return member;
  }
  member.header = TRY(parse_npy_header(member.where, start + rest));
  if (stat.size != member.data_at + member.size())
    return bad_input(member.where, "size", member.expected(), std::to_string(stat.size), ErrorCode::file_damaged);
  return member;
}

/// Bytes up to the zeros that fill them up; one that is no UTF-8 (a part of a character) as <0xE4>.
std::string text_of_bytes(std::string_view bytes) {
  while (bytes.ends_with('\0')) bytes.remove_suffix(1);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t good = first_invalid_utf8(bytes).value_or(bytes.size());
    text += bytes.substr(0, good);
    if (good < bytes.size()) text += formatted("<0x%02X>", static_cast<unsigned char>(bytes[good]));
    bytes.remove_prefix(std::min(good + 1, bytes.size()));
  }
  return text;
}

/// A string as it is, several as a JSON list: as the metadata of safetensors have them.
Result<std::string> read_strings(OpenMember& member) {
  const NpyStrings& strings = *member.strings;
  const std::string& where = member.where;
  const auto bytes = TRY(read_bytes(where, member.file.get(), strings.bytes()));
  if (bytes.size() != strings.bytes())
    return bad_input(where, "size", std::to_string(strings.bytes()) + " bytes of text", std::to_string(bytes.size()),
                     ErrorCode::file_damaged);
  std::vector<std::string> texts(strings.count);
  for (std::size_t i = 0; i < texts.size() && strings.width == 1; ++i)
    texts[i] = text_of_bytes(std::string_view(bytes).substr(i * strings.letters, strings.letters));
  for (std::size_t i = 0; i < strings.count * strings.letters && strings.width == 4; ++i) {
    const auto letter = static_cast<std::uint32_t>(little_endian(bytes, 4 * i, 4));
    if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000))
      return bad_input(where, "text", "UTF-32", "other numbers", ErrorCode::file_damaged);
    if (letter != 0) append_utf8(texts[i / strings.letters], letter);
  }
  return strings.shape.empty() ? texts[0] : nlohmann::json(texts).dump();
}

Result<Array> read_data(OpenMember& member) {
  const NpyHeader& header = member.header;
  const std::size_t size = member.size();
  std::vector<float> values;
  values.reserve(header.count);
  for (std::size_t at = 0; at < size;) {
    const auto chunk = TRY(read_bytes(member.where, member.file.get(), std::min(kChunk, size - at)));
    at += chunk.size();
    if (chunk.size() < kChunk && at < size)
      return bad_input(member.where, "size", member.expected(), std::to_string(member.data_at + at),
                       ErrorCode::file_damaged);
    append_widened(header.dtype, header.big_endian, chunk, values);
  }
  // The checksum is compared when the end is read.
  const auto surplus = TRY(read_bytes(member.where, member.file.get(), 1));
  if (!surplus.empty()) return bad_input(member.where, "size", member.expected(), "more", ErrorCode::file_damaged);
  return make_array(header, std::move(values));
}

/// `stored`: the bytes of the archive itself.
Result<ArrayFile> read_archive(std::string_view where, zip_t* archive, std::size_t stored, std::size_t limit) {
  ArrayFile file;
  const zip_int64_t members = zip_get_num_entries(archive, 0);
  // libzip takes an empty file for an empty archive.
  if (members < 1) return bad_input(where, "archive", "at least one array", "none", ErrorCode::file_damaged);
  const std::size_t most = std::min(limit, std::max(kAnyNpzBytes, kMostNpzInflation * stored));
  std::string name;
  std::size_t all = 0;
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(members); ++index) {
    const auto member = TRY(open_member(where, archive, index, name));
    // Of at most 2^40 elements each.
    all += member.strings ? member.strings->bytes() : member.header.count * sizeof(float);
    if (all > most)
      return bad_input(
          member.where, "size",
          "arrays of at most " + std::to_string(most) + " bytes as float32 in an archive of " + std::to_string(stored),
          "at least " + std::to_string(all), ErrorCode::too_large);
    const bool is_first =
        member.strings ? file.metadata.emplace(name, std::string()).second : file.arrays.emplace(name, Array{}).second;
    if (!is_first) return bad_input(member.where, "", "each name once", "it twice", ErrorCode::file_damaged);
  }
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(members); ++index) {
    auto member = TRY(open_member(where, archive, index, name));
    if (member.strings) {
      file.metadata[name] = TRY(read_strings(member));
      continue;
    }
    file.arrays[name] = TRY(read_data(member));
  }
  return file;
}

}  // namespace

Result<ArrayFile> parse_npz(std::string_view where, std::string_view bytes, std::size_t limit) {
  zip_error_t reason;
  const ZipArchive archive = open_zip(bytes, reason);
  if (!archive) return unreadable(where, reason);
  zip_error_fini(&reason);
  return read_archive(where, archive.get(), bytes.size(), limit);
}

Result<ArrayFile> read_npz(const std::filesystem::path& path, std::size_t limit) {
  const std::string where = path.string();
  std::error_code failure;
  // libzip would wait for the writer of a pipe.
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::is_regular_file(status))
    return bad_input(where, "open", "a regular file",
                     std::filesystem::is_directory(status) ? "a folder"
                     : failure                             ? failure.message()
                                                           : "something that is not a file",
                     failure ? read_fault(failure.value()) : ErrorCode::bad_value);
  // libzip would not wait for a program that holds the file for a second.
  const auto file = TRY(MappedFile::open(path));
  auto arrays = parse_npz(where, file->bytes(), limit);
  if (was_shortened(file.get())) return shortened(where);
  return arrays;
}

Result<ArrayFile> read_arrays(const std::filesystem::path& path) {
  if (path.extension() == ".npz") return read_npz(path);
  if (!is_torch_name(path)) return read_safetensors(path);
  const auto stored = TRY(map_torch(path));
  return in_memory(stored);
}

}  // namespace headlight
