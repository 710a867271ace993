// What cannot be right about typed numbers.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/random.h"
#include "diagnose/typed_numbers.h"
#include "math/reference.h"

namespace headlight {
namespace {

using Lines = std::vector<std::string>;

NumberTable typed(const std::string& text) { return *parse_number_table("typed", text); }

Lines found_in(const OwnNumbers& numbers) {
  Lines lines;
  for (const Mistake& mistake : check_numbers(numbers)) lines.push_back(mistake.text.en);
  return lines;
}

TEST(CheckNumbers, NamesRowsThatDoNotSumToOne) {
  OwnNumbers numbers;
  numbers.weights = typed("x,a,b\n我,0.5,0.4\n请,0.5,0.5\n");
  EXPECT_EQ(found_in(numbers), (Lines{"weights: row 0 (我) sums to 0.90, not to 1"}));
  EXPECT_EQ(check_numbers(numbers)[0].text.zh, "权重：第 0 行 (我)加起来是 0.90，不是 1");
  EXPECT_EQ(check_numbers(numbers)[0].code, mistakes::weights_changed);
  numbers.weights = typed("[[0.33, 0.33, 0.33], [0.17, 0.17, 0.67]]");
  EXPECT_TRUE(found_in(numbers).empty()) << "each of them is rounded";
  numbers.weights = typed("[[0.333, 0.333, 0.324], [0.2, 0.2, 0.6]]");
  EXPECT_EQ(found_in(numbers), (Lines{"weights: row 0 sums to 0.990, not to 1"}));
  numbers.weights = typed("[[0.5, 0.5], [-0.5, 1.5]]");
  EXPECT_EQ(found_in(numbers), (Lines{"weights: row 1 has a weight below 0"}));
}

TEST(CheckNumbers, NamesWeightsThatAreNoSoftmax) {
  OwnNumbers numbers;
  numbers.scores = typed("[[1, 2], [0, 3]]");
  numbers.weights = typed("[[0.27, 0.73], [0.05, 0.95]]");
  EXPECT_TRUE(found_in(numbers).empty());
  numbers.weights = typed("[[0.27, 0.73], [0.2, 0.8]]");
  EXPECT_EQ(found_in(numbers),
            (Lines{"weights: row 1 is not the softmax of its scores: at column 0 0.20, the softmax is 0.05"}));
  numbers.weights = typed("[[0.7311, 0.2689], [0.2689, 0.7311]]");
  EXPECT_EQ(found_in(numbers), (Lines{"softmax over the wrong axis: over the queries"}));
  EXPECT_EQ(check_numbers(numbers)[0].code, mistakes::softmax_axis);
}

TEST(CheckNumbers, NamesWhatElseWasDoneInPlaceOfASoftmax) {
  OwnNumbers numbers;
  numbers.scores = typed("[[1, 2, 0], [0, 3, 1], [0.5, -1, 2]]");
  const reference::Grid scores = numbers.scores->numbers.cast<double>();
  numbers.weights = NumberTable{reference::softmax(reference::softmax(scores)).cast<float>()};
  EXPECT_EQ(found_in(numbers), (Lines{"softmax applied twice"}));
  numbers.weights = NumberTable{(1 / (1 + (-scores.array()).exp())).matrix().cast<float>()};
  EXPECT_EQ(found_in(numbers), (Lines{"sigmoid in place of softmax"})) << "so that rows do not sum to 1";
}

TEST(CheckNumbers, NamesWeightsThatAreNotThoseOfX) {
  OwnNumbers numbers;
  numbers.x = typed("[[1, 0], [0, 1]]");  // the scores are 1/√2 and 0
  numbers.weights = typed("[[0.67, 0.33], [0.33, 0.67]]");
  EXPECT_TRUE(found_in(numbers).empty());
  numbers.weights = typed("[[0.9, 0.1], [0.33, 0.67]]");
  EXPECT_EQ(found_in(numbers),
            (Lines{"weights: row 0 is not the softmax of its scores: at column 1 0.10, the softmax is 0.33"}));
  numbers.weights = typed("[[0.73, 0.27], [0.27, 0.73]]");
  EXPECT_EQ(found_in(numbers), (Lines{"scores not divided by sqrt(d_k)"}));
  numbers.weights = typed("[[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]]");
  EXPECT_EQ(found_in(numbers), (Lines{"weights: shape: expected (2, 2), found (3, 2)"}));
}

TEST(CheckNumbers, KnowsWhatTheDecimalsLeaveOpen) {
  OwnNumbers numbers;
  numbers.scores = typed("[[1.2, 0.5, -0.3], [0.1, 2.2, 1.7]]");  // of 1.24, 0.46 …
  numbers.weights = typed("[[0.596, 0.273, 0.131], [0.066, 0.573, 0.361]]");
  EXPECT_TRUE(found_in(numbers).empty());
  numbers.scores = typed("[[1.240001, 0.460001], [0.060001, 2.240001]]");
  numbers.weights = typed("[[0.685680, 0.314320], [0.101561, 0.898439]]");
  EXPECT_TRUE(found_in(numbers).empty());
  numbers.weights = typed("[[0.685680, 0.314320], [0.105561, 0.894439]]");
  EXPECT_EQ(found_in(numbers),
            (Lines{"weights: row 1 is not the softmax of its scores: at column 1 0.8944, the softmax is 0.8984"}));
}

TEST(CheckNumbers, NumbersOfAnyDecimalsAreNotAccused) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto random_matrix = [&](Index rows, Index columns) {
    Matrix matrix(rows, columns);
    for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(random);
    return matrix;
  };
  for (int round = 0; round < 200; ++round) {
    const float unit = std::pow(10.0f, static_cast<float>(-1 - round % 4));
    const auto printed = [&](const Matrix& matrix) {
      return NumberTable{.numbers = ((matrix / unit).array().round() * unit).matrix()};
    };
    const Matrix x = random_matrix(6, 8), w_q = random_matrix(8, 4), w_k = random_matrix(8, 4);
    const Matrix scores = (x * w_q) * (x * w_k).transpose() / 2;
    const Matrix weights = reference::softmax(scores.cast<double>()).cast<float>();
    OwnNumbers numbers{.x = printed(x), .w_q = {printed(w_q)}, .w_k = {printed(w_k)}};
    numbers.weights = printed(weights);
    EXPECT_EQ(found_in(numbers), Lines{}) << "without scores, unit " << unit;
    numbers.scores = printed(scores);
    EXPECT_EQ(found_in(numbers), Lines{}) << "unit " << unit;
    numbers.x = printed(random_matrix(6, 8));
    EXPECT_NE(found_in(numbers), Lines{}) << "unit " << unit;
  }
}

TEST(CheckNumbers, TakesTheMaskFromWeightsWithoutScores) {
  OwnNumbers numbers;
  numbers.x = typed("[[1, 0], [0, 1], [1, 1]]");  // the scores are 0, 1/√2 and 2/√2
  numbers.weights = typed("[[1, 0, 0], [0.33, 0.67, 0], [0.25, 0.25, 0.50]]");
  EXPECT_TRUE(found_in(numbers).empty()) << "causal";
  numbers.weights = typed("[[0.67, 0.33, 0], [0.33, 0.67, 0], [0.5, 0.5, 0]]");
  EXPECT_TRUE(found_in(numbers).empty()) << "the last key is hidden";
  numbers.weights = typed("[[1, 0, 0], [0.27, 0.73, 0], [0.21, 0.21, 0.58]]");
  EXPECT_EQ(found_in(numbers), (Lines{"scores not divided by sqrt(d_k)"}));
  numbers.weights = typed("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]");
  EXPECT_EQ(found_in(numbers).size(), 3u) << "not a mask, the largest score alone";
}

TEST(CheckNumbers, NamesAMistakeInPlaceOfWhatFollowsFromIt) {
  OwnNumbers numbers;
  numbers.scores = typed("[[1, 2, 0], [0, 3, 1], [0.5, -1, 2]]");
  const reference::Grid scores = numbers.scores->numbers.cast<double>();
  numbers.weights = NumberTable{reference::softmax(scores.transpose()).transpose().cast<float>()};
  EXPECT_EQ(found_in(numbers), (Lines{"softmax over the wrong axis: over the queries"}));
}

TEST(CheckNumbers, NamesWhatHappenedToTheScale) {
  OwnNumbers numbers;
  numbers.x = typed("[[1, 2, 0, 1], [0, 1, 1, 3]]");
  const Matrix dot = numbers.x->numbers * numbers.x->numbers.transpose();
  const auto found_for = [&](const Matrix& scores) {
    numbers.scores = NumberTable{.numbers = scores};
    return found_in(numbers);
  };
  EXPECT_TRUE(found_for(dot / 2).empty());
  EXPECT_EQ(found_for(dot * 2), (Lines{"scores multiplied by sqrt(d_k)"}));
  EXPECT_EQ(found_for(dot), (Lines{"scores not divided by sqrt(d_k)"}));
  EXPECT_EQ(found_for(dot / 4), (Lines{"scores divided by d_k, not by its root"}));
  Matrix typo = dot / 2;
  typo(1, 0) += 1;
  EXPECT_EQ(found_for(typo),
            (Lines{"scores: row 1 is not x·W_Q·(x·W_K)ᵀ / sqrt(d_k): at column 0 3.50, that is 2.50"}));
  typo = dot / 2;
  typo(0, 1) = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(found_for(typo).empty()) << "a blocked score may have been any";
}

TEST(CheckNumbers, NamesScoresOfKeysByQueries) {
  OwnNumbers numbers;
  numbers.x = typed("[[1, 2, 0], [0, 1, 1], [2, 1, 3]]");
  numbers.w_q = {typed("[[1, 0], [0, 1], [2, 0]]")};
  numbers.w_k = {typed("[[1, 1], [0, 1], [0, 2]]")};
  const Matrix q = numbers.x->numbers * numbers.w_q[0].numbers, k = numbers.x->numbers * numbers.w_k[0].numbers;
  numbers.scores = NumberTable{.numbers = k * q.transpose() / std::sqrt(2.0f)};
  EXPECT_EQ(found_in(numbers), (Lines{"query and key swapped"}));
  numbers.scores = NumberTable{.numbers = q * k.transpose()};
  EXPECT_EQ(found_in(numbers), (Lines{"scores not divided by sqrt(d_k)"}));
}

TEST(CheckNumbers, NamesAMaskByWhichNoRowSeesItself) {
  OwnNumbers numbers;
  numbers.scores = typed("[[-inf, -inf, -inf], [1, -inf, -inf], [1, 1, -inf]]");
  EXPECT_EQ(found_in(numbers), (Lines{"causal mask off by one: the diagonal is blocked: row 0 sees nothing"}));
  numbers.scores = typed("[[1, -inf, -inf], [1, 1, -inf], [1, 1, 1]]");
  EXPECT_TRUE(found_in(numbers).empty());
  numbers.scores = typed("[[1, 1, 1], [-inf, 1, 1], [-inf, -inf, 1]]");
  EXPECT_EQ(found_in(numbers), (Lines{"mask transposed"}));
}

// A weight that is printed as 0.00 is no mask.
TEST(CheckNumbers, WeightsUnderAMaskMayBeRoundedToZero) {
  Random random(5);
  const auto table = [&](Index rows, Index cols, float size) {
    Matrix made(rows, cols);
    for (float& value : made.reshaped()) value = std::round(100 * random.symmetric(size)) / 100;
    return NumberTable{made};
  };
  for (int round = 0; round < 300; ++round) {
    const Index tokens = 2 + round % 5;
    OwnNumbers numbers;
    numbers.x = table(tokens, 3, 2), numbers.w_q = {table(3, 4, 2)}, numbers.w_k = {table(3, 4, 2)};
    const auto side = [&](const NumberTable& w) {
      return reference::Grid(numbers.x->numbers.cast<double>() * w.numbers.cast<double>());
    };
    reference::Grid scores = side(numbers.w_q[0]) * side(numbers.w_k[0]).transpose() / 2;
    for (Index i = 0; i < tokens; ++i)
      for (Index j = 0; j < tokens; ++j) {
        const bool hidden = (round % 4 == 1 && j > i) || (round % 4 == 2 && j + 1 == tokens && tokens > 2) ||
                            (round % 4 == 3 && (j > i || j + 2 < i));
        if (hidden) scores(i, j) = -std::numeric_limits<double>::infinity();
      }
    const reference::Grid weights = reference::softmax(scores);
    numbers.weights = NumberTable{((100 * weights).array().round() / 100).matrix().cast<float>()};
    EXPECT_EQ(found_in(numbers), Lines{}) << round;
    if (tokens < 4) continue;
    numbers.weights->numbers.row(tokens - 2).setZero();
    numbers.weights->numbers(tokens - 2, 0) = 0.3f, numbers.weights->numbers(tokens - 2, 1) = 0.7f;
    if (std::abs(weights(tokens - 2, 0) - 0.3) > 0.1) { EXPECT_NE(found_in(numbers), Lines{}) << round; }
  }
}

}  // namespace
}  // namespace headlight
