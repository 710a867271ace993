// The program with its window, and the same window as a picture.
#pragma once

#include "base/result.h"

namespace headlight {

struct ScreenshotOptions;  // session/startup.h
struct Startup;            // … too

/// Runs the window until the user closes it.
Status open_window(const Startup& start);

/// Draws the window once nothing is stale any more, without a display, into a PNG file.
Status screenshot(const Startup& start, const ScreenshotOptions& options);

}  // namespace headlight
