// What a path names, and temporary files, of which nothing may remain.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace headlight {

// What cannot be read counts as missing.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_regular(const std::filesystem::path& path);

/// The type that the listing has read, without another access to the disk.
inline bool is_folder(const std::filesystem::directory_entry& entry) {
  std::error_code unreadable;
  return entry.is_directory(unreadable);
}

/// The descriptor of a file of the folder without a name; the caller closes it, which removes the file.
Result<int> nameless_file(const std::filesystem::path& folder);

/// The name of a file until it is complete, before the number of the process.
inline constexpr std::string_view kTemporaryName = ".headlight-";
/// Removes the unfinished files of a killed program from the folder.
void sweep_temporaries(const std::filesystem::path& folder);

/// A folder for files that are needed for a while: it goes away with all that is in it.
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

/// The program's folder below $`variable`, which is an absolute path, or below $HOME/`below_home`.
std::filesystem::path user_folder(const char* variable, const char* below_home);

/// $XDG_CONFIG_HOME/headlight or ~/.config/headlight.
std::filesystem::path config_folder();

}  // namespace headlight
