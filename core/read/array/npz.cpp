#include "read/array/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "read/array/little_endian.h"
#include "read/array/npy.h"
#include "read/array/zip_handles.h"

namespace headlight {
namespace {

constexpr std::size_t kMostStringBytes = std::size_t{64} << 20;  // the words of a text, not a text
constexpr std::size_t kChunk = 1 << 20;                          // a multiple of every element's width

Error unreadable(std::string_view where, zip_error_t& reason) {
  Error error = bad_input(where, "archive", "a readable .npz (zip)", zip_error_strerror(&reason));
  zip_error_fini(&reason);
  return error;
}

/// The next `size` bytes of a member; fewer only at its end.
Result<std::string> read_bytes(std::string_view where, zip_file_t* member, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const zip_int64_t got = zip_fread(member, bytes.data() + filled, size - filled);
    if (got < 0) return bad_input(where, "data", "readable bytes", zip_file_strerror(member));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

/// All bytes before the data.
Result<std::string> read_header(std::string_view where, zip_file_t* member) {
  auto start = read_bytes(where, member, kNpyPrefix);
  if (!start) return start.error();
  const auto data_at = npy_data_offset(where, *start);
  if (!data_at) return data_at.error();
  // A header never ends before the prefix does: it holds at least a dictionary.
  const auto rest = read_bytes(where, member, *data_at > start->size() ? *data_at - start->size() : 0);
  if (!rest) return rest.error();
  return *start + *rest;
}

/// A string as it is, several as a JSON list: as the metadata of safetensors have them.
Result<std::string> read_strings(std::string_view where, zip_file_t* member, const NpyStrings& strings,
                                 std::size_t left) {
  const std::size_t most = std::min(left, kMostStringBytes);
  if (strings.bytes() > most || strings.count > most / 4)
    return bad_input(where, "size", "at most " + std::to_string(most) + " bytes of text",
                     std::to_string(std::max(strings.bytes(), 4 * strings.count)));
  const auto bytes = read_bytes(where, member, strings.bytes());
  if (!bytes) return bytes.error();
  if (bytes->size() != strings.bytes())
    return bad_input(where, "size", std::to_string(strings.bytes()) + " bytes of text", std::to_string(bytes->size()));
  std::vector<std::string> texts(strings.count);
  for (std::size_t i = 0; i < strings.count * strings.letters; ++i) {
    const auto letter = static_cast<std::uint32_t>(little_endian(*bytes, 4 * i, 4));
    if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000))
      return bad_input(where, "text", "UTF-32", "other numbers");
    if (letter != 0) append_utf8(texts[i / strings.letters], letter);
  }
  return strings.shape.empty() ? texts[0] : nlohmann::json(texts).dump();
}

/// `declared` is the member's size as the archive states it, `left` what its values may take in memory.
Result<Array> read_member(std::string_view where, zip_file_t* member, const std::string& before, std::size_t declared,
                          std::size_t left) {
  const auto header = parse_npy_header(where, before);
  if (!header) return header.error();

  const std::size_t size = header->count * width(header->dtype);
  const std::string what_size = std::to_string(before.size() + size) + " bytes for " +
                                std::string(name(header->dtype)) + " " + shape_text(header->shape);
  if (declared != before.size() + size) return bad_input(where, "size", what_size, std::to_string(declared));
  if (header->count * sizeof(float) > left)
    return bad_input(where, "size", "at most " + std::to_string(left) + " bytes as float32",
                     std::to_string(header->count * sizeof(float)));
  std::vector<float> values;
  for (std::size_t at = 0; at < size;) {
    const auto chunk = read_bytes(where, member, std::min(kChunk, size - at));
    if (!chunk) return chunk.error();
    at += chunk->size();
    if (chunk->size() < kChunk && at < size)
      return bad_input(where, "size", what_size, std::to_string(before.size() + at));
    append_widened(header->dtype, header->big_endian, *chunk, values);
  }
  // The checksum is compared when the end is read.
  const auto surplus = read_bytes(where, member, 1);
  if (!surplus) return surplus.error();
  if (!surplus->empty()) return bad_input(where, "size", what_size, "more");
  return make_array(*header, std::move(values));
}

Result<ArrayFile> read_archive(std::string_view where, zip_t* archive, std::size_t limit) {
  ArrayFile file;
  std::size_t left = limit;
  const zip_int64_t members = zip_get_num_entries(archive, 0);
  // libzip takes an empty file for an empty archive.
  if (members < 1) return bad_input(where, "archive", "at least one array", "none");
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(members); ++index) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
        (stat.valid & ZIP_STAT_SIZE) == 0)
      return bad_input(where, "member " + std::to_string(index), "a name and a size", zip_strerror(archive));
    const std::string_view member_name = stat.name;
    const std::string inside = std::string(where) + ": " + printable(member_name);
    if (!member_name.ends_with(".npy")) return bad_input(inside, "", "an array (.npy)", "another file");
    const ZipMember member(zip_fopen_index(archive, index, 0));
    if (!member) return bad_input(inside, "member", "a stored or deflated array", zip_strerror(archive));
    const auto before = read_header(inside, member.get());
    if (!before) return before.error();
    const std::string array_name{member_name.substr(0, member_name.size() - 4)};
    if (const auto strings = parse_npy_strings(*before)) {
      auto text = read_strings(inside, member.get(), *strings, left);
      if (!text) return text.error();
      left -= strings->bytes();
      if (!file.metadata.emplace(array_name, std::move(*text)).second)
        return bad_input(inside, "", "each name once", "it twice");
      continue;
    }
    auto array = read_member(inside, member.get(), *before, stat.size, left);
    if (!array) return array.error();
    left -= array->values.size() * sizeof(float);
    if (!file.arrays.emplace(array_name, std::move(*array)).second)
      return bad_input(inside, "", "each name once", "it twice");
  }
  return file;
}

}  // namespace

Result<ArrayFile> parse_npz(std::string_view where, std::string_view bytes, std::size_t limit) {
  zip_error_t reason;
  zip_error_init(&reason);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &reason);
  if (source == nullptr) return unreadable(where, reason);
  const ZipArchive archive(zip_open_from_source(source, ZIP_RDONLY, &reason));
  if (!archive) {
    zip_source_free(source);
    return unreadable(where, reason);
  }
  zip_error_fini(&reason);
  return read_archive(where, archive.get(), limit);
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
                                                           : "something that is not a file");
  int code = 0;
  const ZipArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, code);
    return unreadable(where, reason);
  }
  return read_archive(where, archive.get(), limit);
}

}  // namespace headlight
