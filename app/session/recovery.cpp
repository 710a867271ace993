#include "session/recovery.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "view/settings.h"

namespace headlight {
namespace {

constexpr std::string_view kPrefix = "autosave-", kSuffix = ".headlight.json";

/// The process that wrote it, from its name; 0 for other files.
pid_t owner(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  return static_cast<pid_t>(std::strtol(name.c_str() + kPrefix.size(), nullptr, 10));
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

std::filesystem::path autosave_path() {
  std::error_code error;
  std::filesystem::create_directories(state_folder(), error);
  std::filesystem::create_directories(settings_path().parent_path(), error);
  if (!std::filesystem::is_directory(state_folder(), error)) return {};
  return state_folder() / (std::string(kPrefix) + std::to_string(::getpid()) + std::string(kSuffix));
}

std::optional<std::filesystem::path> crashed_session() {
  std::optional<std::filesystem::path> newest;
  std::filesystem::file_time_type newest_time{};
  std::error_code error;
  for (std::filesystem::directory_iterator at(state_folder(), error), end; !error && at != end; at.increment(error)) {
    const auto& entry = *at;
    const pid_t process = owner(entry.path());
    // Process numbers come again: what bears this process's own was there before it.
    if (process <= 0 || (process != ::getpid() && is_running(process))) continue;
    std::error_code gone;
    const auto time = entry.last_write_time(gone);
    if (gone) continue;
    if (newest && time <= newest_time) continue;
    newest = entry.path();
    newest_time = time;
  }
  return newest;
}

void forget_autosave(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
}

}  // namespace headlight
