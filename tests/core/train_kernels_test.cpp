#include "train/network/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/pool.h"
#include "drawn_floats.h"
#include "math/ops.h"

namespace headlight {
namespace {

std::vector<NamedKernels> all_kernels() {
  const auto choice = runnable_kernels();
  return {choice.tables, choice.tables + choice.count};
}

TEST(Kernels, ProductsOfEverySizeAndEitherWayRound) {
  for (const NamedKernels& named : all_kernels()) {
    for (const Index m : {1, 2, 5, 6, 7, 13, 24, 25})
      for (const Index n : {1, 3, 4, 15, 16, 17, 33, 48, 64, 65, 80, 81, 100})
        for (const Index k : {0, 1, 9}) {
          const Floats a = drawn(m * k, 1), b = drawn(k * n, 2), bias = drawn(n, 3);
          for (const bool turned : {false, true})
            for (const bool add : {false, true}) {
              Floats c(static_cast<std::size_t>(m * (n + 2)), 7.0f);
              Product product{.m = m,
                              .n = n,
                              .k = k,
                              .a = a.data(),
                              .a_row = turned ? 1 : k,
                              .a_col = turned ? m : 1,
                              .b = b.data(),
                              .b_row = n,
                              .c = c.data(),
                              .c_row = n + 2,
                              .bias = turned ? bias.data() : nullptr,
                              .add = add};
              named.table->product(product);
              for (Index i = 0; i < m; ++i)
                for (Index j = 0; j < n + 2; ++j) {
                  const auto at = [](const Floats& x, Index place) {
                    return static_cast<double>(x[static_cast<std::size_t>(place)]);
                  };
                  double wanted = add || j >= n ? 7 : 0;
                  if (turned && j < n) wanted += at(bias, j);
                  for (Index p = 0; p < k && j < n; ++p)
                    wanted += at(a, turned ? p * m + i : i * k + p) * at(b, p * n + j);
                  ASSERT_NEAR(at(c, i * (n + 2) + j), wanted, 5e-6)
                      << named.name << " " << m << "x" << n << "x" << k << " at " << i << ", " << j;
                }
            }
        }
  }
}

TEST(Kernels, TransposeEverySize) {
  for (const NamedKernels& named : all_kernels())
    for (const Index rows : {1, 4, 15, 16, 17, 40})
      for (const Index cols : {1, 3, 16, 31, 48}) {
        const Floats from = drawn(rows * cols, 1);
        Floats to(from.size());
        named.table->transpose(from.data(), rows, cols, to.data());
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < cols; ++j)
            ASSERT_EQ(to[static_cast<std::size_t>(j * rows + i)], from[static_cast<std::size_t>(i * cols + j)])
                << named.name << " " << rows << "x" << cols;
      }
}

TEST(Kernels, ActivationsAndTheirSlopes) {
  for (const NamedKernels& named : all_kernels()) {
    Floats x = drawn(1001, 4, 8), slope(x.size());
    const Floats before = x;
    named.table->gelu(x.data(), slope.data(), static_cast<Index>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = static_cast<double>(before[i]), phi = 0.5 * std::erfc(-v / std::sqrt(2.0));
      ASSERT_NEAR(static_cast<double>(x[i]), v * phi, 1e-6) << named.name << " gelu(" << v << ")";
      ASSERT_NEAR(static_cast<double>(slope[i]), phi + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI), 1e-6);
      ASSERT_NEAR(x[i], activate(before[i], Activation::gelu), 2e-6f);
    }
    x = before;
    named.table->relu(x.data(), slope.data(), static_cast<Index>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(x[i], std::max(before[i], 0.0f));
      ASSERT_EQ(slope[i], before[i] > 0.0f ? 1.0f : 0.0f);
    }
  }
}

TEST(Kernels, CrossEntropyOfLargeScoresStaysFinite) {
  for (const NamedKernels& named : all_kernels()) {
    Floats scores{1000, 0, -1000, 999};
    bool right = true;
    const double nats = named.table->cross_entropy(scores.data(), 4, 3, 2, 0, right);
    EXPECT_NEAR(nats, 1 + std::log1p(std::exp(-1.0)), 1e-6) << named.name;
    EXPECT_FALSE(right);
    const double p = 1 / (1 + std::exp(-1.0));
    EXPECT_NEAR(static_cast<double>(scores[0]), 2 * p, 1e-6);
    EXPECT_NEAR(static_cast<double>(scores[3]), 2 * (1 - p) - 2, 1e-6);
    EXPECT_EQ(scores[2], 0.0f);
  }
}

/// Everything that a table computes of one set of numbers, as bytes.
std::string everything(const Kernels& kernels) {
  std::string bytes;
  const auto keep = [&](const Floats& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  constexpr Index kRows = 19, kD = 37;
  const Floats x = drawn(kRows * kD, 1, 3), scale = drawn(kD, 2), shift = drawn(kD, 3);
  Floats y(x.size()), unit(x.size()), inverse(kRows), dx(x.size()), dscale(kD), dshift(kD);
  const NormPass norm{.rows = kRows,
                      .d = kD,
                      .scale = scale.data(),
                      .shift = shift.data(),
                      .unit = unit.data(),
                      .inverse = inverse.data()};
  kernels.norm_forward(norm, x.data(), y.data());
  kernels.norm_backward(norm, x.data(), dx.data(), false, dscale.data(), dshift.data());
  for (const Floats* values : {&y, &unit, &inverse, &dx, &dscale, &dshift}) keep(*values);

  constexpr Index kTokens = 21, kHead = 11, kRow = 32, kWide = 3 * kHead;
  const Floats projected = drawn(kTokens * kWide, 5), dz = drawn(kTokens * kHead, 6);
  Floats weights(kTokens * kRow), z(kTokens * kHead), scratch((kHead + kTokens) * kRow), back(projected.size());
  const AttentionPass pass{.queries = kTokens,
                           .keys = kTokens,
                           .d_k = kHead,
                           .weights_row = kRow,
                           .scale = 0.3f,
                           .causal = true,
                           .q = projected.data(),
                           .k = projected.data() + kHead,
                           .v = projected.data() + 2 * kHead,
                           .q_row = kWide,
                           .k_row = kWide,
                           .v_row = kWide,
                           .weights = weights.data(),
                           .z = z.data(),
                           .z_row = kHead,
                           .scratch = scratch.data()};
  kernels.attention_forward(pass);
  kernels.attention_backward(
      pass, {.z = dz.data(), .q = back.data(), .k = back.data() + kHead, .v = back.data() + 2 * kHead});
  for (const Floats* values : {&weights, &z, &back}) keep(*values);

  Floats hidden = drawn(333, 7, 4), slope(hidden.size()), factors(100), scores = drawn(101, 8, 5);
  kernels.gelu(hidden.data(), slope.data(), 333);
  kernels.dropout_factors(9, 0.2f, factors.data(), 100);
  bool right = false;
  double sums[2] = {kernels.cross_entropy(scores.data(), 101, 50, 0.5f, 0.1f, right),
                    kernels.sum_of_squares(x.data(), kRows * kD)};
  Floats first(100, 0.1f), second(100, 0.2f), values = drawn(100, 10);
  kernels.adamw({.beta1 = 0.9f, .beta2 = 0.98f, .epsilon = 1e-8f, .keep = 0.99f, .rate = 0.01f}, x.data(), first.data(),
                second.data(), values.data(), 100);
  for (const Floats* kept : {&hidden, &slope, &factors, &scores, &first, &second, &values}) keep(*kept);
  bytes.append(reinterpret_cast<const char*>(sums), sizeof sums);
  return bytes;
}

// What is trained on one machine comes out the same on another.
TEST(Kernels, AreTheSameBitsOnAllProcessorsThatHaveFusedMultiplyAdd) {
  const std::vector<NamedKernels> all = all_kernels();
  for (std::size_t i = 2; i < all.size(); ++i)
    EXPECT_TRUE(everything(*all[i].table) == everything(*all[1].table)) << all[i].name << " and " << all[1].name;
  const std::string plain = everything(*all[0].table), best = everything(kernels());
  ASSERT_EQ(plain.size(), best.size());
  for (std::size_t at = 0; at + 2 * sizeof(double) < plain.size(); at += sizeof(float)) {
    float a, b;
    std::memcpy(&a, plain.data() + at, sizeof a);
    std::memcpy(&b, best.data() + at, sizeof b);
    ASSERT_NEAR(a, b, 2e-5f * std::max(1.0f, std::abs(a))) << at / sizeof(float);
  }
}

TEST(Pool, CallsEachPartOnceAndNoWorkerTwiceAtATime) {
  for (const int threads : {1, 2, 3, 7}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<std::atomic<int>> at_work(static_cast<std::size_t>(threads));
    for (int round = 0; round < 300; ++round) {
      std::vector<std::atomic<int>> calls(17);
      std::atomic<bool> overlap = false;
      pool.run(17, [&](Index part, int worker) {
        if (at_work[static_cast<std::size_t>(worker)]++ != 0) overlap = true;
        ++calls[static_cast<std::size_t>(part)];
        --at_work[static_cast<std::size_t>(worker)];
      });
      for (const auto& n : calls) ASSERT_EQ(n, 1) << threads << " threads, round " << round;
      ASSERT_FALSE(overlap);
    }
    pool.run(0, [](Index, int) { FAIL(); });
  }
}

}  // namespace
}  // namespace headlight
