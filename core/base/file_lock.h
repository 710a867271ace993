// A file that one program holds at a time, so that two programs do not use the same folder or autosave.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"

namespace headlight {

/// Held as long as it lives, also against other programs (flock). The system frees the lock of a program that was
/// killed, so a lock never outlives its program, as a process number does.
class FileLock {
 public:
  /// Makes the file where there is none. Nothing where another program, or another FileLock, holds it. Errors: the file
  /// cannot be opened for writing.
  static Result<std::optional<FileLock>> take(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// Whether another program, or a FileLock of this one, holds the file; false where there is no such file.
bool is_locked(const std::filesystem::path& path);

}  // namespace headlight
