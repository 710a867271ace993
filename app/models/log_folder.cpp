#include "models/log_folder.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/folders.h"
#include "base/formatted.h"

namespace headlight {
namespace {

constexpr std::string_view kBegin = "step-", kEnding = ".safetensors";

/// The number in the name of a step's file; −1 for other names.
Index step_of(const std::string& name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnding) || name.size() <= kBegin.size() + kEnding.size()) return -1;
  const std::string_view digits = std::string_view(name).substr(kBegin.size());
  return parse_number<Index>(digits.substr(0, digits.size() - kEnding.size())).value_or(-1);
}

}  // namespace

std::vector<LoggedStep> logged_steps(const std::filesystem::path& folder) {
  std::vector<LoggedStep> steps;
  if (path_exists(folder / "config.json")) return steps;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const Index step = step_of(at->path().filename().string()); step >= 0) steps.push_back({step, at->path()});
  std::sort(steps.begin(), steps.end(), [](const LoggedStep& a, const LoggedStep& b) {
    return a.step < b.step || (a.step == b.step && a.file < b.file);
  });
  if (steps.size() > kMostLoggedSteps)
    steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(kMostLoggedSteps));
  return steps;
}

}  // namespace headlight
