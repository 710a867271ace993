// The suites of `./run bench`, on inputs that are the same on every machine.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/report.h"

namespace headlight {

/// attention: one multi-head attention from query to output, as `nn.MultiheadAttention` has it, whose every weight is
/// computed and pooled into a thumbnail. model: encoders and decoders of BERT-base's and GPT-2-small's shape; the
/// decoder gives the scores of the last token's next word. train: steps of training. growth: GPT-2-small's shape on
/// longer and longer texts, with the memory it needs. export: 144 heads written to a file, beside nlohmann's dump.
/// open: opening.h. sweep: all heads of GPT-2-small's shape patched, or off, one after another.
struct BenchSuite {
  using Run = std::function<Result<BenchReport>(const BenchOptions& options)>;

  std::string_view name;
  Run run;
};

const std::vector<BenchSuite>& bench_suites();

}  // namespace headlight
