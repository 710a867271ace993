// The benchmark of the window.
#pragma once

#include "base/result.h"
#include "bench/report.h"

namespace headlight {

/// `./run bench draw`: frames of the real window without a display, with OpenGL's time and without, a rectangle a
/// cell beside them, and the time from a key to the picture that answers it.
Result<BenchReport> bench_draw(const BenchOptions& options);

}  // namespace headlight
