// A folder that python/headlight's `log` writes while a model is trained elsewhere: step-000100.safetensors, a tensors
// file of attention for each step.
#pragma once

#include <filesystem>
#include <vector>

#include "base/index.h"

namespace headlight {

struct LoggedStep {
  Index step = 0;
  std::filesystem::path file;

  friend bool operator==(const LoggedStep&, const LoggedStep&) = default;
};

/// The steps in the folder, in their order, at most kMostLoggedSteps of the newest; none where it is no such folder, or
/// where it holds a checkpoint (config.json).
std::vector<LoggedStep> logged_steps(const std::filesystem::path& folder);

inline constexpr std::size_t kMostLoggedSteps = 4096;

}  // namespace headlight
