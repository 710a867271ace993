// softmax(), norm() and activated() of math/reference.h, a row at a time: exp(s − max) / Σ exp(s − max); (x − mean) /
// standard deviation · scale + shift; x·Φ(x). Compiled for several kinds of processor: see lanes.h.
#pragma once

#include "math/kernels/kernels.h"
#include "math/kernels/lanes.h"

namespace headlight {
namespace {

inline Sixteen sixteen_of(float x) {
  Sixteen all_of_it;
  HEADLIGHT_UNROLL
  for (int i = 0; i < 16 / kWidth; ++i) all_of_it.part[i] = all(x);
  return all_of_it;
}

/// Calls visit(index, left) for each register of [begin, end): `left` is kWidth, in the last possibly less.
template <class Visit>
inline void registers(Index begin, Index end, const Visit& visit) {
  Index j = begin;
  for (; j + kWidth <= end; j += kWidth) visit(j, Index{kWidth});
  if (j < end) visit(j, end - j);
}

/// The first `left` numbers of `x`, then `other`.
inline Lanes filled(Lanes x, Index left, float other) { return left == kWidth ? x : first(x, left, other); }

inline float largest_of(const float* row, Index count) {
  constexpr int kTogether = 4;  // independent maxima hide the latency of the comparison
  Lanes peaks[kTogether];
  HEADLIGHT_UNROLL
  for (Lanes& peak : peaks) peak = all(-__builtin_inff());
  for (; count > kTogether * kWidth; row += kTogether * kWidth, count -= kTogether * kWidth) {
    HEADLIGHT_UNROLL
    for (int i = 0; i < kTogether; ++i) peaks[i] = larger(load(row + i * kWidth), peaks[i]);
  }
  Sixteen peak = sixteen_of(-__builtin_inff());
  for (const Lanes& one : peaks) peak.part[0] = larger(one, peak.part[0]);
  registers(0, count, [&](Index j, Index left) {
    Lanes& part = peak.part[part_of(j)];
    part = larger(filled(load(row + j, left), left, -__builtin_inff()), part);
  });
  return fold(peak, [](Lanes a, Lanes b) { return larger(a, b); });
}

/// row ← exp(row − largest); returns the sum: stretches of 128 in float32, the sum of those in double.
inline double exponentials(float* row, Index count, float largest) {
  constexpr Index kStretch = 128;
  double result = 0;
  for (Index begin = 0; begin < count; begin += kStretch) {
    const Index end = count - begin < kStretch ? count : begin + kStretch;
    Sixteen total = sixteen_of(0);
    registers(begin, end, [&](Index j, Index left) {
      const Lanes x = filled(exponential_lanes(load(row + j, left) - largest), left, 0);
      store(row + j, x, left);
      total.part[part_of(j)] += x;
    });
    result += static_cast<double>(sum(total));
  }
  return result;
}

/// Softmax of a row of at most sixteen numbers, which stay in registers.
inline void short_softmax(float* row, Index count, float largest, float& total) {
  Sixteen weights = sixteen_of(0);
  registers(0, count, [&](Index j, Index left) {
    weights.part[part_of(j)] = filled(exponential_lanes(load(row + j, left) - largest), left, 0);
  });
  total = static_cast<float>(static_cast<double>(sum(weights)));
  const Lanes divisor = all(total);
  registers(0, count, [&](Index j, Index left) { store(row + j, weights.part[part_of(j)] / divisor, left); });
}

inline void softmax(float* row, Index count, float& largest, float& total) {
  largest = largest_of(row, count);
  if (largest == -__builtin_inff()) {
    // A comparison with NaN is false: a row of NaN must not be taken for a row whose keys are all blocked.
    bool blocked = true;
    for (Index j = 0; j < count; ++j) blocked = blocked && row[j] == -__builtin_inff();
    total = blocked ? 0.0f : __builtin_nanf("");
    for (Index j = 0; j < count; ++j) row[j] = total;
    return;
  }
  if (count <= 16) return short_softmax(row, count, largest, total);
  total = static_cast<float>(exponentials(row, count, largest));
  const Quotients quotients(total);
  registers(0, count, [&](Index j, Index left) { store(row + j, quotients(load(row + j, left)), left); });
}

inline void norm(const RowNorm& own, const float* x, float* y) {
  const float size = static_cast<float>(own.d);
  float* unit = own.unit ? own.unit : y;
  float mean = 0;
  if (own.centred) {
    Sixteen total = sixteen_of(0);
    for (Index j = 0; j < own.d; j += kWidth) total.part[part_of(j)] += load(x + j, own.d - j);
    mean = sum(total) / size;
  }
  Sixteen squares = sixteen_of(0);
  for (Index j = 0; j < own.d; j += kWidth) {
    const Lanes centred = first(load(x + j, own.d - j) - mean, own.d - j, 0);
    store(unit + j, centred, own.d - j);
    squares.part[part_of(j)] += centred * centred;
  }
  const float inverse = 1.0f / __builtin_sqrtf(sum(squares) / size + own.epsilon);
  if (own.inverse) *own.inverse = inverse;
  for (Index j = 0; j < own.d; j += kWidth) {
    const Lanes normalized = load(unit + j, own.d - j) * inverse;
    if (own.unit) store(unit + j, normalized, own.d - j);
    Lanes result = normalized * load(own.scale + j, own.d - j);
    if (own.shift) result += load(own.shift + j, own.d - j);
    store(y + j, result, own.d - j);
  }
}

template <class Function>
inline void each(float* x, Index count, const Function& function) {
  for (Index i = 0; i < count; i += kWidth) store(x + i, function(load(x + i, count - i)), count - i);
}

/// 1 / (1 + e^−x), to a few units in the last digit for either sign.
inline Lanes logistic(Lanes x) {
  const Lanes e = exponential_lanes(x < 0.0f ? x : -x);
  return (x < 0.0f ? e : all(1.0f)) / (1.0f + e);
}

inline void exponential(float* x, Index count) { each(x, count, exponential_lanes); }

inline void relu(float* x, Index count) {
  each(x, count, [](Lanes v) { return v < 0.0f ? Lanes{} : v; });
}

inline void relu_with_slope(float* x, float* slope, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(slope + i, load(x + i, count - i) > 0.0f ? all(1.0f) : Lanes{}, count - i);
  relu(x, count);
}

/// Φ(x), the distribution function of the standard normal distribution, by the complementary error function of Press et
/// al., Numerical Recipes, section 6.2 (erfcc): its relative error is below 1.2e-7 everywhere.
inline Lanes normal_distribution(Lanes x) {
  const Lanes size = (x < 0.0f ? -x : x) * 0.70710678f;
  const Lanes t = 1.0f / (1.0f + size * 0.5f);
  Lanes p = all(0.17087277f);
  p = multiply_add(p, t, all(-0.82215223f));
  p = multiply_add(p, t, all(1.48851587f));
  p = multiply_add(p, t, all(-1.13520398f));
  p = multiply_add(p, t, all(0.27886807f));
  p = multiply_add(p, t, all(-0.18628806f));
  p = multiply_add(p, t, all(0.09678418f));
  p = multiply_add(p, t, all(0.37409196f));
  p = multiply_add(p, t, all(1.00002368f));
  p = multiply_add(p, t, all(-1.26551223f));
  const Lanes tail = t * exponential_lanes(p - size * size) * 0.5f;  // 1 − Φ(|x|)
  return x < 0.0f ? tail : 1.0f - tail;
}

/// x·Φ(x)
inline void gelu(float* x, Index count) {
  each(x, count, [](Lanes v) { return v * normal_distribution(v); });
}

/// The derivative is Φ(x) + x·φ(x), φ being the density e^(−x²/2) / √(2π).
inline void gelu_with_slope(float* x, float* slope, Index count) {
  for (Index i = 0; i < count; i += kWidth) {
    const Lanes v = load(x + i, count - i), below = normal_distribution(v);
    store(slope + i, below + v * exponential_lanes(v * v * -0.5f) * 0.39894228f, count - i);
    store(x + i, v * below, count - i);
  }
}

/// ½(1 + tanh y) is the logistic function of 2y.
inline void gelu_tanh(float* x, Index count) {
  each(x, count, [](Lanes v) { return v * logistic((v + v * v * v * 0.044715f) * (2 * 0.79788456f)); });
}

inline void silu(float* x, Index count) {
  each(x, count, [](Lanes v) { return v * logistic(v); });
}

inline void quick_gelu(float* x, Index count) {
  each(x, count, [](Lanes v) { return v * logistic(v * 1.702f); });
}

inline void larger_of_both(float* into, const float* x, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(into + i, larger(load(x + i, count - i), load(into + i, count - i)), count - i);
}

/// 0·x is NaN where x is not finite, and stays so in a sum.
inline bool finite(const float* x, Index count) {
  Lanes sums[4] = {};
  Index i = 0;
  for (; i + 4 * kWidth <= count; i += 4 * kWidth) {
    HEADLIGHT_UNROLL
    for (int l = 0; l < 4; ++l) sums[l] += load(x + i + l * kWidth) * 0.0f;
  }
  for (; i < count; i += kWidth) sums[0] += load(x + i, count - i) * 0.0f;
  const Lanes all_of_them = sums[0] + sums[1] + sums[2] + sums[3];
  return !any(all_of_them != 0.0f);
}

}  // namespace
}  // namespace headlight
