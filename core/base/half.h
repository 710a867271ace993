// The 16-bit floats of files. Function objects, so that loops that take them inline them.
#pragma once

#include <bit>
#include <cstdint>

namespace headlight {

/// IEEE 754 binary16 → float32, exactly.
inline constexpr auto from_float16 = [](std::uint16_t bits) {
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
};

/// bfloat16, the upper half of a float32.
inline constexpr auto from_bfloat16 = [](std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
};

}  // namespace headlight
