#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/reference.h"
#include "math/attention.h"
#include "math/kernels/kernels.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

using reference::Grid;
using reference::grid;
using reference::random_matrix;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kCutOff = -87.0f;

/// e^x as every kind of processor that this one is.
class Exponential : public testing::TestWithParam<int> {
 protected:
  void of(std::vector<float>& x) const {
    runnable_math_kernels().tables[GetParam()].table->exponential(x.data(), static_cast<Index>(x.size()));
  }
  float of(float x) const {
    std::vector<float> one{x};
    of(one);
    return one.front();
  }
};

TEST_P(Exponential, IsWithinOneAndAHalfUnitsInTheLastPlace) {
  std::vector<float> x;
  for (int i = 0; i <= 870000; ++i) x.push_back(static_cast<float>(i) * -1e-4f);
  const auto first = std::bit_cast<std::uint32_t>(-0.0f), last = std::bit_cast<std::uint32_t>(kCutOff);
  for (std::uint32_t bits = first; bits <= last; bits += 2039) x.push_back(std::bit_cast<float>(bits));
  std::vector<float> found = x;
  of(found);
  double worst = 0;
  float at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    const double error = std::abs(static_cast<double>(found[i]) - exact) / std::ldexp(1.0, std::ilogb(exact) - 23);
    if (error > worst) worst = error, at = x[i];
  }
  EXPECT_LE(worst, 1.5) << "at " << at;
  RecordProperty("worst_ulp", std::to_string(worst));
}

TEST_P(Exponential, IsExactAtZeroAndNeverAboveOne) {
  EXPECT_EQ(of(0.0f), 1.0f);
  EXPECT_EQ(of(-0.0f), 1.0f);
  for (float x = -1e-9f; x > -1e-3f; x *= 1.01f) ASSERT_LE(of(x), 1.0f) << x;
}

TEST_P(Exponential, IsExactlyZeroBelowTheCutOff) {
  EXPECT_GT(of(kCutOff), 0.0f);
  for (const float x : {std::nextafter(kCutOff, -kInfinity), -88.0f, -104.0f, -1e10f, -1e30f,
                        std::numeric_limits<float>::lowest(), -kInfinity})
    EXPECT_EQ(of(x), 0.0f) << x;
}

TEST_P(Exponential, PassesNaNOn) { EXPECT_TRUE(std::isnan(of(std::numeric_limits<float>::quiet_NaN()))); }

TEST_P(Exponential, OfManyNumbersHasTheBitsOfEachAlone) {
  Random random(1);
  std::vector<float> x(4099);
  for (float& v : x) v = -95.0f * random.uniform();
  std::vector<float> together = x;
  of(together);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(together[i]), std::bit_cast<std::uint32_t>(of(x[i]))) << x[i];
}

INSTANTIATE_TEST_SUITE_P(EveryProcessor, Exponential, testing::Range(0, runnable_math_kernels().count));

struct Softmaxed {
  Matrix weights;
  Vector row_max, row_sum;
};

Softmaxed softmaxed(const Matrix& scores) {
  Softmaxed result{scores, Vector(scores.rows()), Vector(scores.rows())};
  softmax_rows(result.weights, result.row_max, result.row_sum);
  return result;
}

double row_total(const Matrix& weights, Index row) { return weights.row(row).cast<double>().sum(); }

TEST(SoftmaxRows, SumToOneForAnyNumberOfKeys) {
  Random random(2);
  for (const Index keys : {1, 2, 3, 10, 127, 1000, 5000}) {
    for (const float spread : {0.0f, 1e-3f, 1.0f, 30.0f, 1e30f}) {
      const auto result = softmaxed(random_matrix(random, 5, keys, spread));
      for (Index row = 0; row < 5; ++row)
        ASSERT_NEAR(row_total(result.weights, row), 1.0, 1e-6) << keys << " keys, spread " << spread;
      ASSERT_GE(result.weights.minCoeff(), 0.0f);
      ASSERT_LE(result.weights.maxCoeff(), 1.0f);
    }
  }
}

TEST(SoftmaxRows, AgreesWithTheFormulaInDouble) {
  Random random(3);
  const Matrix scores = random_matrix(random, 8, 333, 12.0f);
  const auto result = softmaxed(scores);
  for (Index row = 0; row < scores.rows(); ++row) {
    double total = 0;
    EXPECT_EQ(result.row_max(row), scores.row(row).maxCoeff());
    for (Index j = 0; j < scores.cols(); ++j) total += std::exp(double(scores(row, j)) - double(result.row_max(row)));
    EXPECT_NEAR(double(result.row_sum(row)) / total, 1.0, 2e-7);
    for (Index j = 0; j < scores.cols(); ++j) {
      const double expected = std::exp(double(scores(row, j)) - double(result.row_max(row))) / total;
      // The difference of two scores is itself rounded, by up to 2^-20 for differences above 16.
      ASSERT_NEAR(double(result.weights(row, j)), expected, 1.5e-6 * expected);
    }
  }
}

TEST(SoftmaxRows, IsTheExponentialOverTheSumToTheBit) {
  Random random(4);
  const Matrix scores = random_matrix(random, 3, 517, 40.0f);
  const auto result = softmaxed(scores);
  for (Index row = 0; row < scores.rows(); ++row) {
    Vector powers = scores.row(row).array() - result.row_max(row);
    math_kernels().exponential(powers.data(), powers.size());
    for (Index j = 0; j < scores.cols(); ++j) ASSERT_EQ(result.weights(row, j), powers(j) / result.row_sum(row));
  }
}

TEST(SoftmaxRows, EqualScoresShareEqually) {
  for (const float score : {0.0f, 5.0f, 1e30f, -1e30f}) {
    const auto result = softmaxed(Matrix::Constant(1, 7, score));
    for (Index j = 0; j < 7; ++j) EXPECT_EQ(result.weights(0, j), 1.0f / 7.0f) << score;
    EXPECT_EQ(result.row_sum(0), 7.0f);
  }
}

TEST(SoftmaxRows, OneHugeScoreTakesAll) {
  Matrix scores = Matrix::Zero(2, 6);
  scores(0, 4) = 1e30f;
  scores.row(1).setConstant(-1e30f);
  scores(1, 2) = 3.4e38f;
  const auto result = softmaxed(scores);
  for (Index j = 0; j < 6; ++j) {
    EXPECT_EQ(result.weights(0, j), j == 4 ? 1.0f : 0.0f);
    EXPECT_EQ(result.weights(1, j), j == 2 ? 1.0f : 0.0f);
  }
}

TEST(SoftmaxRows, ABlockedRowIsZeros) {
  Matrix scores = Matrix::Zero(3, 9);
  scores.row(1).setConstant(-kInfinity);
  const auto result = softmaxed(scores);
  EXPECT_TRUE((result.weights.row(1).array() == 0.0f).all());
  EXPECT_EQ(result.row_sum(1), 0.0f);
  EXPECT_EQ(result.row_max(1), -kInfinity);
  EXPECT_EQ(result.row_sum(0), 9.0f);
}

TEST(SoftmaxRows, BlockedCellsAreExactlyZeroAndTheRestShares) {
  Matrix scores = Matrix::Constant(1, 8, -1e30f);
  scores(0, 1) = scores(0, 6) = -kInfinity;
  const auto result = softmaxed(scores);
  for (Index j = 0; j < 8; ++j) EXPECT_EQ(result.weights(0, j), j == 1 || j == 6 ? 0.0f : 1.0f / 6.0f);
}

TEST(SoftmaxRows, NotANumberShowsInTheSum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Index place : {0, 3, 7}) {
    Matrix scores = Matrix::Zero(1, 8);
    scores(0, place) = nan;
    EXPECT_TRUE(std::isnan(softmaxed(scores).row_sum(0))) << place;
    scores(0, place) = kInfinity;
    EXPECT_TRUE(std::isnan(softmaxed(scores).row_sum(0))) << place;
    scores.setConstant(-kInfinity);
    scores(0, place) = nan;
    EXPECT_TRUE(std::isnan(softmaxed(scores).row_sum(0))) << "among blocked cells, " << place;
  }
  EXPECT_TRUE(std::isnan(softmaxed(Matrix::Constant(1, 8, nan)).row_sum(0))) << "a row of nothing else";
}

TEST(LayerNorm, AgreesWithPlainLoops) {
  Random random(7);
  for (const Index d : {1, 2, 3, 8, 17, 64, 200}) {
    NormWeights weights{random_matrix(random, 1, d), random_matrix(random, 1, d)};
    for (const float spread : {1e-3f, 1.0f, 1000.0f}) {
      const Matrix x = random_matrix(random, 6, d, spread);
      EXPECT_LE(reference::difference(norm(x, weights), reference::norm(grid(x), reference::layer_of(weights))), 2e-5)
          << d << " " << spread;
    }
  }
}

TEST(LayerNorm, GivesMeanZeroAndVarianceOne) {
  Random random(8);
  const Matrix x = (random_matrix(random, 5, 96, 3.0f).array() + 40.0f).matrix();
  const Matrix y = norm(x, {Vector::Ones(96), Vector::Zero(96)});
  for (Index t = 0; t < 5; ++t) {
    EXPECT_NEAR(y.row(t).cast<double>().mean(), 0.0, 1e-5);
    EXPECT_NEAR(y.row(t).cast<double>().squaredNorm() / 96, 1.0, 1e-4);
  }
}

TEST(LayerNorm, AConstantRowBecomesTheShift) {
  const Matrix x = Matrix::Constant(2, 16, 0.1f);
  const Matrix y = norm(x, {Vector::Ones(16), Vector::Constant(16, 2.0f)});
  EXPECT_TRUE((y.array() - 2.0f).abs().maxCoeff() < 1e-3f);
}

TEST(RmsNorm, AgreesWithPlainLoopsWithAndWithoutAShift) {
  Random random(9);
  for (const Index d : {1, 2, 3, 8, 17, 64, 200}) {
    NormWeights weights{.scale = random_matrix(random, 1, d), .shift = {}, .kind = NormKind::rms_norm};
    for (int shifted = 0; shifted < 2; ++shifted) {
      if (shifted) weights.shift = random_matrix(random, 1, d);
      const Matrix x = random_matrix(random, 6, d, 3.0f);
      EXPECT_LE(reference::difference(norm(x, weights), reference::norm(grid(x), reference::layer_of(weights))), 1e-5)
          << d;
    }
  }
}

TEST(RmsNorm, GivesAMeanSquareOfOneAndKeepsTheMean) {
  const Matrix x = Matrix::Constant(1, 16, 5.0f);
  const Matrix y = norm(x, {.scale = Vector::Ones(16), .shift = {}, .kind = NormKind::rms_norm});
  EXPECT_NEAR(y(0, 0), 1.0f, 1e-6f);
}

TEST(NormHeads, IsTheNormOfEachPart) {
  Random random(10);
  for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm}) {
    const NormWeights weights{.scale = random_matrix(random, 1, 6), .shift = random_matrix(random, 1, 6), .kind = kind};
    const Matrix x = random_matrix(random, 5, 24, 2.0f), y = norm_heads(x, weights, 4);
    EXPECT_LE(reference::difference(y, reference::norm(grid(x), reference::layer_of(weights), 4)), 1e-5);
    for (Index head = 0; head < 4; ++head)
      EXPECT_TRUE(same(y.middleCols(head * 6, 6), norm(x.middleCols(head * 6, 6), weights))) << head;
  }
}

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                                       Activation::quick_gelu};

TEST(Activations, AgreeWithTheirFormulas) {
  Matrix x(1, 2001);
  for (Index i = 0; i < x.cols(); ++i) x(0, i) = static_cast<float>(i - 1000) * 0.01f;
  for (const Activation activation : kActivations) {
    Matrix y = x;
    activate(y, activation);
    for (Index i = 0; i < x.cols(); ++i) {
      ASSERT_EQ(y(0, i), activate(x(0, i), activation)) << name(activation) << " " << x(0, i);
      ASSERT_NEAR(double(y(0, i)), reference::activated(double(x(0, i)), activation), 2e-6)
          << name(activation) << " " << x(0, i);
    }
  }
}

TEST(Activations, HaveTheirKnownValues) {
  EXPECT_EQ(activate(-2.0f, Activation::relu), 0.0f);
  EXPECT_EQ(activate(2.0f, Activation::relu), 2.0f);
  EXPECT_NEAR(activate(1.0f, Activation::gelu), 0.84134475f, 1e-6f);
  EXPECT_NEAR(activate(-1.0f, Activation::gelu), -0.15865525f, 1e-6f);
  EXPECT_NEAR(activate(3.0f, Activation::gelu), 2.99595031f, 1e-6f);
  EXPECT_NEAR(activate(1.0f, Activation::gelu_tanh), 0.84119199f, 1e-6f);
  EXPECT_NEAR(activate(-1.0f, Activation::gelu_tanh), -0.15880801f, 1e-6f);
  EXPECT_NEAR(activate(1.0f, Activation::silu), 0.73105858f, 1e-6f);
  EXPECT_NEAR(activate(-1.0f, Activation::silu), -0.26894142f, 1e-6f);
  EXPECT_NEAR(activate(1.0f, Activation::quick_gelu), 0.84579576f, 1e-6f);
  EXPECT_NEAR(activate(-1.0f, Activation::quick_gelu), -0.15420424f, 1e-6f);
  for (const Activation activation : kActivations) EXPECT_EQ(activate(0.0f, activation), 0.0f) << name(activation);
}

TEST(Activations, AreFiniteFarOut) {
  for (const Activation activation : kActivations) {
    for (const float x : {50.0f, 1e4f, 1e20f, 3e38f}) {
      EXPECT_EQ(activate(x, activation), x) << name(activation);
      EXPECT_NEAR(activate(-x, activation), 0.0f, 1e-6f) << name(activation);
    }
  }
}

TEST(SinusoidalPositions, AreThoseOfThePaper) {
  for (const Index d_model : {1, 2, 4, 7, 64, 513}) {
    const Matrix positions = sinusoidal_positions(50, d_model);
    ASSERT_EQ(positions.rows(), 50);
    ASSERT_EQ(positions.cols(), d_model);
    for (Index pos = 0; pos < 50; ++pos) {
      for (Index i = 0; 2 * i < d_model; ++i) {
        const double angle = double(pos) / std::pow(10000.0, 2.0 * double(i) / double(d_model));
        ASSERT_NEAR(double(positions(pos, 2 * i)), std::sin(angle), 1e-6);
        if (2 * i + 1 == d_model) continue;
        ASSERT_NEAR(double(positions(pos, 2 * i + 1)), std::cos(angle), 1e-6);
      }
    }
  }
}

TEST(SinusoidalPositions, HaveTheirKnownValues) {
  const Matrix positions = sinusoidal_positions(4, 4);
  Matrix expected(4, 4);
  expected << 0.0f, 1.0f, 0.0f, 1.0f,                       //
      0.84147098f, 0.54030231f, 0.00999983f, 0.99995000f,   //
      0.90929743f, -0.41614684f, 0.01999867f, 0.99980001f,  //
      0.14112001f, -0.98999250f, 0.02999550f, 0.99955003f;
  EXPECT_LE((positions - expected).cwiseAbs().maxCoeff(), 1e-7f);
}

TEST(SinusoidalPositions, DoNotDependOnTheLengthOfTheSentence) {
  EXPECT_TRUE(same(sinusoidal_positions(5, 10), sinusoidal_positions(300, 10).topRows(5)));
}

TEST(SinusoidalPositions, InHalvesAreTheSameNumbersWithTheSinesFirst) {
  for (const Index d_model : {1, 2, 4, 7, 64, 513}) {
    const Matrix positions = sinusoidal_positions(20, d_model), halves = sinusoidal_positions(20, d_model, true);
    for (Index column = 0; column < d_model; ++column) {
      const Index moved = column % 2 == 0 ? column / 2 : (d_model + 1) / 2 + column / 2;
      ASSERT_TRUE(same(positions.col(column), halves.col(moved))) << d_model << " " << column;
    }
  }
}

Rotary rotary_of(Index pairs, bool interleaved) {
  Rotary rotary{.frequencies = Vector(pairs), .interleaved = interleaved};
  for (Index i = 0; i < pairs; ++i) rotary.frequencies(i) = std::pow(100.0f, -float(i) / float(pairs));
  return rotary;
}

TEST(Rotated, AgreesWithPlainLoops) {
  Random random(11);
  for (const bool interleaved : {false, true}) {
    using Shape = std::array<Index, 3>;
    for (const auto& [heads, d_k, pairs] : {Shape{1, 2, 1}, {3, 8, 4}, {4, 6, 2}, {2, 5, 2}, {2, 4, 0}}) {
      const Matrix x = random_matrix(random, 30, heads * d_k);
      const Rotary rotary = rotary_of(pairs, interleaved);
      const Matrix y = rotated(x, rotary, heads);
      EXPECT_LE(reference::difference(y, reference::rotated(grid(x), rotary, heads)), 5e-6);
      EXPECT_TRUE(same(x.row(0), y.row(0))) << "the first place is not turned";
      for (Index head = 0; head < heads; ++head)
        EXPECT_TRUE(same(x.middleCols(head * d_k + 2 * pairs, d_k - 2 * pairs),
                         y.middleCols(head * d_k + 2 * pairs, d_k - 2 * pairs)))
            << "columns beyond the pairs";
    }
  }
}

TEST(Rotated, TurnsAPairByItsAngle) {
  Matrix x = Matrix::Zero(2, 4);
  x(1, 0) = 1.0f;
  Rotary rotary{.frequencies = Vector{{0.5f, 0.25f}}, .interleaved = true};
  const float cosine = std::cos(0.5f), sine = std::sin(0.5f);
  EXPECT_LE((rotated(x, rotary, 1).row(1) - Vector{{cosine, sine, 0, 0}}).cwiseAbs().maxCoeff(), 1e-7f);
  rotary.interleaved = false;
  EXPECT_LE((rotated(x, rotary, 1).row(1) - Vector{{cosine, 0, sine, 0}}).cwiseAbs().maxCoeff(), 1e-7f);
}

TEST(Rotated, ScoresDependOnTheDistanceAlone) {
  Random random(12);
  for (const bool interleaved : {false, true}) {
    const Rotary rotary = rotary_of(4, interleaved);
    const Matrix q = rotated(random_matrix(random, 1, 8).replicate(60, 1), rotary, 1);
    const Matrix k = rotated(random_matrix(random, 1, 8).replicate(60, 1), rotary, 1);
    const Matrix scores = q * k.transpose();
    float apart = 0, spread = 0;
    for (Index i = 0; i + 1 < 60; ++i) {
      for (Index j = 0; j + 1 < 60; ++j) apart = std::max(apart, std::abs(scores(i, j) - scores(i + 1, j + 1)));
      spread = std::max(spread, std::abs(scores(i, 0) - scores(0, 0)));
    }
    EXPECT_LE(apart, 2e-5f);
    EXPECT_GT(spread, 0.1f) << "and they do depend on it";
  }
}

TEST(Rotated, KeepsLengths) {
  Random random(13);
  const Matrix x = random_matrix(random, 40, 12), y = rotated(x, rotary_of(3, false), 2);
  for (Index t = 0; t < 40; ++t) EXPECT_NEAR(x.row(t).norm(), y.row(t).norm(), 1e-6f);
}

}  // namespace
}  // namespace headlight
