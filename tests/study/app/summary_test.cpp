// Means, intervals and tests of many pairs, each against a second implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "study/kept/summary.h"
#include "study/study.h"

namespace headlight {
namespace {

using Doubles = std::vector<double>;

/// Shares whose wholes lie far apart, one of them close to 0: what a mean of ratios cannot bear.
Numbers uneven_shares() {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Numbers numbers;
  for (int i = 0; i < 40; ++i) {
    numbers.wholes.push_back(i == 3 ? 0.01 : 8 + 2 * normal(random));
    numbers.values.push_back((0.3 * numbers.wholes.back() + 0.5 * normal(random)) / numbers.wholes.back());
  }
  return numbers;
}

Doubles products(const Numbers& numbers) {
  Doubles products;
  for (std::size_t i = 0; i < numbers.values.size(); ++i) products.push_back(numbers.values[i] * numbers.wholes[i]);
  return products;
}

double sum(const Doubles& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// 2.5 % and 97.5 % of the means of samples drawn with replacement, by another generator.
template <class Mean>
std::pair<double, double> interval(std::size_t count, const Mean& mean) {
  std::mt19937_64 random(1);
  Doubles means;
  std::vector<std::size_t> drawn(count);
  for (int draw = 0; draw < 20000; ++draw) {
    for (std::size_t& one : drawn) one = random() % count;
    means.push_back(mean(drawn));
  }
  std::sort(means.begin(), means.end());
  return {means[500], means[19500]};
}

Summary of(const Numbers& numbers, Normalise how) { return summaries_of({&numbers}, how).front(); }

TEST(Summaries, AShareOfMeanDifferencesHasNoSmallDenominator) {
  const Numbers numbers = uneven_shares();
  const Doubles differences = products(numbers);
  const Summary total = of(numbers, Normalise::total);
  EXPECT_NEAR(total.mean, sum(differences) / sum(numbers.wholes), 1e-12);
  EXPECT_NEAR(total.difference.value(), sum(differences) / 40, 1e-12);
  EXPECT_NEAR(total.mean, 0.3, 0.05);
  EXPECT_NEAR(of(numbers, Normalise::pairs).mean, sum(numbers.values) / 40, 1e-12);
  EXPECT_GT(std::abs(of(numbers, Normalise::pairs).mean - 0.3), 0.3) << "one pair of 40 says it all";
  EXPECT_NEAR(of(numbers, Normalise::none).mean, sum(differences) / 40, 1e-12);
  Doubles sorted = numbers.values;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NEAR(total.median, (sorted[19] + sorted[20]) / 2, 1e-12);
}

TEST(Summaries, TheIntervalIsTheBootstrapOfTheSameMean) {
  const Numbers numbers = uneven_shares();
  const Doubles differences = products(numbers);
  const auto share = [&](const std::vector<std::size_t>& drawn) {
    double above = 0, below = 0;
    for (const std::size_t i : drawn) above += differences[i], below += numbers.wholes[i];
    return above / below;
  };
  const auto difference = [&](const std::vector<std::size_t>& drawn) {
    double above = 0;
    for (const std::size_t i : drawn) above += differences[i];
    return above / 40;
  };
  const Summary total = of(numbers, Normalise::total);
  const auto near = [](double low, double high, const std::pair<double, double>& expected) {
    const double spread = (expected.second - expected.first) / 4;  // about a standard error
    EXPECT_NEAR(low, expected.first, 0.15 * spread);
    EXPECT_NEAR(high, expected.second, 0.15 * spread);
  };
  near(*total.low, *total.high, interval(40, share));
  near(*total.difference_low, *total.difference_high, interval(40, difference));
  const Summary none = of(numbers, Normalise::none);
  near(*none.low, *none.high, interval(40, difference));
}

TEST(Summaries, AreTheSameOnAnyNumberOfThreads) {
  std::vector<Numbers> numbers(300, uneven_shares());
  std::vector<const Numbers*> all;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (double& value : numbers[i].values) value += static_cast<double>(i);
    if (i % 3 == 0) numbers[i].values.resize(20), numbers[i].wholes.resize(20);
    all.push_back(&numbers[i]);
  }
  const auto one = summaries_of(all, Normalise::total, 1), three = summaries_of(all, Normalise::total, 3);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].low, three[i].low);
    EXPECT_EQ(one[i].mean, three[i].mean);
    EXPECT_EQ(one[i].low, of(numbers[i], Normalise::total).low) << "whatever stands beside it";
  }
}

/// By all 2^n signs of the ranks.
double signed_rank_by_all_signs(Doubles differences) {
  std::erase(differences, 0.0);
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  const std::size_t count = differences.size();
  std::size_t positive = 0, as_extreme = 0;
  const std::size_t total = count * (count + 1) / 2;
  for (std::size_t i = 0; i < count; ++i) positive += differences[i] > 0 ? i + 1 : 0;
  const std::size_t observed = std::min(positive, total - positive);
  for (std::size_t signs = 0; signs < std::size_t{1} << count; ++signs) {
    std::size_t of_signs = 0;
    for (std::size_t i = 0; i < count; ++i) of_signs += (signs >> i & 1) ? i + 1 : 0;
    as_extreme += std::min(of_signs, total - of_signs) <= observed;
  }
  return std::min(1.0, static_cast<double>(as_extreme) / std::pow(2.0, static_cast<double>(count)));
}

TEST(Summaries, TheSignedRankTestCountsAllSigns) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (std::size_t count : {1u, 2u, 5u, 11u, 16u})
    for (const double shift : {0.0, 0.4, 1.5}) {
      Doubles differences;
      for (std::size_t i = 0; i < count; ++i) differences.push_back(normal(random) + shift);
      EXPECT_NEAR(signed_rank_p(differences), signed_rank_by_all_signs(differences), 1e-9) << count;
    }
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 2, 3, 4, 5, 6, 7, 8}), 2.0 / 256);
  EXPECT_EQ(signed_rank_p({0, 0}), 1);
  // With ties: about what all signs of the mean ranks give.
  EXPECT_NEAR(signed_rank_p({1, 1, 1, 1, 1, 1, -1, -1, 1, 1, 1, 1}), 0.021, 0.003);
}

/// The smallest of 4 by 4, the next by 3, and never less than one before.
TEST(Summaries, HolmMultipliesByThoseThatAreLeft) {
  const Doubles corrected = holm({0.01, 0.04, 0.03, 0.005});
  const Doubles expected{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-12) << i;
  EXPECT_EQ(holm({0.9, 0.8}), (Doubles{1, 1}));
}

TEST(Summaries, PairsOfAlmostNoDifferenceAreNamed) {
  StudyValues values;
  values.rows = {1, 2, 3, 5};
  values.clean = {9, 8, 7, 8}, values.corrupt = {1, 1, 1, 7.9};
  StudyQuestion question;
  question.normalise = Normalise::total;
  std::vector<Error> problems;
  warn_of_small_wholes("pairs.csv", question, values, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message(),
            "pairs.csv: row 5: clean − corrupt: expected more than a tenth of the median, 7, found less: its own share "
            "is of almost nothing");
  values.corrupt = {1, 16, 1, 15};
  problems.clear();
  warn_of_small_wholes("pairs.csv", question, values, problems);
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems.back().message().find("the mean of clean − corrupt: expected a difference that the pairs share"),
            std::string::npos);
  problems.clear();
  question.normalise = Normalise::none;
  warn_of_small_wholes("pairs.csv", question, values, problems);
  EXPECT_TRUE(problems.empty()) << "nothing is divided";
}

}  // namespace
}  // namespace headlight
