// e^x for softmax: one definition for every loop, so that the same score is the same weight wherever it is computed.
#pragma once

#include <bit>
#include <cstdint>

namespace headlight {

/// e^x for x ≤ 0 to about one unit in the last place; exactly 0 below −87 (and for −inf), NaN for NaN.
/// A loop over it vectorises without changing a bit. Method and coefficients: S. Moshier, Cephes library, expf.
inline float exponential(float x) {
  const float bounded = x < -87.0f ? -87.0f : x;
  // n = round(x / ln 2): adding and taking away 1.5·2^23 rounds to an integer.
  const float n = (bounded * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;  // x − n·ln 2, ln 2 in two parts
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);  // 2^n
  return x < -87.0f ? 0.0f : p * power;
}

}  // namespace headlight
