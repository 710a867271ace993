#include "base/within.h"

#include <cmath>
#include <string>

namespace headlight {

Status check_within(std::string_view where, std::string_view what, Index at, Index count, ErrorCode code) {
  if (at >= 0 && at < count) return Done{};
  return bad_input(where, what, "0 to " + std::to_string(count - 1), std::to_string(at), code);
}

Error not_finite(std::string_view where, std::string_view what, float found, std::string_view expected,
                 ErrorCode code) {
  return bad_input(where, what, expected, std::isnan(found) ? "nan" : found > 0 ? "inf" : "-inf", code);
}

}  // namespace headlight
