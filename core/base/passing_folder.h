// A folder for files that are needed for a while.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace headlight {

/// Goes away with all that is in it.
class PassingFolder {
 public:
  /// A new, empty folder in $TMPDIR, or in /tmp where that is not set. An Error where none can be made there.
  static Result<PassingFolder> make();

  PassingFolder(PassingFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PassingFolder& operator=(PassingFolder&&) = delete;
  ~PassingFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PassingFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace headlight
