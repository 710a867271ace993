// The command line: `headlight COMMAND [SOURCE] [REQUEST]`, one file a command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

struct ScreenshotOptions;  // session/startup.h
struct Startup;            // … too

/// The functions of a program built with the window; empty without it.
struct Frontend {
  std::function<Status(const Startup&)> open_window;
  std::function<Status(const Startup&, const ScreenshotOptions&)> screenshot;
};

/// Runs the program. Exit status: 0 done, 1 a comparison or a check differs, 2 wrong use or bad input.
int run_command_line(int argc, const char* const* argv, const Frontend& frontend);

/// Runs one command, the first of the words, for a tool that answers by commands: the result goes to standard output,
/// warnings to standard error; what is wrong is returned.
Result<int> run_command(const std::vector<std::string>& words);

}  // namespace headlight
