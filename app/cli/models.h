// The command `models`.
#pragma once

#include "cli/commands.h"

namespace headlight {

ParsedCommand add_models(CLI::App& program);

}  // namespace headlight
