#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace headlight {
namespace {

TEST(Random, GivesThePublishedNumbersOfSplitMix64) {
  Random random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(random.next(), expected);
}

TEST(Random, UniformStaysInsideItsRangeWithTheRightMeanAndSpread) {
  Random random(7);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const float x = random.uniform();
    ASSERT_GE(x, 0.0f);
    ASSERT_LT(x, 1.0f);
    ASSERT_EQ(x * 0x1p24f, static_cast<float>(static_cast<int>(x * 0x1p24f))) << "not a multiple of 2^-24";
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.003);  // five standard errors
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.004);
}

TEST(Random, UniformFillsItsRangeEvenly) {
  Random random(11);
  std::array<int, 16> bins{};
  for (int i = 0; i < 160000; ++i) ++bins[static_cast<std::size_t>(random.uniform() * 16.0f)];
  for (const int count : bins) EXPECT_NEAR(count, 10000, 500);
}

TEST(Random, SymmetricReachesBothSidesAndNeverPassesTheLimit) {
  Random random(3);
  float least = 1, most = -1;
  for (int i = 0; i < 20000; ++i) {
    const float x = random.symmetric(0.25f);
    ASSERT_GE(x, -0.25f);
    ASSERT_LT(x, 0.25f);
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_LT(least, -0.249f);
  EXPECT_GT(most, 0.249f);
}

TEST(Random, HashIsThePublishedFnv1a) {
  EXPECT_EQ(hash_text(""), 0xCBF29CE484222325u);
  EXPECT_EQ(hash_text("a"), 0xAF63DC4C8601EC8Cu);
  EXPECT_EQ(hash_text("foobar"), 0x85944171F73967E8u);
}

TEST(Random, DerivedSeedsDifferByNameAndBySeed) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (int name = 0; name < 200; ++name) seeds.insert(derive_seed(seed, "layer." + std::to_string(name)));
  EXPECT_EQ(seeds.size(), 200u * 200u);
}

TEST(Random, DerivedSeedIsAFunctionOfItsArguments) {
  EXPECT_EQ(derive_seed(5, "query"), derive_seed(5, std::string("que") + "ry"));
  EXPECT_NE(derive_seed(5, "query"), derive_seed(5, "query "));
  EXPECT_NE(derive_seed(5, "query"), 5u);
}

}  // namespace
}  // namespace headlight
