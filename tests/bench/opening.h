// How long a checkpoint takes to open and to answer.
#pragma once

#include "base/result.h"
#include "bench/report.h"

namespace headlight {

/// Checkpoints of random weights in the shapes of well-known models, written into a temporary folder: the whole command
/// `headlight export` of ten tokens, its processor time and its peak memory, beside Python loading the same file with
/// safetensors (or PyTorch alone), where there is PyTorch.
Result<BenchReport> opening_suite(const BenchOptions& options);

}  // namespace headlight
