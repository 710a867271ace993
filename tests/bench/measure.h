// How long a piece of work takes, and how much memory it needed at most.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/seconds.h"

namespace headlight {

/// Seconds: what is shorter is repeated for so long.
inline constexpr double kShortestTurn = 0.05;

/// Of several rounds, in seconds: the middle one, and the quickest and slowest.
struct Timing {
  double median = 0, low = 0, high = 0;
};

/// The timing of rounds that took so long; of an even number the median is the mean of the middle two.
Timing timing_of(std::vector<double> seconds);

/// Times several pieces of work, each `rounds` times and in turn, so that other load on the machine affects all of them
/// alike. A short piece is repeated in each of its turns until that lasts fifty milliseconds, after a run that is not
/// timed: what is measured is the piece with its own data in the caches, as in a loop of it alone.
std::vector<Timing> measure(const std::vector<std::function<void()>>& pieces, int rounds);

/// The slope of y over x, both as logarithms, by least squares: y grows as x to this power.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

/// Bytes of main memory that the process holds, and the most it held since reset_peak_memory(); 0 where the system does
/// not report them.
std::size_t resident_memory();
std::size_t peak_memory();
void reset_peak_memory();  // also returns free heap memory to the system

/// The name of the processor; empty where the system does not report it.
std::string processor_name();

}  // namespace headlight
