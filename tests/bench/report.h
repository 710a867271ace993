// The options of a benchmark, and the rows of its report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.h"

namespace headlight {

/// The options of a benchmark.
struct BenchOptions {
  std::vector<int> threads;  // each is measured
  int rounds = 5;
  std::ptrdiff_t longest = 0;  // sentences of more tokens are left out; 0: none is
  std::string only = {};       // part of the names of the rows that are measured
  std::string program = {};    // the file of the program `headlight`, whose commands are timed

  bool wants(std::string_view name) const { return name.find(only) != name.npos; }
};

struct BenchRow {
  std::string name;
  int threads = 1;
  Timing time = {};   // of one run, in seconds
  double flop = 0;    // floating-point operations of a run; 0: not counted
  double bytes = 0;   // that a run writes
  double tokens = 0;  // that a run trains on
  double peak = 0;    // bytes of memory that a run needs at most: beside the weights, or of a whole command
  int uploads = -1;   // matrices that all runs together sent to the graphics card; −1: not counted
  double read = 0;    // bytes of weights that a run reads, of runs that wait for them; 0: not counted
  double share = 0, read_share = 0;  // of peak/fma and of peak/read (bench/peak.h); 0: not measured
  double processor = 0;              // seconds of processor time of a command, all threads together; 0: not counted
};

/// How one figure grows with the number of tokens: as their power.
struct BenchExponent {
  std::string name;
  double value = 0;
};

struct BenchReport {
  std::vector<BenchRow> rows;
  std::vector<BenchExponent> exponents;
};

}  // namespace headlight
