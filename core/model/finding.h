// What a judge reports: findings about what was checked, and mistakes by their codes, in both languages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"

namespace headlight {

/// good: a check that was passed; note: worth knowing, and as it should be.
enum class Severity { good, note, warning, error };

struct Finding {
  Severity severity = Severity::good;
  std::string line;
  ErrorCode code = ErrorCode::bad_value;  // what its explanation is chosen by

  Finding(Severity how, std::string text, ErrorCode kind = ErrorCode::bad_value);
  Finding(Severity how, const Error& error);

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The gravest of them; good where there are none.
Severity gravest(const std::vector<Finding>& findings);

/// `good`, `note`, `warning`, `error`.
std::string_view name(Severity severity);

/// Whether answers of the reference were compared, and all of them agree.
bool agrees_with_reference(const std::vector<Finding>& findings);

struct MistakeCode {
  std::string_view name;  // `scale_missing`

  friend bool operator==(const MistakeCode&, const MistakeCode&) = default;
};

struct Mistake {
  MistakeCode code;
  Bilingual text;          // words(code, …), with its numbers
  std::string role = {};   // the projection that it is about: query, key, value, output, "query and key"; "step.0"
  std::string array = {};  // in which it shows; empty where it was seen in the program that was watched
  std::optional<double> before = {};  // the largest difference of that array, and what is left of it with the mistake
  std::optional<double> after = {};   // made on the right side as well
};

}  // namespace headlight
