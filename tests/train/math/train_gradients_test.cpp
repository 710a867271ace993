#include "train/network/gradients.h"

#include <gtest/gtest.h>

#include <utility>

#include "math/kernels/kernels.h"
#include "train/network/training.h"
#include "train/train_reference.h"

namespace headlight::training {
namespace {

struct NamedShape {
  const char* name;
  Config config;
  float smoothing = 0;
};

std::vector<NamedShape> shapes() {
  const Config small{
      .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 12, .norm = Norm::pre, .activation = Activation::gelu};
  std::vector<NamedShape> all{{"encoder_pre_gelu", small}};
  Config next = small;
  next.norm = Norm::post;
  next.activation = Activation::relu;
  all.push_back({"encoder_post_relu", next});
  next = small;
  next.head_dim = 6;
  next.num_heads = 3;
  next.d_model = 10;
  next.position = Position::learned;
  next.tied = false;
  all.push_back({"encoder_wide_heads_learned_positions_untied_smoothed", next, 0.1f});
  next = small;
  next.arch = Arch::decoder;
  next.position = Position::none;
  next.norm_kind = NormKind::rms_norm;
  next.bias = {false, false, false, false, false};
  all.push_back({"decoder_rms_norm_no_biases_no_positions", next});
  next = small;
  next.ffn = 0;
  next.d_model = 6;
  all.push_back({"encoder_without_feed_forward", next});
  next = small;
  next.arch = Arch::encoder_decoder;
  next.encoder_layers = 1;
  all.push_back({"encoder_decoder_pre", next});
  next.norm = Norm::post;
  next.position = Position::learned;
  all.push_back({"encoder_decoder_post_learned_positions", next});
  return all;
}

// Those in which no attention has a separate target: where heads look can be taught to them.
std::vector<NamedShape> shapes_of_one_stack() {
  std::vector<NamedShape> all = shapes();
  std::erase_if(all, [](const NamedShape& shape) { return shape.config.arch == Arch::encoder_decoder; });
  return all;
}

class GradientsOf : public testing::TestWithParam<NamedShape> {};
class TaughtGradientsOf : public testing::TestWithParam<NamedShape> {};

// Central differences of the double-precision loss have an error of about 1e-9; what is left is that of float32.
// A bias of the keys changes nothing, since softmax takes it away: its zeros are held to 1e-7. Each difference costs
// two passes of the reference, so of a large parameter every seventh number is held.
TEST_P(GradientsOf, EveryParameterAreThoseOfTheLoss) {
  const NamedShape& shape = GetParam();
  double worst = 0;
  Network network = fresh_network(shape.config, 9, 8);
  shake(network, 5);
  const Batch batch = drawn_batch(network, 3, 4, 9);
  Workspace workspace(1);
  Floats gradients;
  const Loss loss = loss_and_gradients(network, batch, {.label_smoothing = shape.smoothing}, 0, gradients, workspace);
  Reference reference(network);
  EXPECT_NEAR(loss.mean, reference.loss(batch, static_cast<double>(shape.smoothing)), 2e-6);
  const auto loss_with = [&](double& value, double moved) {
    const double before = value;
    value = moved;
    const double result = reference.loss(batch, static_cast<double>(shape.smoothing));
    value = before;
    return result;
  };
  for (const Parameter& parameter : network.parameters) {
    std::vector<double> wanted(static_cast<std::size_t>(parameter.size()));
    const std::size_t stride = wanted.size() > 20 ? 7 : 1;
    double largest = 0;
    for (std::size_t i = 0; i < wanted.size(); i += stride) {
      double& value = reference.values[static_cast<std::size_t>(parameter.offset) + i];
      const double step = 1e-5;
      wanted[i] = (loss_with(value, value + step) - loss_with(value, value - step)) / (2 * step);
      largest = std::max(largest, std::abs(wanted[i]));
    }
    for (std::size_t i = 0; i < wanted.size(); i += stride) {
      const double found = static_cast<double>(gradients[static_cast<std::size_t>(parameter.offset) + i]);
      const double error = std::abs(found - wanted[i]) / (std::abs(wanted[i]) + 1e-3 * largest + 1e-4);
      worst = std::max(worst, error);
      ASSERT_LT(error, 1e-3) << parameter.name << "[" << i << "] " << found << " for " << wanted[i];
    }
  }
  RecordProperty("worst_relative_error", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(EveryShape, GradientsOf, testing::ValuesIn(shapes()),
                         [](const auto& shape) { return std::string(shape.param.name); });

/// Gives some heads of a batch attention targets: one position, several, the first one.
void ask_heads(Batch& batch, const Config& config) {
  Random random(17);
  for (std::int32_t sentence = 0; sentence < batch.input.count; ++sentence) {
    const std::int32_t length = batch.input.lengths[static_cast<std::size_t>(sentence)];
    for (std::int32_t layer = 0; layer < config.num_layers; ++layer)
      for (std::int32_t head = 0; head < config.num_heads; ++head) {
        if ((layer + head) % 2 == 0) continue;
        for (std::int32_t query = 0; query < length; ++query) {
          if (random.next() % 3 == 0) continue;
          const auto first = static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(query + 1));
          const std::int32_t end = first < query && random.next() % 2 ? first + 2 : first + 1;
          batch.attention.push_back({sentence, layer, head, query, first, end, 0.2f + random.uniform(), query == 0});
        }
      }
  }
}

// The same by central differences, for the loss of words and of attention targets together, on every shape with a
// single stack; a decoder has targets only at positions that its mask allows.
TEST_P(TaughtGradientsOf, WhereHeadsLookAreThoseOfTheLoss) {
  const NamedShape& shape = GetParam();
  constexpr float kWeight = 1.7f;
  Network network = fresh_network(shape.config, 9, 8);
  shake(network, 5);
  Batch batch = drawn_batch(network, 3, 5, 9);
  ask_heads(batch, shape.config);
  ASSERT_GT(batch.attention.size(), 8u);
  Workspace workspace(1);
  Floats gradients;
  const Objective objective{.label_smoothing = shape.smoothing, .attention = kWeight};
  const Loss loss = loss_and_gradients(network, batch, objective, 0, gradients, workspace);
  Reference reference(network);
  EXPECT_NEAR(loss.attention, reference.attention_loss(batch), 2e-6);
  const auto loss_at = [&](double& value, double moved) {
    const double before = std::exchange(value, moved);
    const double result = reference.loss(batch, static_cast<double>(shape.smoothing)) +
                          static_cast<double>(kWeight) * reference.attention_loss(batch);
    value = before;
    return result;
  };
  for (const Parameter& parameter : network.parameters) {
    if (parameter.name == "tokens" || parameter.name == "output.weight") continue;  // as above, and many
    double largest = 0;
    std::vector<double> wanted(static_cast<std::size_t>(std::min<Index>(parameter.size(), 24)));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      double& value = reference.values[static_cast<std::size_t>(parameter.offset) + i];
      constexpr double kStep = 1e-5;
      wanted[i] = (loss_at(value, value + kStep) - loss_at(value, value - kStep)) / (2 * kStep);
      largest = std::max(largest, std::abs(wanted[i]));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double found = static_cast<double>(gradients[static_cast<std::size_t>(parameter.offset) + i]);
      const double error = std::abs(found - wanted[i]) / (std::abs(wanted[i]) + 1e-3 * largest + 1e-4);
      ASSERT_LT(error, 1e-3) << parameter.name << "[" << i << "] " << found << " for " << wanted[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryShape, TaughtGradientsOf, testing::ValuesIn(shapes_of_one_stack()),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST(Gradients, WhereHeadsLookAreTheSameBitsWithAnyNumberOfThreadsAndNothingWhereNothingIsAsked) {
  const Config config{.d_model = 32, .num_heads = 4, .num_layers = 2, .ffn = 64, .norm = Norm::pre};
  const Network network = fresh_network(config, 50);
  const Batch plain = drawn_batch(network, 150, 16, 3);
  Batch asked = plain;
  ask_heads(asked, config);
  Floats expected, found;
  Workspace one(1);
  const Objective objective{.attention = 2, .dropout = 0.1f};
  const Loss loss = loss_and_gradients(network, asked, objective, 7, expected, one);
  EXPECT_GT(loss.looks, 0);
  EXPECT_GT(loss.looked, 0.0);
  EXPECT_LT(loss.looked, 1.0);
  for (const int threads : {2, 3}) {
    Workspace workspace(threads);
    const Loss again = loss_and_gradients(network, asked, objective, 7, found, workspace);
    EXPECT_EQ(again.attention, loss.attention);
    EXPECT_TRUE(found == expected) << threads << " threads";
  }
  // Weight 0 measures and moves nothing.
  Floats unmoved;
  EXPECT_EQ(loss_and_gradients(network, asked, {.dropout = 0.1f}, 7, found, one).attention, loss.attention);
  loss_and_gradients(network, plain, {.dropout = 0.1f}, 7, unmoved, one);
  EXPECT_TRUE(found == unmoved);
}

TEST(Gradients, AreTheSameBitsWithAnyNumberOfThreads) {
  Config config{
      .d_model = 32, .num_heads = 4, .num_layers = 2, .ffn = 64, .norm = Norm::pre, .activation = Activation::gelu};
  const Network network = fresh_network(config, 50);
  const Batch batch = drawn_batch(network, 150, 16, 3);
  Floats expected;
  Workspace one(1);
  const Objective objective{.dropout = 0.1f};
  const Loss loss = loss_and_gradients(network, batch, objective, 7, expected, one);
  EXPECT_GT(batch.input.tokens(), 4 * 160);  // several shards
  for (const int threads : {2, 3, 7}) {
    Workspace workspace(threads);
    for (int round = 0; round < 3; ++round) {
      Floats found;
      const Loss again = loss_and_gradients(network, batch, objective, 7, found, workspace);
      EXPECT_EQ(again.mean, loss.mean) << threads;
      EXPECT_EQ(again.right, loss.right) << threads;
      EXPECT_TRUE(found == expected) << threads << " threads";
    }
  }
}

TEST(Gradients, OfAWholeBatchAreTheWeightedMeanOfThoseOfItsSentences) {
  const Network network = fresh_network({.d_model = 16, .num_heads = 2, .num_layers = 1, .ffn = 32}, 30);
  const Batch batch = drawn_batch(network, 60, 12, 4);
  Workspace workspace(2);
  Floats whole, single;
  const Loss loss = loss_and_gradients(network, batch, {}, 0, whole, workspace);
  std::vector<double> sum(whole.size(), 0.0);
  double mean = 0;
  for (Index sentence = 0; sentence < batch.input.count; ++sentence) {
    Batch one;
    const auto begin = sentence * batch.input.length, end = begin + batch.input.length;
    one.input = {.count = 1, .length = batch.input.length, .ids = {}, .lengths = {}};
    one.input.ids.assign(batch.input.ids.begin() + begin, batch.input.ids.begin() + end);
    one.input.lengths = {batch.input.lengths[static_cast<std::size_t>(sentence)]};
    one.targets.assign(batch.targets.begin() + begin, batch.targets.begin() + end);
    one.weights.assign(batch.weights.begin() + begin, batch.weights.begin() + end);
    const Loss own = loss_and_gradients(network, one, {}, 0, single, workspace);
    mean += own.mean * own.weight / loss.weight;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(single[i]) * own.weight / loss.weight;
  }
  EXPECT_NEAR(loss.mean, mean, 1e-6);
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(static_cast<double>(whole[i]), sum[i], 2e-6) << i;
}

TEST(Gradients, AreZeroWhereNothingIsAsked) {
  const Network network = fresh_network({.d_model = 16, .num_heads = 2, .num_layers = 1, .ffn = 32}, 30);
  Batch batch = drawn_batch(network, 3, 6, 4);
  std::fill(batch.targets.begin(), batch.targets.end(), -1);
  Workspace workspace(1);
  Floats gradients;
  const Loss loss = loss_and_gradients(network, batch, {}, 0, gradients, workspace);
  EXPECT_EQ(loss.targets, 0);
  EXPECT_EQ(loss.weight, 0.0);
  EXPECT_TRUE(std::all_of(gradients.begin(), gradients.end(), [](float g) { return g == 0.0f; }));
}

// The same factors there and back: the loss with dropout is a function like any other.
TEST(Dropout, HasTheGradientsOfTheLossWithTheSameWordsHidden) {
  const Objective objective{.dropout = 0.3f};
  Network network = fresh_network({.d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 16, .norm = Norm::pre}, 12);
  shake(network, 2);
  const Batch batch = drawn_batch(network, 4, 6, 8);
  Workspace workspace(1);
  Floats gradients, other;
  const double dropped = loss_and_gradients(network, batch, objective, 11, gradients, workspace).mean;
  EXPECT_NE(dropped, loss(network, batch, workspace).mean);
  EXPECT_NE(dropped, loss_and_gradients(network, batch, objective, 12, other, workspace).mean);
  // Along the gradient itself the loss changes by its squared norm.
  double squared = 0;
  for (const float g : gradients) squared += static_cast<double>(g) * static_cast<double>(g);
  const double step = 1e-3 / std::sqrt(squared);
  Network above = network, below = network;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    above.values[i] += static_cast<float>(step) * gradients[i];
    below.values[i] -= static_cast<float>(step) * gradients[i];
  }
  const double slope = (loss_and_gradients(above, batch, objective, 11, other, workspace).mean -
                        loss_and_gradients(below, batch, objective, 11, other, workspace).mean) /
                       (2 * step);
  EXPECT_NEAR(slope / squared, 1.0, 5e-3);
}

TEST(Dropout, HidesTheShareThatWasAskedAndKeepsTheMean) {
  std::vector<float> factors(100000);
  math_kernels().dropout_factors(3, 0.25f, factors.data(), static_cast<Index>(factors.size()));
  const auto hidden = std::count(factors.begin(), factors.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(hidden) / 1e5, 0.25, 0.01);
  EXPECT_EQ(std::count(factors.begin(), factors.end(), 1.0f / 0.75f) + hidden, std::ssize(factors));
}

}  // namespace
}  // namespace headlight::training
