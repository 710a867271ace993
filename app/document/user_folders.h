// Where the program keeps what belongs to the user.
#pragma once

#include <filesystem>

namespace headlight {

/// The program's folder below $`variable`, which is an absolute path, or below $HOME/`below_home`.
std::filesystem::path user_folder(const char* variable, const char* below_home);

/// $XDG_CONFIG_HOME/headlight or ~/.config/headlight.
std::filesystem::path config_folder();

}  // namespace headlight
