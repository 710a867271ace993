#include "document/user_folders.h"

#include <cstdlib>

namespace headlight {

std::filesystem::path user_folder(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  if (set && *set == '/') return std::filesystem::path(set) / "headlight";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/tmp") / below_home / "headlight";
}

std::filesystem::path config_folder() { return user_folder("XDG_CONFIG_HOME", ".config"); }

}  // namespace headlight
