// A file mapped into memory: the system reads its pages on first access and may drop them again. Whether a file was
// shortened meanwhile is checked after the last read.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace headlight {

class MappedFile {
 public:
  /// A regular file. Truncating it while it is mapped raises SIGBUS; replacing it by another file does no harm.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

/// Returns the memory of a part of a mapped file to the system; the next access reads it from the file again. Does
/// nothing for other memory.
void release_pages(std::string_view part);

/// Whether the file of this MappedFile was shortened, and bytes that are gone were read as zeros. False for any other
/// object.
bool was_shortened(const void* mapped_file);

/// Whether any file that is mapped now was.
bool any_was_shortened();

/// The Error of a file that was shortened while it was read.
inline Error shortened(std::string_view where) {
  return bad_input(where, "read", "a file that stays as it is", "one that was shortened meanwhile",
                   ErrorCode::file_too_short);
}

}  // namespace headlight
