// A folder in which a target writes the bytes that a reader of paths is given.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "fuzz/require.h"

namespace headlight {

/// Empty at first; it goes away with the process.
class FuzzFolder {
 public:
  FuzzFolder() {
    const bool in_memory = std::filesystem::is_directory("/dev/shm");
    std::string pattern =
        (in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) / "headlight-XXXXXX";
    require(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  FuzzFolder(const FuzzFolder&) = delete;
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  /// The path of a file that holds these bytes now.
  std::string holding(const std::string& name, std::string_view bytes) const {
    require(bool(write_file(path_ / name, bytes)));
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace headlight
