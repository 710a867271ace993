// A file as memory: its bytes are read from the disk when somebody looks at them, and need not stay.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace headlight {

class MappedFile {
 public:
  /// A regular file. Who shortens it while it is mapped ends the program; replacing it by another one does no harm.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

  /// Gives the memory of a part of bytes() back: it is read again where it is looked at again.
  void release(std::string_view part) const;

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace headlight
