#include "bench/measure.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/pages.h"

namespace headlight {
namespace {

double seconds_of(const std::function<void()>& piece, int times) {
  const double begin = seconds_now();
  for (int i = 0; i < times; ++i) piece();
  return seconds_now() - begin;
}

/// The text after "name:" on a line of a file in /proc.
std::string stated(const char* file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::size_t memory(const std::string& name) {
  return static_cast<std::size_t>(std::strtoull(stated("/proc/self/status", name).c_str(), nullptr, 10)) * 1024;
}

}  // namespace

Timing timing_of(std::vector<double> seconds) {
  assert(!seconds.empty());
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.median = median, .low = seconds.front(), .high = seconds.back()};
}

std::vector<Timing> measure(const std::vector<std::function<void()>>& pieces, int rounds) {
  std::vector<int> times;
  for (const auto& piece : pieces) {
    double once = seconds_of(piece, 1);
    if (once < kShortestTurn) once = seconds_of(piece, 1);  // the first run also paid for page faults
    times.push_back(once >= kShortestTurn ? 1 : static_cast<int>(kShortestTurn / std::max(once, 1e-7)) + 1);
  }
  std::vector<std::vector<double>> seconds(pieces.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (times[i] > 1) pieces[i]();
      seconds[i].push_back(seconds_of(pieces[i], times[i]) / times[i]);
    }
  std::vector<Timing> timings;
  for (auto& one : seconds) timings.push_back(timing_of(std::move(one)));
  return timings;
}

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  assert(x.size() == y.size());
  const auto mean_log = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return sum / static_cast<double>(values.size());
  };
  const double mean_x = mean_log(x), mean_y = mean_log(y);
  double along = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    along += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    squares += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return along / squares;
}

std::size_t resident_memory() { return memory("VmRSS"); }
std::size_t peak_memory() { return memory("VmHWM"); }

void reset_peak_memory() {
  give_back_memory();
  std::ofstream("/proc/self/clear_refs") << '5';
}

std::string processor_name() { return stated("/proc/cpuinfo", "model name"); }

}  // namespace headlight
