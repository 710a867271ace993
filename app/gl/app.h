// The program with its window, and the same window as a picture.
#pragma once

#include "base/measure.h"
#include "session/start.h"

namespace headlight {

/// Runs the window until the user closes it.
Status open_window(const Start& start);

/// Draws the window once nothing is stale any more, without a display, into a PNG file.
Status screenshot(const Start& start, const ScreenshotOptions& options);

/// `headlight bench draw`: frames of the real window without a display, with OpenGL's time and without, a rectangle a
/// cell beside them, and the time from a key to the picture that answers it.
Result<BenchReport> bench_draw(const BenchOptions& options);

}  // namespace headlight
