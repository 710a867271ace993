#include "figure/drawing/pooled_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headlight {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = -std::numeric_limits<float>::infinity();

Matrix in_a_row(std::initializer_list<float> numbers) {
  Matrix matrix(1, static_cast<Index>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), matrix.data());
  return matrix;
}

TEST(PooledMap, APixelIsWhereItsMiddleIs) {
  const auto pixels = [](float begin, float end) {
    const PixelRange range = pixels_of({begin, end});
    return std::pair(range.first, range.count);
  };
  EXPECT_EQ(pixels(3, 7), std::pair(3, 4));
  EXPECT_EQ(pixels(3.4f, 7.4f), std::pair(3, 4));
  EXPECT_EQ(pixels(3.6f, 7.4f), std::pair(4, 3));
  EXPECT_EQ(pixels(-2.5f, 0.5f), std::pair(-3, 3));
  EXPECT_EQ(pixels(3.6f, 4.4f).second, 0);
}

TEST(PooledMap, ThereIsACrowdWhereThereAreMoreCellsThanPixels) {
  EXPECT_TRUE(is_crowded({10, 20}, 11));
  EXPECT_FALSE(is_crowded({10, 20}, 10));
  EXPECT_FALSE(is_crowded({10, 20}, 3));
}

TEST(PooledMap, TheLargestShows) {
  const Matrix weights = in_a_row({0.1f, 0.2f, 0.9f, 0.3f, -1, -1, -1, 0});
  EXPECT_EQ(pooled_map(weights, {0, 1}, {0, 4}, false), in_a_row({0.2f, 0.9f, -1, 0}));
  EXPECT_EQ(pooled_map(weights, {0, 1}, {0, 2}, false), in_a_row({0.9f, 0}));
  EXPECT_EQ(pooled_map(weights.transpose(), {0, 4}, {0, 1}, false), in_a_row({0.2f, 0.9f, -1, 0}).transpose());
  EXPECT_EQ(pooled_map(weights, {0, 1}, {0, 8}, false), weights) << "none share a pixel";
}

TEST(PooledMap, OfADivergingMapTheFarthestFromZeroShows) {
  const Matrix values = in_a_row({0.1f, -0.2f, 0.9f, -0.3f, kLowest, kLowest, kLowest, -3e30f, 2, kLowest});
  EXPECT_EQ(pooled_map(values, {0, 1}, {0, 5}, true), in_a_row({-0.2f, 0.9f, kLowest, -3e30f, 2}));
}

TEST(PooledMap, NumbersShowBesideWhatIsNone) {
  const Matrix values = in_a_row({kNoNumber, 0.2f, 0.9f, kNoNumber, kNoNumber, kLowest, kLowest, kNoNumber});
  for (const bool diverging : {false, true}) {
    const Matrix seen = pooled_map(values, {0, 1}, {0, 2}, diverging);
    EXPECT_EQ(seen(0, 0), 0.9f);
    EXPECT_EQ(seen(0, 1), kLowest);
  }
  EXPECT_TRUE(std::isnan(pooled_map(Matrix::Constant(4, 4, kNoNumber), {0, 2}, {0, 2}, false)(1, 1)));
}

// Wherever a map begins and however many cells share a pixel, each cell shows in one of the pixels, near its position.
TEST(PooledMap, NoCellVanishes) {
  for (const float begin : {0.f, 0.25f, 7.5f, 300.8f})
    for (const float length : {5.f, 33.5f, 96.f, 127.f})
      for (Index cell = 0; cell < 128; ++cell) {
        Matrix weights = Matrix::Zero(1, 128);
        weights(0, cell) = 1;
        const PixelSpan on{begin, begin + length};
        const Matrix seen = pooled_map(weights, {0, 1}, on, false);
        ASSERT_EQ(seen.cols(), pixels_of(on).count);
        Index brightest = 0;
        ASSERT_EQ(seen.row(0).maxCoeff(&brightest), 1) << begin << ' ' << length << ' ' << cell;
        const float middle = begin + length * (static_cast<float>(cell) + 0.5f) / 128;
        ASSERT_NEAR(static_cast<float>(pixels_of(on).first + brightest) + 0.5f, middle, 1.1f);
      }
}

}  // namespace
}  // namespace headlight
