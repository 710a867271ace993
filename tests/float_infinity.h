#pragma once

#include <limits>

namespace headlight {

inline constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

}  // namespace headlight
