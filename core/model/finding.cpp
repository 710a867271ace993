#include "model/finding.h"

#include <algorithm>

#include "base/names.h"

namespace headlight {
namespace {

constexpr std::string_view kSeverityNames[] = {"good", "note", "warning", "error"};

}  // namespace

Finding::Finding(Severity how, std::string text, ErrorCode kind) : severity(how), line(std::move(text)), code(kind) {}
Finding::Finding(Severity how, const Error& error) : Finding(how, error.message(), error.code) {}

Severity gravest(const std::vector<Finding>& findings) {
  Severity worst = Severity::good;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::string_view name(Severity severity) { return name_in(kSeverityNames, severity); }

bool agrees_with_reference(const std::vector<Finding>& findings) {
  bool compared = false, differs = false;
  for (const Finding& finding : findings) {
    compared = compared || finding.code == ErrorCode::as_reference;
    differs = differs || finding.code == ErrorCode::differs_from_reference;
  }
  return compared && !differs;
}

}  // namespace headlight
