#include "base/file_lock.h"

#include <cerrno>

#include "base/file.h"
#include "base/system.h"

namespace headlight {

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& path) {
  for (;;) {
    const int descriptor = open_file(path, Opening::lock);
    if (descriptor < 0)
      return bad_input(path.string(), "", "a file that can be written", system_error_text(errno), write_fault(errno));
    const bool locked = lock_file(descriptor, false);
    // Its holder may have removed the file between the two calls, and another program may hold a new one of that name.
    if (locked && is_named(descriptor, path)) return std::optional(FileLock(descriptor));
    close_file(descriptor);
    if (!locked) return std::optional<FileLock>();
  }
}

bool is_locked(const std::filesystem::path& path) {
  const int descriptor = open_file(path, Opening::read);
  if (descriptor < 0) return false;
  const bool locked = !lock_file(descriptor, true);
  close_file(descriptor);
  return locked;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close_file(descriptor_);
}

}  // namespace headlight
