#include "read/array/zip_directory.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "read/array/array.h"

namespace headlight {
namespace {

// Signatures, and the bytes of each record before what varies.
constexpr std::string_view kLocal = "PK\3\4", kCentral = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                           kEnd64Locator = "PK\6\7";
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kEnd64LocatorBytes = 20;
constexpr std::size_t kMostMembers = std::size_t{1} << 20;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // the value stands in the 64-bit extra field

/// The 64-bit extra field (4.5.3): those of the three numbers that did not fit, in this order.
void read_extra(std::string_view extra, ZipEntry& member) {
  while (extra.size() >= 4) {
    const std::string_view head = extra;
    const std::size_t size = std::min<std::size_t>(little_endian(head, 2, 2), extra.size() - 4);
    if (little_endian(head, 0, 2) == 1) {
      const std::string_view field = extra.substr(4, size);
      std::size_t at = 0;
      for (std::uint64_t* number : {&member.size, &member.packed, &member.header})
        if (*number == kIn64) {
          *number = little_endian(field, at, 8);
          at += 8;
        }
      return;
    }
    extra.remove_prefix(4 + size);
  }
}

}  // namespace

ZipArchive open_zip(std::string_view bytes, zip_error_t& reason) {
  zip_error_init(&reason);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &reason);
  ZipArchive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &reason) : nullptr);
  if (source && !archive) zip_source_free(source);
  return archive;
}

Result<ZipDirectory> ZipDirectory::read(std::string_view where, std::string_view bytes) {
  ZipDirectory directory;
  directory.where_ = where;
  directory.bytes_ = bytes;
  TRY(directory.read_all());
  return directory;
}

const ZipEntry* ZipDirectory::find(const std::string& name) const {
  const auto at = members_.find(name);
  return at == members_.end() ? nullptr : &at->second;
}

std::optional<std::string> ZipDirectory::folder() const {
  for (const auto& [name, member] : members_)
    if (name.ends_with("/data.pkl") && std::count(name.begin(), name.end(), '/') == 1)
      return name.substr(0, name.size() - std::string_view("data.pkl").size());
  return std::nullopt;
}

Result<std::string_view> ZipDirectory::stored(const std::string& name, const ZipEntry& member) const {
  if (member.header > bytes_.size() || bytes_.size() - member.header < kLocalBytes ||
      bytes_.substr(member.header, 4) != kLocal)
    return bad_input(where_, printable(name), "a local header in the file", "other bytes", ErrorCode::file_damaged);
  const std::string_view header = bytes_.substr(member.header, kLocalBytes);
  const std::uint64_t begin = member.header + kLocalBytes + little_endian(header, 26, 2) + little_endian(header, 28, 2);
  if (begin > bytes_.size() || bytes_.size() - begin < member.packed)
    return bad_input(where_, printable(name), std::to_string(member.packed) + " bytes in the file",
                     std::to_string(begin > bytes_.size() ? 0 : bytes_.size() - begin), ErrorCode::file_too_short);
  return bytes_.substr(begin, member.packed);
}

Result<std::shared_ptr<const std::string>> ZipDirectory::inflated(const std::string& name, const ZipEntry& member) {
  const auto failed = [&] {
    return bad_input(where_, printable(name), "a deflated member", "one that cannot be read", ErrorCode::file_damaged);
  };
  if (!inflating_) {
    zip_error_t reason;
    inflating_ = open_zip(bytes_, reason);
    if (!inflating_) return failed();
  }
  const ZipMember opened(zip_fopen(inflating_.get(), name.c_str(), 0));
  if (!opened) return failed();
  auto content = std::make_shared<std::string>();
  std::array<char, 1 << 16> chunk;
  for (zip_int64_t got = 0; (got = zip_fread(opened.get(), chunk.data(), chunk.size())) != 0;) {
    if (got < 0 || content->size() + static_cast<std::size_t>(got) > member.size) return failed();
    content->append(chunk.data(), static_cast<std::size_t>(got));
  }
  if (content->size() != member.size) return failed();
  return std::shared_ptr<const std::string>(std::move(content));
}

Error ZipDirectory::broken(std::string_view what, ErrorCode code) const {
  return bad_input(where_, "archive", "a zip file as torch.save writes it", what, code);
}

Status ZipDirectory::read_all() {
  // The end record is the last thing in the file but for a comment of at most 64 KiB.
  const std::size_t tail = std::min(bytes_.size(), std::size_t{0xFFFF} + kEndBytes);
  const std::size_t found = bytes_.substr(bytes_.size() - tail).rfind(kEnd);
  if (found == bytes_.npos || tail - found < kEndBytes)
    return broken("no end record: the file is cut off", ErrorCode::file_too_short);
  const std::size_t end_at = bytes_.size() - tail + found;
  const std::string_view end = bytes_.substr(end_at, kEndBytes);
  std::uint64_t count = little_endian(end, 10, 2), begin = little_endian(end, 16, 4);
  if (end_at >= kEnd64LocatorBytes && bytes_.substr(end_at - kEnd64LocatorBytes, 4) == kEnd64Locator) {
    const std::uint64_t at = little_endian(bytes_, end_at - kEnd64LocatorBytes + 8, 8);
    if (at > bytes_.size() || bytes_.size() - at < kEnd64Bytes || bytes_.substr(at, 4) != kEnd64)
      return broken("a wrong 64-bit end record");
    const std::string_view end64 = bytes_.substr(at, kEnd64Bytes);
    count = little_endian(end64, 32, 8);
    begin = little_endian(end64, 48, 8);
  }
  if (count > kMostMembers)
    return bad_input(where_, "archive", "at most " + std::to_string(kMostMembers) + " members", std::to_string(count),
                     ErrorCode::too_large);
  for (; count > 0; --count) {
    if (begin > bytes_.size() || bytes_.size() - begin < kCentralBytes || bytes_.substr(begin, 4) != kCentral)
      return broken("a directory that ends too early", ErrorCode::file_too_short);
    const std::string_view entry = bytes_.substr(begin, kCentralBytes);
    const std::uint64_t name_size = little_endian(entry, 28, 2), extra_size = little_endian(entry, 30, 2),
                        comment_size = little_endian(entry, 32, 2);
    const std::uint64_t varies = name_size + extra_size + comment_size;
    if (bytes_.size() - begin - kCentralBytes < varies)
      return broken("a directory that ends too early", ErrorCode::file_too_short);
    ZipEntry member{.method = static_cast<std::uint16_t>(little_endian(entry, 10, 2)),
                    .packed = little_endian(entry, 20, 4),
                    .size = little_endian(entry, 24, 4),
                    .header = little_endian(entry, 42, 4)};
    read_extra(bytes_.substr(begin + kCentralBytes + name_size, extra_size), member);
    std::string name{bytes_.substr(begin + kCentralBytes, name_size)};
    if (!members_.emplace(std::move(name), member).second) return broken("one name twice");
    begin += kCentralBytes + varies;
  }
  return Done{};
}

}  // namespace headlight
