// What the processor can do at most, measured in the run in which its share is stated.
#pragma once

#include <vector>

#include "bench/report.h"

namespace headlight {

/// Work of known size: fused multiply-adds with the widest registers that the kernels use, twelve sums at a time that
/// never leave them (peak/fma); and reading a buffer that no cache holds (peak/read).
struct PeakWork {
  double flop = 0, read = 0;  // floating-point operations, bytes
};
PeakWork multiply_add(int threads);
PeakWork read_memory(int threads);

/// Gives each row with operations its share of peak/fma, and each with bytes that it reads its share of peak/read, of
/// the same number of threads.
void add_shares(BenchReport& report);

}  // namespace headlight
