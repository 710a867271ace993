// One head in two answers: cell beside cell, and how far they differ.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "float_infinity.h"
#include "heads/pattern_difference.h"

namespace headlight {
namespace {

/// Axes of two sentences that have the same words.
JointAxes same_axes(Index queries, Index keys) {
  JointAxes axes;
  for (Index i = 0; i < queries; ++i) axes.queries.push_back({i, i});
  for (Index j = 0; j < keys; ++j) axes.keys.push_back({j, j});
  return axes;
}

/// Rows that sum to 1.
Matrix drawn_pattern(Random& random, Index rows, Index cols) {
  Matrix weights(rows, cols);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = static_cast<float>(random.uniform());
  for (Index r = 0; r < rows; ++r) weights.row(r) /= weights.row(r).sum();
  return weights;
}

TEST(PatternDifference, IsBMinusACellForCell) {
  Matrix a(2, 2), b(2, 2);
  a << 1, -1, 0.25f, 0.75f;
  b << 0.5f, 0.5f, -1, 1;
  const PatternPair pair = pair_patterns(a, b, same_axes(2, 2));
  EXPECT_EQ(pair.a, a);
  EXPECT_EQ(pair.b, b);
  EXPECT_EQ(pair.difference(0, 0), -0.5f);
  EXPECT_EQ(pair.difference(0, 1), 0.5f) << "blocked in one is 0 there";
  EXPECT_EQ(pair.difference(1, 0), -0.25f);
  EXPECT_EQ(pair.difference(1, 1), 0.25f);
  a(0, 1) = b(0, 1) = -1;
  EXPECT_EQ(pair_patterns(a, b, same_axes(2, 2)).difference(0, 1), -kFloatInfinity) << "blocked in both";
}

TEST(PatternDifference, RowsAreComparedWithWhatTheyGiveToKeysWithoutAColumn) {
  Matrix a(2, 3), b(2, 3);
  a << 0.999f, 0.001f, 0, 0.7f, 0.1f, 0.2f;
  b << 0.999f, 0, 0.001f, 0.2f, 0.5f, 0.3f;
  Vector rests_a(2), rests_b(2);
  rests_a << 0.999f, 0.7f;
  rests_b << 0.999f, 0.2f;
  const JointAxes all{{{0, 0}, {1, 1}}, {{0, 0}, {1, 1}, {2, 2}}}, without{{{0, 0}, {1, 1}}, {{0, 0}, {1, 1}}};
  const float whole = measure_difference(pair_patterns(a, b, all)).divergence;
  const Matrix folded_a = a.rightCols(2), folded_b = b.rightCols(2);
  EXPECT_NEAR(measure_difference(pair_patterns(folded_a, folded_b, without, rests_a, rests_b)).divergence, whole, 1e-6);
  EXPECT_GT(measure_difference(pair_patterns(folded_a, folded_b, without)).divergence, whole + 0.2f);
}

TEST(PatternDifference, HasNoNumberWhereOneSentenceLacksTheWord) {
  Matrix a(2, 2), b(1, 1);
  a << 0.5f, 0.5f, 0.25f, 0.75f;
  b << 1;
  const JointAxis axis{{0, 0}, {1, std::nullopt}};
  const PatternPair pair = pair_patterns(a, b, {axis, axis});
  EXPECT_EQ(pair.difference(0, 0), 0.5f);
  EXPECT_EQ(pair.a(1, 1), 0.75f) << "A has it";
  for (const CellRef cell : {CellRef{0, 1}, {1, 0}, {1, 1}}) {
    EXPECT_TRUE(std::isnan(pair.b(cell.query, cell.key)));
    EXPECT_TRUE(std::isnan(pair.difference(cell.query, cell.key)));
  }
  const PatternDifference measured = measure_difference(pair);
  EXPECT_EQ(measured.largest, 0.5f);
  EXPECT_EQ(measured.at, (CellRef{0, 0}));
  EXPECT_EQ(measured.mean, 0.5f);
  EXPECT_GT(measured.divergence, 0) << "A's weight on the word that B lacks counts";
}

TEST(PatternDifference, SwappedItIsTheSameWithTheOtherSign) {
  Random random(5);
  for (int round = 0; round < 30; ++round) {
    const Index rows = 1 + static_cast<Index>(random.next() % 6), cols = 1 + static_cast<Index>(random.next() % 6);
    const Matrix a = drawn_pattern(random, rows, cols), b = drawn_pattern(random, rows, cols);
    const PatternPair pair = pair_patterns(a, b, same_axes(rows, cols)),
                      swapped = pair_patterns(b, a, same_axes(rows, cols));
    EXPECT_EQ(pair.difference, -swapped.difference);
    const PatternDifference one = measure_difference(pair), other = measure_difference(swapped);
    EXPECT_EQ(one.largest, other.largest);
    EXPECT_EQ(one.at, other.at);
    EXPECT_EQ(one.mean, other.mean);
    EXPECT_NEAR(one.divergence, other.divergence, 1e-6);
    EXPECT_EQ(one.largest, pair.difference.cwiseAbs().maxCoeff());
    EXPECT_EQ(std::abs(pair.difference(one.at->query, one.at->key)), one.largest);
    EXPECT_GE(one.divergence, 0);
    EXPECT_LE(one.divergence, std::log(2.0f) + 1e-6f);
    const PatternDifference none = measure_difference(pair_patterns(a, a, same_axes(rows, cols)));
    EXPECT_EQ(none.largest, 0);
    EXPECT_EQ(none.mean, 0);
    EXPECT_NEAR(none.divergence, 0, 1e-7);
  }
}

TEST(PatternDifference, RowsThatShareNothingAreLnTwoApart) {
  Matrix a(1, 2), b(1, 2);
  a << 1, 0;
  b << 0, 1;
  EXPECT_NEAR(measure_difference(pair_patterns(a, b, same_axes(1, 2))).divergence, std::log(2.0f), 1e-6);
  b << 0, 0;  // a row that may attend to nothing
  EXPECT_EQ(measure_difference(pair_patterns(a, b, same_axes(1, 2))).divergence, 0);
}

TEST(PatternDifference, NothingInBothIsNoDifference) {
  const JointAxis axis{{0, std::nullopt}, {std::nullopt, 0}};
  const PatternDifference measured =
      measure_difference(pair_patterns(Matrix::Ones(1, 1), Matrix::Ones(1, 1), {axis, axis}));
  EXPECT_FALSE(measured.at);
  EXPECT_EQ(measured.largest, 0);
  EXPECT_EQ(measured.mean, 0);
}

TEST(PatternDifference, ShrunkShowsWhatIsFarthestFromZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Matrix difference(4, 4);
  difference << 0.1f, -0.9f, nan, nan,               //
      0.2f, 0.3f, nan, nan,                          //
      -kFloatInfinity, -kFloatInfinity, nan, -0.1f,  //
      -kFloatInfinity, -kFloatInfinity, -kFloatInfinity, 0.05f;
  const Matrix small = shrunk_difference(difference, 2);
  EXPECT_EQ(small(0, 0), -0.9f);
  EXPECT_TRUE(std::isnan(small(0, 1)));
  EXPECT_EQ(small(1, 0), -kFloatInfinity);
  EXPECT_EQ(small(1, 1), -0.1f);
  EXPECT_EQ(shrunk_difference(small.topRows(1), 4).cols(), 2) << "small ones stay as they are";
  Random random(9);
  const Matrix drawn = drawn_pattern(random, 13, 7) - drawn_pattern(random, 13, 7);
  EXPECT_EQ(shrunk_difference(drawn, 5).cwiseAbs().maxCoeff(), drawn.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace headlight
