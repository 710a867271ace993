// Checks of numbers from outside; result.cpp has the bodies.
#pragma once

#include <string_view>

#include "base/index.h"
#include "base/result.h"

namespace headlight {

/// 0 ≤ `at` < `count`; the Error states the range.
Status check_within(std::string_view where, std::string_view what, Index at, Index count,
                    ErrorCode code = ErrorCode::bad_value);

/// The Error of a number that is NaN or infinite.
Error not_finite(std::string_view where, std::string_view what, float found,
                 std::string_view expected = "a finite number", ErrorCode code = ErrorCode::not_finite);

}  // namespace headlight
