#include "document/user_folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace headlight {
namespace {

/// The home that the environment names, else that of the account. Never a folder such as /tmp, in which another user could
/// have made ours: without a home nothing can be kept, and the first try to keep something says so.
std::filesystem::path home_folder() {
  if (const char* home = std::getenv("HOME"); home && *home == '/') return home;
  const passwd* account = getpwuid(getuid());
  return account && account->pw_dir && *account->pw_dir == '/' ? account->pw_dir : "/nonexistent";
}

}  // namespace

std::filesystem::path user_folder(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  if (set && *set == '/') return std::filesystem::path(set) / "headlight";
  return home_folder() / below_home / "headlight";
}

std::filesystem::path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }

}  // namespace headlight
