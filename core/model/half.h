// Floats of 16 and 8 bits, and whole numbers beside a scale. Function objects, so that loops that take one inline it.
#pragma once

#include <bit>
#include <cstdint>

namespace headlight {

/// IEEE 754 binary16 → float32, exactly.
inline constexpr auto from_float16 = [](std::uint16_t bits) {
  const std::uint32_t rest = bits & 0x7FFFu;
  // The exponents are 112 apart, which the product sets right for subnormal numbers too.
  const float number = std::bit_cast<float>(rest << 13) * 0x1p112f;
  const auto magnitude = std::bit_cast<std::uint32_t>(number) | (rest >= 0x7C00u ? 0x7F800000u : 0u);
  return std::bit_cast<float>(magnitude | (bits & 0x8000u) << 16);
};

/// float8 E4M3 without infinities (Micikevicius et al. 2022, table 1) → float32, exactly.
inline constexpr auto from_float8 = [](std::uint8_t bits) {
  const std::uint32_t rest = bits & 0x7Fu;
  const float number = std::bit_cast<float>(rest << 20) * 0x1p120f;  // the exponents are 120 apart
  const auto magnitude = rest == 0x7Fu ? 0x7FC00000u : std::bit_cast<std::uint32_t>(number);
  return std::bit_cast<float>(magnitude | (bits & 0x80u) << 24);
};

/// scale·level + least, the product rounded before the sum: Q4_1, GPTQ, AWQ, MLX.
inline constexpr auto from_level = [](auto level, float scale, float least) {
  return static_cast<float>(level) * scale + least;
};
/// level·scale/127, in the order of bitsandbytes' int8_vectorwise_dequant.
inline constexpr auto from_int8 = [](std::int8_t level, float scale) {
  return static_cast<float>(level) * scale * 7.874015718698502e-3f;
};

/// bfloat16, the upper half of a float32.
inline constexpr auto from_bfloat16 = [](std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
};

}  // namespace headlight
