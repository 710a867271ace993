// What a path names, and files that are being written, of which nothing may stay behind.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace headlight {

// What cannot be looked at counts as missing.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_regular(const std::filesystem::path& path);

/// The type that the listing has read, without asking the disk again.
inline bool is_folder(const std::filesystem::directory_entry& entry) {
  std::error_code unreadable;
  return entry.is_directory(unreadable);
}

/// A file of the folder without a name, which is gone as soon as it is closed: the descriptor, to be closed by the
/// caller.
Result<int> nameless_file(const std::filesystem::path& folder);

/// How a file is called until it is complete, before the number of the process.
inline constexpr std::string_view kTemporaryName = ".headlight-";
/// Removes what a program that was killed had begun to write into the folder.
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
