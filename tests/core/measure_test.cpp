#include "bench/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

TEST(Measure, TheMedianLiesInTheMiddleWhateverTheOrder) {
  const Timing odd = timing_of({3, 1, 9});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 9);
  EXPECT_EQ(timing_of({4, 1, 2, 100}).median, 3);
  EXPECT_EQ(timing_of({7}).median, 7);
}

TEST(Measure, RunsEveryPieceInTurn) {
  int first = 0, second = 0;
  const auto timings = measure({[&] { ++first; }, [&] { ++second; }}, 3);
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_GE(first, 4);
  EXPECT_GE(second, 4);
  for (const Timing& timing : timings) {
    EXPECT_LE(timing.low, timing.median);
    EXPECT_LE(timing.median, timing.high);
  }
}

TEST(Measure, FitsThePowerThatAFigureGrowsWith) {
  const std::vector<double> x{256, 512, 1024, 8192};
  std::vector<double> y;
  for (const double value : x) y.push_back(3 * std::pow(value, 1.7));
  EXPECT_NEAR(fitted_exponent(x, y), 1.7, 1e-9);
}

TEST(Measure, KnowsTheMemoryOfTheProcess) {
  if (resident_memory() == 0) GTEST_SKIP() << "no /proc here";
  reset_peak_memory();
  const std::size_t before = peak_memory();
  {
    std::vector<char> much(std::size_t{64} << 20);
    std::fill(much.begin(), much.end(), 'x');
    EXPECT_EQ(std::count(much.begin(), much.end(), 'x'), std::ptrdiff_t{64} << 20);
  }
  EXPECT_GE(peak_memory(), before + (std::size_t{48} << 20));
  EXPECT_GE(peak_memory(), resident_memory());
}

}  // namespace
}  // namespace headlight
