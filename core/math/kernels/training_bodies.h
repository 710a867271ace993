// Gradients of norms and softmax, cross-entropy and the optimizer, number by number. Compiled for several processors:
// see lanes.h.
#pragma once

#include "math/kernels/row_bodies.h"

namespace headlight {
namespace {

inline void norm_backward(const NormPass& pass, const float* dy, float* dx, bool add, float* dscale, float* dshift) {
  const Index d = pass.d;
  const float count = static_cast<float>(d);
  for (Index r = 0; r < pass.rows; ++r, dy += d, dx += d) {
    const float* unit = pass.unit + r * d;
    Sixteen total = sixteen_of(0), along = sixteen_of(0);
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

inline void multiply(float* x, const float* factors, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(x + i, load(x + i, count - i) * load(factors + i, count - i), count - i);
}

inline void add(float* x, const float* y, float factor, Index count) {
  for (Index i = 0; i < count; i += kWidth)
    store(x + i, load(x + i, count - i) + load(y + i, count - i) * factor, count - i);
}

/// The gradient of softmax: weights · (gradient − Σ weights · gradient).
inline void softmax_backward(const float* weights, float* row, Index size, float scale) {
  Sixteen total = sixteen_of(0);
  for (Index j = 0; j < size; j += kWidth)
    total.part[part_of(j)] += load(weights + j, size - j) * load(row + j, size - j);
  const float mean = sum(total);
  for (Index j = 0; j < size; j += kWidth)
    store(row + j, load(weights + j, size - j) * (load(row + j, size - j) - mean) * scale, size - j);
}

inline double cross_entropy(float* scores, Index n, Index target, float weight, float smoothing, bool& right) {
  Sixteen plain = sixteen_of(0);
  for (Index j = 0; j < n; j += kWidth) plain.part[part_of(j)] += load(scores + j, n - j);
  const float own = scores[target], spread = smoothing / static_cast<float>(n);
  float largest, total;
  softmax(scores, n, largest, total);
  right = own >= largest;
  for (Index j = 0; j < n; j += kWidth) store(scores + j, (load(scores + j, n - j) - spread) * weight, n - j);
  scores[target] -= (1.0f - smoothing) * weight;
  const double whole = static_cast<double>(largest) + __builtin_log(static_cast<double>(total));
  const double wanted = (1.0 - static_cast<double>(smoothing)) * static_cast<double>(own) +
                        static_cast<double>(spread) * static_cast<double>(sum(plain));
  return whole - wanted;
}

/// The finalizer of MurmurHash3 (Appleby 2011) over the index, with half of the seed before and half after it.
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
    Sixteen total = sixteen_of(0);
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

#define HEADLIGHT_MATH_KERNEL_TABLE                                                                                  \
  {                                                                                                                  \
    product, transpose, widen, softmax, exponential, norm, relu, gelu, gelu_tanh, silu, quick_gelu, relu_with_slope, \
        gelu_with_slope, largest_of, larger_of_both, finite, norm_backward, multiply, add, softmax_backward,         \
        cross_entropy, dropout_factors, sum_of_squares, adamw                                                        \
  }

}  // namespace
}  // namespace headlight
