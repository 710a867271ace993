// headlight worksheet
#pragma once

#include "cli/commands.h"

namespace headlight {

ParsedCommand add_worksheet(CLI::App& program);

}  // namespace headlight
