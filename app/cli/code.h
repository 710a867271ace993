// headlight code
#pragma once

#include "cli/commands.h"

namespace headlight {

ParsedCommand add_code(CLI::App& program);

}  // namespace headlight
