// Independent parts of a computation, spread over threads. No two parts write the same result, so the result does not
// depend on the number of threads.
#pragma once

#include <atomic>
#include <functional>

#include "base/index.h"

namespace headlight {

/// How many threads a computation may use (0: one for each processor), and the flag that stops it. A stopped
/// computation leaves an incomplete result: the caller checks `stop` before using it.
struct Threads {
  Threads() = default;
  explicit Threads(int most) : count(most) {}
  Threads(int most, const std::atomic<bool>* stopped) : count(most), stop(stopped) {}

  int count = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// parallel_for with several threads.
void share_parts(Index count, const Threads& threads, const std::function<void(Index)>& part);

/// Calls part(0) … part(count − 1) and returns when all are done, or when `stop` kept the rest from starting.
template <class Part>
void parallel_for(Index count, const Threads& threads, const Part& part) {
  if (count > 1 && threads.count != 1) return share_parts(count, threads, part);
  for (Index i = 0; i < count && !(threads.stop && *threads.stop); ++i) part(i);
}

/// The same on so many threads (0: one for each processor), without stopping.
template <class Part>
void parallel_for(Index count, int threads, const Part& part) {
  parallel_for(count, Threads(threads), part);
}

}  // namespace headlight
