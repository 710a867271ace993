// The progress of a long computation, and whether its caller still needs the result.
#pragma once

#include <atomic>

namespace headlight {

/// Of a computation that nothing stops.
inline const std::atomic<bool> kNeverStops = false;

/// Shared between a computation and its caller.
struct Progress {
  std::atomic<float> done = 0;  // share of the work done, 0 … 1
  std::atomic<bool> stop = false;
  float begin = 0, share = 1;  // the part of `done` that this computation fills; set by its caller

  /// More of the work is done. Not fetch_add, which not every standard library has for floats.
  void advance(float more) {
    float before = done;
    while (!done.compare_exchange_weak(before, before + more)) {}
  }
};

/// A Progress for one call: nothing reads it, and nothing stops it. It lives until the end of the full expression.
inline Progress& unwatched(Progress&& progress = {}) { return static_cast<Progress&>(progress); }

}  // namespace headlight
