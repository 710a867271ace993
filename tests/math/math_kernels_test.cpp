#include "math/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/drawn_floats.h"
#include "core/reference.h"

namespace headlight {
namespace {

std::vector<NamedMathKernels> all_kernels() {
  const auto choice = runnable_math_kernels();
  return {choice.tables, choice.tables + choice.count};
}

/// X (m, k) · Wᵀ (k, n) + bias, rows of X `apart`, with all of W turned around.
Floats product(const MathKernels& kernels, Index m, Index n, Index k, const Floats& x, Index apart, const Floats& w,
               const Floats* bias) {
  Floats c(static_cast<std::size_t>(m * n)), turned(static_cast<std::size_t>(k * n));
  kernels.transpose(w.data(), k, n, k, turned.data(), n);
  kernels.product({.size = {m, n, k},
                   .a = {x.data(), apart},
                   .b = {turned.data(), n},
                   .c = {c.data(), n},
                   .bias = bias ? bias->data() : nullptr});
  return c;
}

TEST(MathKernels, ProductsOfEverySize) {
  for (const NamedMathKernels& named : all_kernels())
    for (const Index m : {1, 2, 3, 4, 5, 8, 9, 11, 17})
      for (const Index n : {1, 2, 4, 5, 16, 17, 130})
        for (const Index k : {1, 7, 16, 33, 512, 513, 1100}) {
          const Index apart = k + 3;
          const Floats x = drawn(m * apart, 1), w = drawn(n * k, 2), bias = drawn(n, 3);
          const Floats c = product(*named.table, m, n, k, x, apart, w, m % 2 == 0 ? &bias : nullptr);
          for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < n; ++j) {
              const auto at = [](const Floats& values, Index place) {
                return static_cast<double>(values[static_cast<std::size_t>(place)]);
              };
              double wanted = m % 2 == 0 ? at(bias, j) : 0;
              for (Index p = 0; p < k; ++p) wanted += at(x, i * apart + p) * at(w, j * k + p);
              ASSERT_NEAR(at(c, i * n + j), wanted, 4e-5 * std::max(1.0, std::abs(wanted) / 4))
                  << named.name << " " << m << "x" << n << "x" << k;
            }
        }
}

TEST(MathKernels, ProductsOfATransposedMatrixAddTheBiasAndWhatWasThere) {
  for (const NamedMathKernels& named : all_kernels()) {
    for (const Index m : {1, 2, 5, 6, 7, 13, 24, 25})
      for (const Index n : {1, 3, 4, 15, 16, 17, 33, 48, 64, 65, 80, 81, 100})
        for (const Index k : {0, 1, 9}) {
          const Floats a = drawn(m * k, 1), b = drawn(k * n, 2), bias = drawn(n, 3);
          for (const bool transposed : {false, true})
            for (const bool add : {false, true}) {
              Floats c(static_cast<std::size_t>(m * (n + 2)), 7.0f);
              Product product{.size = {m, n, k},
                              .a = {a.data(), transposed ? 1 : k, transposed ? m : 1},
                              .b = {b.data(), n},
                              .c = {c.data(), n + 2},
                              .bias = transposed ? bias.data() : nullptr,
                              .add = add};
              named.table->product(product);
              for (Index i = 0; i < m; ++i)
                for (Index j = 0; j < n + 2; ++j) {
                  const auto at = [](const Floats& x, Index place) {
                    return static_cast<double>(x[static_cast<std::size_t>(place)]);
                  };
                  double wanted = add || j >= n ? 7 : 0;
                  if (transposed && j < n) wanted += at(bias, j);
                  for (Index p = 0; p < k && j < n; ++p)
                    wanted += at(a, transposed ? p * m + i : i * k + p) * at(b, p * n + j);
                  ASSERT_NEAR(at(c, i * (n + 2) + j), wanted, 5e-6)
                      << named.name << " " << m << "x" << n << "x" << k << " at " << i << ", " << j;
                }
            }
        }
  }
}

TEST(MathKernels, TransposeEverySize) {
  for (const NamedMathKernels& named : all_kernels())
    for (const Index rows : {1, 4, 15, 16, 17, 40})
      for (const Index cols : {1, 3, 16, 31, 48}) {
        const Floats from = drawn(rows * cols, 1);
        Floats to(from.size());
        named.table->transpose(from.data(), cols, rows, cols, to.data(), rows);
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < cols; ++j)
            ASSERT_EQ(to[static_cast<std::size_t>(j * rows + i)], from[static_cast<std::size_t>(i * cols + j)])
                << named.name << " " << rows << "x" << cols;
      }
}

TEST(MathKernels, ARowAloneIsTheRowAmongOthers) {
  constexpr Index kRows = 21, kOut = 37, kIn = 700;
  const Floats x = drawn(kRows * kIn, 1), w = drawn(kOut * kIn, 2);
  for (const NamedMathKernels& named : all_kernels()) {
    const Floats all = product(*named.table, kRows, kOut, kIn, x, kIn, w, nullptr);
    for (const Index first : {0, 1, 6, 20})
      for (const Index count : {1, 2, 3, 7}) {
        if (first + count > kRows) continue;
        const Floats part(x.begin() + first * kIn, x.begin() + (first + count) * kIn);
        const Floats some = product(*named.table, count, kOut, kIn, part, kIn, w, nullptr);
        ASSERT_EQ(std::memcmp(some.data(), all.data() + first * kOut, some.size() * sizeof(float)), 0)
            << named.name << " rows from " << first;
      }
  }
}

TEST(MathKernels, WeightsAreTheRoundedQuotients) {
  constexpr Index kRow = 333;
  for (const NamedMathKernels& named : all_kernels())
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      const Floats scores = drawn(kRow, seed, seed % 3 == 0 ? 1.0f : seed % 3 == 1 ? 20.0f : 60.0f);
      Floats weights = scores;
      float largest = 0, sum = 0;
      named.table->softmax(weights.data(), kRow, largest, sum);
      Floats powers = scores;
      for (float& score : powers) score -= largest;
      named.table->exponential(powers.data(), kRow);
      for (std::size_t j = 0; j < scores.size(); ++j)
        ASSERT_EQ(weights[j], powers[j] / sum) << named.name << " " << seed << " " << j;
    }
}

TEST(MathKernels, OneNumberThatIsNotFiniteIsFoundAnywhere) {
  for (const NamedMathKernels& named : all_kernels())
    for (const Index count : {1, 3, 15, 16, 17, 63, 64, 65, 200}) {
      Floats x = drawn(count, 5, 1e38f);
      EXPECT_TRUE(named.table->finite(x.data(), count)) << named.name;
      for (float& one : x)
        for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()}) {
          const float right = std::exchange(one, wrong);
          ASSERT_FALSE(named.table->finite(x.data(), count)) << named.name << " " << count << " " << wrong;
          one = right;
        }
    }
}

TEST(MathKernels, TheLargestIsFoundAnywhereAndIsANumber) {
  for (const NamedMathKernels& named : all_kernels()) {
    EXPECT_EQ(named.table->largest(nullptr, 0), -std::numeric_limits<float>::infinity());
    for (const Index count : {1, 3, 15, 16, 17, 63, 200}) {
      Floats x = drawn(count, 6);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float before = std::exchange(x[i], 2.0f);
        ASSERT_EQ(named.table->largest(x.data(), count), 2.0f) << named.name << " " << count << " " << i;
        x[i] = std::numeric_limits<float>::quiet_NaN();
        ASSERT_LT(named.table->largest(x.data(), count), 1.0f) << named.name << " " << count << " " << i;
        x[i] = before;
      }
    }
  }
}

TEST(MathKernels, WhatIsFetchedMeanwhileChangesNoBit) {
  constexpr Index kOut = 64, kIn = 100;
  const Floats x = drawn(24 * kIn, 1), b = drawn(2 * kIn * kOut, 2);
  for (const NamedMathKernels& named : all_kernels())
    for (Index m = 1; m <= 24; ++m) {
      Floats c(static_cast<std::size_t>(m * kOut)), beside = c;
      Product product{.size = {m, kOut, kIn}, .a = {x.data(), kIn}, .b = {b.data(), kOut}, .c = {c.data(), kOut}};
      named.table->product(product);
      product.c.at = beside.data();
      product.ahead = b.data() + kIn * kOut;
      named.table->product(product);
      ASSERT_EQ(c, beside) << named.name << " " << m;
    }
}

TEST(MathKernels, KeysWithoutWeightChangeNoBit) {
  const float blocked = -std::numeric_limits<float>::infinity();
  for (const NamedMathKernels& named : all_kernels())
    for (const Index seen : {1, 5, 16, 100, 128, 129, 300}) {
      Floats alone = drawn(seen, 7, 5), among = alone;
      among.resize(alone.size() + 200, blocked);
      float largest[2], sum[2];
      named.table->softmax(alone.data(), seen, largest[0], sum[0]);
      named.table->softmax(among.data(), seen + 200, largest[1], sum[1]);
      EXPECT_EQ(largest[0], largest[1]);
      EXPECT_EQ(sum[0], sum[1]);
      among.resize(alone.size());
      EXPECT_EQ(alone, among) << named.name << " " << seen;
    }
}

TEST(MathKernels, ActivationsAgreeWithTheirFormulas) {
  for (const NamedMathKernels& named : all_kernels()) {
    const Floats x = drawn(2001, 4, 12);
    const auto expect = [&](void (*kernel)(float*, Index), Activation activation, const char* what) {
      Floats y = x;
      kernel(y.data(), static_cast<Index>(y.size()));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double wanted = reference::activated(static_cast<double>(x[i]), activation);
        ASSERT_NEAR(static_cast<double>(y[i]), wanted, 3e-7 * std::max(1.0, std::abs(wanted)))
            << named.name << " " << what << " " << x[i];
      }
    };
    expect(named.table->relu, Activation::relu, "relu");
    expect(named.table->gelu, Activation::gelu, "gelu");
    expect(named.table->gelu_tanh, Activation::gelu_tanh, "gelu_tanh");
    expect(named.table->silu, Activation::silu, "silu");
    expect(named.table->quick_gelu, Activation::quick_gelu, "quick_gelu");
  }
}

TEST(MathKernels, ActivationsWithTheirSlopes) {
  for (const NamedMathKernels& named : all_kernels()) {
    const Floats before = drawn(1001, 4, 8);
    const Index count = static_cast<Index>(before.size());
    Floats x = before, slope(x.size()), plain = before;
    named.table->gelu_with_slope(x.data(), slope.data(), count);
    named.table->gelu(plain.data(), count);
    EXPECT_EQ(x, plain) << named.name;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = static_cast<double>(before[i]), phi = 0.5 * std::erfc(-v / std::sqrt(2.0));
      ASSERT_NEAR(static_cast<double>(slope[i]), phi + v * std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi), 3e-7)
          << named.name << " " << v;
    }
    x = plain = before;
    named.table->relu_with_slope(x.data(), slope.data(), count);
    named.table->relu(plain.data(), count);
    EXPECT_EQ(x, plain) << named.name;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(slope[i], before[i] > 0.0f ? 1.0f : 0.0f);
  }
}

TEST(MathKernels, ANormGivesItsUnitRowAndInverseDeviation) {
  constexpr Index kD = 37;
  const Floats x = drawn(kD, 1, 3), scale = drawn(kD, 2), shift = drawn(kD, 3);
  for (const NamedMathKernels& named : all_kernels()) {
    Floats y(x.size()), again(x.size()), unit(x.size());
    float inverse = 0;
    RowNorm row{.d = kD, .scale = scale.data(), .shift = shift.data()};
    named.table->norm(row, x.data(), y.data());
    row.unit = unit.data();
    row.inverse = &inverse;
    named.table->norm(row, x.data(), again.data());
    EXPECT_EQ(y, again) << named.name;
    double mean = 0, squares = 0;
    for (const float v : x) mean += static_cast<double>(v) / kD;
    for (const float v : x) squares += std::pow(static_cast<double>(v) - mean, 2) / kD;
    const double wanted = 1 / std::sqrt(squares + 1e-5);
    EXPECT_NEAR(static_cast<double>(inverse), wanted, 1e-6 * wanted) << named.name;
    for (std::size_t j = 0; j < x.size(); ++j)
      ASSERT_NEAR(static_cast<double>(unit[j]), (static_cast<double>(x[j]) - mean) * wanted, 1e-6) << named.name;
  }
}

/// Everything that a table computes of one set of numbers, as bytes.
std::string everything(const MathKernels& kernels) {
  std::string bytes;
  const auto keep = [&](const Floats& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  const Floats x = drawn(19 * 601, 1, 3), w = drawn(45 * 601, 2), scale = drawn(601, 3), shift = drawn(601, 4);
  keep(product(kernels, 19, 45, 601, x, 601, w, nullptr));
  Floats y(601), turned(601 * 32);
  for (const bool centred : {true, false}) {
    kernels.norm({.d = 601, .centred = centred, .scale = scale.data(), .shift = centred ? shift.data() : nullptr},
                 x.data(), y.data());
    keep(y);
  }
  kernels.transpose(x.data(), 601, 19, 601, turned.data(), 32);
  keep(turned);
  for (const auto activation : {kernels.gelu, kernels.gelu_tanh, kernels.silu, kernels.relu}) {
    y.assign(x.begin(), x.begin() + 601);
    activation(y.data(), 601);
    keep(y);
  }
  for (const auto activation : {kernels.gelu_with_slope, kernels.relu_with_slope}) {
    Floats slope(601);
    activation(y.data(), slope.data(), 601);
    keep(slope);
  }
  y.assign(x.begin(), x.begin() + 601);
  float largest = 0, sum = 0;
  kernels.softmax(y.data(), 601, largest, sum);
  kernels.larger(y.data(), scale.data(), 601);
  keep(y);
  keep({largest, sum});
  return bytes;
}

TEST(MathKernels, ProcessorsWithFusedMultiplyAddGiveTheSameBits) {
  const auto all = all_kernels();
  if (all.size() < 3) GTEST_SKIP() << "this processor has no two kinds of it";
  EXPECT_TRUE(everything(*all[1].table) == everything(*all[2].table));
}

}  // namespace
}  // namespace headlight
