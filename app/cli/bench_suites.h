// What `headlight bench` measures: each suite on inputs of its own, the same on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/measure.h"
#include "base/result.h"

namespace headlight {

struct BenchOptions {
  std::vector<int> threads;  // each is measured
  int rounds = 5;
  Index longest = 0;         // sentences of more tokens are left out; 0: none is
};

struct BenchRow {
  std::string name;
  int threads = 1;
  Timing time = {};          // of one run, in seconds
  double flop = 0;           // floating-point operations of a run; 0: not counted
  double bytes = 0;          // that a run writes
  double tokens = 0;         // that a run trains on
  double peak = 0;           // bytes of memory that a run needs at most beside the weights
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

/// attention: one multi-head attention from query to output, as `nn.MultiheadAttention` has it, whose every weight is
/// computed and pooled into a thumbnail. model: encoders and decoders of BERT-base's and GPT-2-small's shape; the
/// decoder gives the scores of the last token's next word. train: steps of training. growth: GPT-2-small's shape on
/// longer and longer texts, with the memory it needs. export: 144 heads written to a file, beside nlohmann's dump.
struct BenchSuite {
  std::string_view name;
  Result<BenchReport> (*run)(const BenchOptions& options);
};

const std::vector<BenchSuite>& bench_suites();

}  // namespace headlight
