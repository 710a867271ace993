// The command line: `headlight COMMAND [SOURCE] [REQUEST]`, one file a command.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "session/session_file.h"
#include "session/settings.h"

namespace headlight {

/// What a window starts from.
struct Start {
  Session session;
  std::string session_path;           // where Save writes, if a session was opened
  bool asked = false;                 // something was named on the command line, so no crashed session is restored
};

struct ScreenshotOptions {
  std::string file;
  int width = 1600, height = 1000;
  std::optional<Theme> theme;
  std::optional<Language> language;
  float ui_scale = 1;
};

/// What only a program built with the window can do; empty functions otherwise.
struct Frontend {
  std::function<Status(const Start&)> open_window;
  std::function<Status(const Start&, const ScreenshotOptions&)> screenshot;
};

/// Runs the program. Exit status: 0 done, 1 a comparison differs, 2 wrong use or bad input.
int run_command_line(int argc, const char* const* argv, const Frontend& frontend);

}  // namespace headlight
