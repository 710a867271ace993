#include "math/kernels/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/pool.h"
#include "core/drawn_floats.h"

namespace headlight {
namespace {

std::vector<NamedMathKernels> all_training_kernels() {
  const auto choice = runnable_math_kernels();
  return {choice.tables, choice.tables + choice.count};
}

TEST(Kernels, CrossEntropyOfLargeScoresStaysFinite) {
  for (const NamedMathKernels& named : all_training_kernels()) {
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

/// Everything that the kernels of training compute of one set of numbers, as bytes.
std::string all_of_training(const MathKernels& kernels) {
  std::string bytes;
  const auto keep = [&](const Floats& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  constexpr Index kRows = 19, kD = 37;
  const Floats x = drawn(kRows * kD, 1, 3), scale = drawn(kD, 2), shift = drawn(kD, 3);
  Floats unit = drawn(kRows * kD, 4), inverse = drawn(kRows, 5), dx(x.size()), dscale(kD), dshift(kD);
  const NormPass norm{.rows = kRows,
                      .d = kD,
                      .scale = scale.data(),
                      .shift = shift.data(),
                      .unit = unit.data(),
                      .inverse = inverse.data()};
  kernels.norm_backward(norm, x.data(), dx.data(), false, dscale.data(), dshift.data());
  for (const Floats* values : {&dx, &dscale, &dshift}) keep(*values);

  Floats scores_back = drawn(kD, 6), weights = drawn(kD, 7);
  kernels.softmax_backward(weights.data(), scores_back.data(), kD, 0.3f);
  keep(scores_back);

  Floats factors(100), scores = drawn(101, 8, 5);
  kernels.dropout_factors(9, 0.2f, factors.data(), 100);
  bool right = false;
  double sums[2] = {kernels.cross_entropy(scores.data(), 101, 50, 0.5f, 0.1f, right),
                    kernels.sum_of_squares(x.data(), kRows * kD)};
  Floats first(100, 0.1f), second(100, 0.2f), values = drawn(100, 10);
  kernels.adamw({.beta1 = 0.9f, .beta2 = 0.98f, .epsilon = 1e-8f, .keep = 0.99f, .rate = 0.01f}, x.data(), first.data(),
                second.data(), values.data(), 100);
  for (const Floats* kept : {&factors, &scores, &first, &second, &values}) keep(*kept);
  bytes.append(reinterpret_cast<const char*>(sums), sizeof sums);
  return bytes;
}

// What is trained on one machine comes out the same on another.
TEST(Kernels, AreTheSameBitsOnAllProcessorsThatHaveFusedMultiplyAdd) {
  const std::vector<NamedMathKernels> all = all_training_kernels();
  for (std::size_t i = 2; i < all.size(); ++i)
    EXPECT_TRUE(all_of_training(*all[i].table) == all_of_training(*all[1].table))
        << all[i].name << " and " << all[1].name;
  const std::string plain = all_of_training(*all[0].table), best = all_of_training(math_kernels());
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
