// Where the members of a zip archive lie in its bytes (APPNOTE.TXT 6.3.10).
#pragma once

#include <zip.h>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

struct DiscardZipArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseZipMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using ZipArchive = std::unique_ptr<zip_t, DiscardZipArchive>;
using ZipMember = std::unique_ptr<zip_file_t, CloseZipMember>;

/// libzip's view of these bytes, which must stay; null, and the reason, where they are no archive.
ZipArchive open_zip(std::string_view bytes, zip_error_t& reason);

struct ZipEntry {
  std::uint16_t method = 0;            // 0 stored, 8 deflated
  std::uint64_t packed = 0, size = 0;  // bytes in the file, bytes of the content
  std::uint64_t header = 0;            // where its local header begins
};

/// libzip does not report where the bytes of a member lie, which is needed to open weights of many gigabytes at once;
/// so the directory is read here, and libzip inflates the few deflated members. The bytes must stay.
class ZipDirectory {
 public:
  static Result<ZipDirectory> read(std::string_view where, std::string_view bytes);

  /// Null where there is no such member.
  const ZipEntry* find(const std::string& name) const;
  /// The folder that holds data.pkl: the first part of every name in a file of torch.save.
  std::optional<std::string> folder() const;
  /// The bytes of a member that is stored as it is.
  Result<std::string_view> stored(const std::string& name, const ZipEntry& member) const;
  /// Those of a deflated one: exactly as many as the directory states.
  Result<std::shared_ptr<const std::string>> inflated(const std::string& name, const ZipEntry& member);

 private:
  Error broken(std::string_view what, ErrorCode code = ErrorCode::file_damaged) const;
  Status read_all();

  std::string where_;
  std::string_view bytes_;
  std::map<std::string, ZipEntry> members_;
  ZipArchive inflating_;  // opened for the first deflated member
};

}  // namespace headlight
