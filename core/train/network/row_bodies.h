// Norms, activations, cross-entropy and the optimizer, number by number. Compiled for several processors: see lanes.h.
#pragma once

#include "math/lanes.h"
#include "train/network/kernels.h"

namespace headlight {
namespace {

inline Sixteen nothing() {
  Sixteen x;
  HEADLIGHT_UNROLL
  for (int i = 0; i < 16 / kWidth; ++i) x.part[i] = Lanes{};
  return x;
}

inline void norm_forward(const NormPass& pass, const float* x, float* y) {
  const Index d = pass.d;
  const float count = static_cast<float>(d);
  for (Index r = 0; r < pass.rows; ++r, x += d, y += d) {
    float* unit = pass.unit + r * d;
    float mean = 0;
    if (pass.centred) {
      Sixteen total = nothing();
      for (Index j = 0; j < d; j += kWidth) total.part[part_of(j)] += load(x + j, d - j);
      mean = sum(total) / count;
    }
    Sixteen squares = nothing();
    for (Index j = 0; j < d; j += kWidth) {
      const Lanes centred = first(load(x + j, d - j) - mean, d - j, 0);
      store(unit + j, centred, d - j);
      squares.part[part_of(j)] += centred * centred;
    }
    const float inverse = 1.0f / __builtin_sqrtf(sum(squares) / count + pass.epsilon);
    pass.inverse[r] = inverse;
    for (Index j = 0; j < d; j += kWidth) {
      const Lanes scaled = load(unit + j, d - j) * inverse;
      store(unit + j, scaled, d - j);
      Lanes result = scaled * load(pass.scale + j, d - j);
      if (pass.shift) result += load(pass.shift + j, d - j);
      store(y + j, result, d - j);
    }
  }
}

inline void norm_backward(const NormPass& pass, const float* dy, float* dx, bool add, float* dscale, float* dshift) {
  const Index d = pass.d;
  const float count = static_cast<float>(d);
  for (Index r = 0; r < pass.rows; ++r, dy += d, dx += d) {
    const float* unit = pass.unit + r * d;
    Sixteen total = nothing(), along = nothing();
    for (Index j = 0; j < d; j += kWidth) {
      const Lanes given = load(dy + j, d - j), own = load(unit + j, d - j);
      const Lanes g = given * load(pass.scale + j, d - j), product_with_unit = given * own;
      total.part[part_of(j)] += g;
      along.part[part_of(j)] += g * own;
      store(dscale + j, load(dscale + j, d - j) + product_with_unit, d - j);
      if (dshift) store(dshift + j, load(dshift + j, d - j) + given, d - j);
    }
    const float mean = pass.centred ? sum(total) / count : 0.0f, slope = sum(along) / count;
    for (Index j = 0; j < d; j += kWidth) {
      const Lanes g = load(dy + j, d - j) * load(pass.scale + j, d - j);
      Lanes result = (g - mean - load(unit + j, d - j) * slope) * pass.inverse[r];
      if (add) result += load(dx + j, d - j);
      store(dx + j, result, d - j);
    }
  }
}

inline void relu(float* x, float* slope, Index count) {
  for (Index i = 0; i < count; i += kWidth) {
    const Lanes v = load(x + i, count - i);
    store(slope + i, v > 0.0f ? all(1.0f) : Lanes{}, count - i);
    store(x + i, v > 0.0f ? v : Lanes{}, count - i);
  }
}

/// x·Φ(x) and its derivative Φ(x) + x·φ(x). Φ by the error function of Abramowitz & Stegun 1964, 7.1.26 (error below
/// 1.5e-7), which needs the same exponential as φ.
inline void gelu(float* x, float* slope, Index count) {
  for (Index i = 0; i < count; i += kWidth) {
    const Lanes v = load(x + i, count - i);
    const Lanes size = v < 0.0f ? -v : v;
    const Lanes bell = exponential_lanes(v * v * -0.5f);
    const Lanes t = 1.0f / (size * (0.3275911f * 0.70710678f) + 1.0f);
    Lanes tail = all(1.061405429f);
    tail = tail * t - 1.453152027f;
    tail = tail * t + 1.421413741f;
    tail = tail * t - 0.284496736f;
    tail = tail * t + 0.254829592f;
    tail = tail * t * bell * 0.5f;  // 1 − Φ(|x|)
    const Lanes below = v < 0.0f ? tail : 1.0f - tail;
    store(slope + i, below + v * bell * 0.39894228f, count - i);
    store(x + i, v * below, count - i);
  }
}

inline void multiply(float* x, const float* factors, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(x + i, load(x + i, count - i) * load(factors + i, count - i), count - i);
}

inline void add(float* x, const float* y, float factor, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(x + i, load(x + i, count - i) + load(y + i, count - i) * factor, count - i);
}

inline double cross_entropy(float* scores, Index n, Index target, float weight, float smoothing, bool& right) {
  Sixteen peak, total = nothing(), plain = nothing();
  HEADLIGHT_UNROLL
  for (int i = 0; i < 16 / kWidth; ++i) peak.part[i] = all(-3.0e38f);
  for (Index j = 0; j < n; j += kWidth) {
    const Lanes x = load(scores + j, n - j);
    Lanes& part = peak.part[part_of(j)];
    part = larger(part, first(x, n - j, -3.0e38f));
    plain.part[part_of(j)] += x;
  }
  const float most = fold(peak, [](Lanes a, Lanes b) { return larger(a, b); });
  const float own = scores[target];
  right = own >= most;
  for (Index j = 0; j < n; j += kWidth) {
    const Lanes x = first(exponential_lanes(load(scores + j, n - j) - most), n - j, 0);
    store(scores + j, x, n - j);
    total.part[part_of(j)] += x;
  }
  const float all_of_them = sum(total);
  const float spread = smoothing / static_cast<float>(n);
  for (Index j = 0; j < n; j += kWidth)
    store(scores + j, (load(scores + j, n - j) * (1.0f / all_of_them) - spread) * weight, n - j);
  scores[target] -= (1.0f - smoothing) * weight;
  const double whole = static_cast<double>(most) + __builtin_log(static_cast<double>(all_of_them));
  const double wanted = (1.0 - static_cast<double>(smoothing)) * static_cast<double>(own) +
                        static_cast<double>(spread) * static_cast<double>(sum(plain));
  return whole - wanted;
}

/// The finalizer of MurmurHash3 (Appleby 2011) over the place, with half of the seed before and half after it.
inline void dropout_factors(std::uint64_t seed, float p, float* factors, Index count) {
  const auto before = static_cast<std::uint32_t>(seed), after = static_cast<std::uint32_t>(seed >> 32);
  const auto mixed = [](std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
  };
  const auto limit = static_cast<std::uint32_t>(p * 16777216.0f);
  const float kept = 1.0f / (1.0f - p);
  for (Index i = 0; i < count; ++i)
    factors[i] = mixed(mixed(static_cast<std::uint32_t>(i) ^ before) + after) >> 8 < limit ? 0.0f : kept;
}

inline double sum_of_squares(const float* x, Index count) {
  constexpr Index kBlock = 1024;  // summed in float32, the blocks in double
  double result = 0;
  for (Index begin = 0; begin < count; begin += kBlock) {
    const Index size = count - begin < kBlock ? count - begin : kBlock;
    Sixteen total = nothing();
    for (Index j = 0; j < size; j += kWidth) {
      const Lanes v = load(x + begin + j, size - j);
      total.part[part_of(j)] += v * v;
    }
    result += static_cast<double>(sum(total));
  }
  return result;
}

inline void adamw(const AdamWStep& step, const float* gradients, float* first_moments, float* second_moments,
                  float* values, Index count) {
  for (Index i = 0; i < count; i += kWidth) {
    const Index left = count - i;
    const Lanes g = load(gradients + i, left) * step.gradient_scale;
    const Lanes m = load(first_moments + i, left) * step.beta1 + g * (1.0f - step.beta1);
    const Lanes v = load(second_moments + i, left) * step.beta2 + g * g * (1.0f - step.beta2);
    store(first_moments + i, m, left);
    store(second_moments + i, v, left);
    const Lanes change = m / (square_root(v) * step.correction + step.epsilon) * step.rate;
    store(values + i, load(values + i, left) * step.keep - change, left);
  }
}

#define HEADLIGHT_KERNEL_TABLE                                                                           \
  {                                                                                                      \
    product, transpose_whole, norm_forward, norm_backward, relu, gelu, multiply, add, attention_forward, \
        attention_backward, cross_entropy, dropout_factors, sum_of_squares, adamw                        \
  }

}  // namespace
}  // namespace headlight
