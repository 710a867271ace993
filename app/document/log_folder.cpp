#include "document/log_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace headlight {
namespace {

constexpr std::string_view kBegin = "step-", kEnding = ".safetensors";

/// The number in the name of a step's file; −1 for other names.
Index step_of(const std::string& name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnding) || name.size() <= kBegin.size() + kEnding.size()) return -1;
  const char* const end = name.data() + name.size() - kEnding.size();
  Index step = 0;
  const auto [at, error] = std::from_chars(name.data() + kBegin.size(), end, step);
  return error == std::errc() && at == end ? step : -1;
}

}  // namespace

std::vector<LoggedStep> logged_steps(const std::filesystem::path& folder) {
  std::vector<LoggedStep> steps;
  std::error_code error, ignored;
  if (std::filesystem::exists(folder / "config.json", ignored)) return steps;
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
