// Work that falls into independent parts, spread over threads. Each part writes only what is its own, so that the
// result is the same whatever the number of threads.
#pragma once

#include <atomic>
#include <functional>

#include "base/matrix.h"

namespace headlight {

/// On how many threads something may run (0: one for each processor), and what stops it: what was stopped leaves a
/// result that is not finished, and whoever asked looks at `stop` before using it.
struct Threads {
  Threads(int most = 1, const std::atomic<bool>* stopped = nullptr) : count(most), stop(stopped) {}

  int count;
  const std::atomic<bool>* stop;
};

/// What parallel_for does with several threads.
void share_parts(Index count, const Threads& threads, const std::function<void(Index)>& part);

/// Calls part(0) … part(count − 1); returns when all are done, or stopped before some of them began.
template <class Part>
void parallel_for(Index count, const Threads& threads, const Part& part) {
  if (count > 1 && threads.count != 1) return share_parts(count, threads, part);
  for (Index i = 0; i < count && !(threads.stop && *threads.stop); ++i) part(i);
}

}  // namespace headlight
