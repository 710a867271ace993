// Range checks of indices.
#pragma once

#include <string>
#include <string_view>

#include "base/index.h"
#include "base/result.h"

namespace headlight {

/// 0 ≤ `at` < `count`; the Error states the range.
inline Status check_within(std::string_view where, std::string_view what, Index at, Index count) {
  if (at >= 0 && at < count) return Done{};
  return bad_input(where, what, "0 to " + std::to_string(count - 1), std::to_string(at));
}

}  // namespace headlight
