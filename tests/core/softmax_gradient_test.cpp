// The size of a softmax's gradient: held against finite differences, and against what the scale does to it.
#include "explain/softmax_gradient.h"

#include <cmath>

#include "core/checkpoints.h"
#include "drawn.h"

namespace headlight {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

Rows softmax_in_doubles(const Rows& scores) {
  Rows weights = (scores.array() - scores.maxCoeff()).exp();
  return weights / weights.sum();
}

/// The Frobenius norm of the Jacobian, each of its columns a central difference.
double size_by_differences(const Rows& scores) {
  constexpr double kStep = 1e-5;
  double squares = 0;
  for (Index key = 0; key < scores.cols(); ++key) {
    Rows more = scores, less = scores;
    more(0, key) += kStep;
    less(0, key) -= kStep;
    squares += ((softmax_in_doubles(more) - softmax_in_doubles(less)) / (2 * kStep)).squaredNorm();
  }
  return std::sqrt(squares);
}

TEST(SoftmaxGradient, IsTheNormOfTheJacobianByFiniteDifferences) {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const Index keys = reference::draw(random, 1, 20);
    const float steepness = static_cast<float>(reference::draw(random, 0, 6));
    const Rows scores = reference::random_matrix(random, 1, keys, steepness).cast<double>();
    const Vector size = softmax_gradient(softmax_in_doubles(scores).cast<float>());
    EXPECT_NEAR(size(0), size_by_differences(scores), 2e-6) << keys << " keys, " << steepness;
    EXPECT_LE(size(0), 0.5f + 1e-6f);
  }
}

TEST(SoftmaxGradient, VanishesWhereOneKeyHasAllOfTheWeight) {
  Matrix weights(4, 3);
  weights << 0, 1, 0, 0, 0, 0, 0.5f, 0.5f, 0, 1 - 1e-6f, 1e-6f, 0;
  const Vector size = softmax_gradient(weights);
  EXPECT_EQ(size(0), 0.0f);
  EXPECT_EQ(size(1), 0.0f) << "a row that may attend to nothing";
  EXPECT_FLOAT_EQ(size(2), 0.5f);
  EXPECT_NEAR(size(3), 2e-6f, 1e-7f) << "small numbers stay exact";
  const Vector even = softmax_gradient(Matrix::Constant(1, 10, 0.1f));
  EXPECT_NEAR(even(0), 0.3f, 1e-6f) << "√(n − 1) / n";
}

TEST(ScaleEffect, TheOtherSizeIsThatOfTheLayerWithoutItsScale) {
  Random random(43);
  int scaled = 0;
  for (int round = 0; round < 60; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 12});
    const auto trace = reference::ask(request);
    ASSERT_TRUE(trace);
    reference::for_each_head(*trace, [&](const HeadRef& head) {
      const AttentionTrace& attention = trace->attention(head.stack, head.layer);
      const Index rows = trace->queries(head.stack);
      const ScaleEffect effect = scale_effect(*trace, head, 0, rows);
      ASSERT_EQ(effect.gradient.size(), rows);
      EXPECT_EQ(effect.gradient, softmax_gradient(softmax_of_rows(*trace, head, 0, rows)));
      const bool none = attention.patterns || (effect.scale == 1 && attention.query.cols() == attention.num_heads());
      EXPECT_EQ(effect.other.size(), none ? 0 : rows) << "of vectors of one component the scale is 1";
      if (none) return;
      EXPECT_EQ(effect.other_scale == 1, effect.scale != 1);
      // The first layer of a stack reads the same whatever its scale.
      if (head.layer > 0 || head.stack == Stack::cross || trace->model->given) return;
      Request other = request;
      LayerEdit& own = other.edits.layers.emplace_back();
      own = {.stack = head.stack, .layer = 0};
      own.scale = effect.other_scale;
      const auto without = reference::ask(other);
      ASSERT_TRUE(without);
      if (without->attention(head.stack, 0).scale != effect.other_scale) return;  // an edit of this head came first
      EXPECT_EQ(effect.other, scale_effect(*without, head, 0, rows).gradient);
      ++scaled;
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(scaled, 20);
}

/// Caps and sinks are the same beside another scale: the first layer of a stack, asked with that scale.
TEST(ScaleEffect, OfCapsAndSinksTheOtherSizeIsThatOfTheLayer) {
  for (const std::string name : {"family-gemma2", "family-headlight-sinks", "family-t5"}) {
    SCOPED_TRACE(name);
    const auto model = read_checkpoint(checkpoints::kGolden / name)->model;
    const Tokens target = model->encoder ? checkpoints::tokens_of_ids({2, 7, 19}) : Tokens{};
    Request request = checkpoints::request_for(model, checkpoints::tokens_of_ids({5, 44, 12, 9, 7, 3}), target);
    const auto trace = reference::ask(request);
    const AttentionTrace& attention = trace->attention(Stack::self, 0);
    EXPECT_EQ(attention.softcap > 0, name == "family-gemma2");
    EXPECT_EQ(attention.sinks.size() > 0, name == "family-headlight-sinks");
    const Index rows = trace->queries();
    for (Index head = 0; head < attention.num_heads(); ++head) {
      const ScaleEffect effect = scale_effect(*trace, {0, head}, 0, rows);
      Request other = request;
      other.edits.layers.push_back({.stack = Stack::self, .layer = 0});
      other.edits.layers.back().scale = effect.other_scale;
      const auto without = reference::ask(other);
      ASSERT_EQ(without->attention(Stack::self, 0).scale, effect.other_scale);
      EXPECT_EQ(effect.other, softmax_gradient(softmax_of_rows(*without, {0, head}, 0, rows)));
    }
  }
}

/// Vaswani et al. 2017, footnote 4: with components of variance 1 the products have variance d_k.
TEST(ScaleEffect, WithoutTheScaleRowsBecomeOneHotAndTheGradientGoes) {
  Random random(47);
  double before = 1;
  for (const Index d_k : {4, 64, 1024}) {
    const float limit = std::sqrt(3.0f);  // of a uniform distribution with variance 1
    const Matrix q = reference::random_matrix(random, 40, d_k, limit),
                 k = reference::random_matrix(random, 40, d_k, limit);
    const auto trace = reference::ask(reference::request_for(reference::given_model(q, k, k, 1)));
    ASSERT_TRUE(trace);
    const ScaleEffect effect = scale_effect(*trace, {}, 0, 40);
    EXPECT_FLOAT_EQ(effect.scale, 1 / std::sqrt(static_cast<float>(d_k)));
    EXPECT_EQ(effect.other_scale, 1);
    EXPECT_GT(effect.gradient.mean(), 0.1f) << "the scale keeps it, whatever the width";
    EXPECT_LT(effect.other.mean(), before) << d_k;
    before = effect.other.mean();
  }
  EXPECT_LT(before, 0.1);
}

}  // namespace
}  // namespace headlight
