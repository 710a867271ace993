// The command line: `headlight COMMAND [SOURCE] [REQUEST]`, one file a command.
#pragma once

#include <functional>

#include "base/measure.h"
#include "base/result.h"
#include "session/start.h"

namespace headlight {

/// What only a program built with the window can do; empty functions otherwise.
struct Frontend {
  std::function<Status(const Start&)> open_window;
  std::function<Status(const Start&, const ScreenshotOptions&)> screenshot;
  std::function<Result<BenchReport>(const BenchOptions&)> bench_draw;
};

/// Runs the program. Exit status: 0 done, 1 a comparison or a check differs, 2 wrong use or bad input.
int run_command_line(int argc, const char* const* argv, const Frontend& frontend);

}  // namespace headlight
