// Work that falls into independent parts, spread over threads. Each part writes only what is its own, so that the
// result is the same whatever the number of threads.
#pragma once

#include <functional>

#include "base/matrix.h"

namespace headlight {

/// Calls part(0) … part(count − 1), on up to `threads` threads (0: one for each processor); returns when all are done.
void parallel_for(Index count, int threads, const std::function<void(Index)>& part);

}  // namespace headlight
