#include "train/network/training.h"

#include <gtest/gtest.h>

#include <limits>

#include "train/train_reference.h"

namespace headlight::training {
namespace {

Network one_vector(const std::vector<float>& values, bool decays) {
  Network network;
  network.parameters = {{"vector", 0, 1, static_cast<Index>(values.size()), decays}};
  network.values.assign(values.begin(), values.end());
  return network;
}

Floats gradients_of_step(int t) {
  const float step = static_cast<float>(t);
  return {0.1f * step, -0.2f, 0.3f / step, 0.0f, t % 2 == 0 ? 1e-3f : -1e-3f};
}

// As torch.optim.AdamW (PyTorch 1.13) has them, lr 0.01, betas (0.9, 0.98), weight_decay 0.1.
TEST(AdamWStep, FollowsPyTorch) {
  Network network = one_vector({0.5f, -1.25f, 2.0f, 0.0f, -0.75f}, true);
  const AdamW adamw{.beta1 = 0.9f, .beta2 = 0.98f, .epsilon = 1e-8f, .decay = 0.1f};
  const float expected[5][5] = {{0.48950002f, -1.23874998f, 1.98800004f, 0.0f, -0.73925012f},
                                {0.47938636f, -1.22751129f, 1.97666335f, 0.0f, -0.73903722f},
                                {0.46937913f, -1.2162838f, 1.96589994f, 0.0f, -0.73494029f},
                                {0.45938161f, -1.20506752f, 1.955639f, 0.0f, -0.73473167f},
                                {0.44934973f, -1.19386244f, 1.94582582f, 0.0f, -0.73195279f}};
  Moments moments;
  for (int t = 1; t <= 5; ++t) {
    adamw_step(network, gradients_of_step(t), moments, adamw, t, 0.01f);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(network.values[i], expected[t - 1][i], 1e-6f) << t << ", " << i;
  }
}

TEST(AdamWStep, DecaysOnlyWhatDecays) {
  const AdamW adamw{.decay = 0.5f};
  Moments moments, others;
  Network decaying = one_vector({1, -2}, true), kept = one_vector({1, -2}, false);
  const Floats none{0, 0};
  adamw_step(decaying, none, moments, adamw, 1, 0.1f);
  adamw_step(kept, none, others, adamw, 1, 0.1f);
  EXPECT_FLOAT_EQ(decaying.values[0], 0.95f);
  EXPECT_FLOAT_EQ(decaying.values[1], -1.9f);
  EXPECT_EQ(kept.values[0], 1.0f);
  EXPECT_EQ(kept.values[1], -2.0f);
}

TEST(Clipping, ScalesDownToTheNormAndNeverUp) {
  const Floats gradients{3, 0, -4};
  EXPECT_DOUBLE_EQ(global_norm(gradients), 5.0);
  EXPECT_FLOAT_EQ(clip_scale(5, 1), 0.2f);
  EXPECT_EQ(clip_scale(5, 5), 1.0f);
  EXPECT_EQ(clip_scale(5, 100), 1.0f);
  EXPECT_EQ(clip_scale(5, 0), 1.0f);
}

TEST(LearningRate, RisesThenFollowsTheCosineToTheFloor) {
  const Schedule schedule{.peak = 0.004f, .warmup = 10, .steps = 110, .floor = 0.05f};
  EXPECT_FLOAT_EQ(learning_rate(schedule, 1), 0.0004f);
  EXPECT_FLOAT_EQ(learning_rate(schedule, 10), 0.004f);
  EXPECT_FLOAT_EQ(learning_rate(schedule, 60), 0.004f * (0.05f + 0.95f * 0.5f));
  EXPECT_FLOAT_EQ(learning_rate(schedule, 110), 0.0002f);
  EXPECT_FLOAT_EQ(learning_rate(schedule, 5000), 0.0002f);
  for (Index step = 11; step <= 110; ++step)
    EXPECT_LT(learning_rate(schedule, step), learning_rate(schedule, step - 1)) << step;
  EXPECT_FLOAT_EQ(learning_rate({.peak = 1, .warmup = 0, .steps = 0}, 1), 0.05f);
}

Config small(Arch arch) {
  return {.arch = arch,
          .d_model = 16,
          .num_heads = 2,
          .num_layers = 2,
          .ffn = 32,
          .norm = Norm::pre,
          .activation = Activation::gelu};
}

TEST(Training, LearnsAFewSentencesByHeart) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    Training training{.network = fresh_network(small(arch), 20)};
    Batch batch = drawn_batch(training.network, 4, 6, 5);
    batch.weights.clear();
    // A decoder that sees the same beginning twice could not know how it goes on.
    for (Index sentence = 0; sentence < 4; ++sentence)
      batch.input.ids[static_cast<std::size_t>(sentence * 6)] = static_cast<std::int32_t>(sentence);
    const TrainingRecipe recipe{.schedule = {.peak = 1e-2f, .warmup = 20, .steps = 400}};
    Workspace workspace(1);
    StepReport report;
    for (int step = 0; step < 400; ++step) report = train_step(training, batch, recipe, workspace);
    EXPECT_LT(report.loss.mean, 0.01) << name(arch);
    EXPECT_EQ(report.loss.right, report.loss.targets) << name(arch);
    EXPECT_GT(report.loss.targets, 8);
  }
}

TEST(Training, GoesOnFromWhereItWasToTheSameBits) {
  const TrainingRecipe recipe{.objective = {.dropout = 0.1f}};
  const auto train = [&](Training& training, Index until, int threads) {
    Workspace workspace(threads);
    while (training.step < until)
      train_step(training, drawn_batch(training.network, 70, 12, static_cast<std::uint64_t>(training.step)), recipe,
                 workspace);
  };
  Training whole{.network = fresh_network(small(Arch::encoder), 20)};
  train(whole, 12, 1);
  Training part{.network = fresh_network(small(Arch::encoder), 20)};
  train(part, 5, 2);
  Training copy = part;
  train(copy, 12, 3);
  EXPECT_TRUE(copy.network.values == whole.network.values);
  EXPECT_TRUE(copy.moments.second == whole.moments.second);
}

TEST(Training, StaysAsItWasWhereTheLossIsNotFinite) {
  Training training{.network = fresh_network(small(Arch::encoder), 20)};
  const Batch batch = drawn_batch(training.network, 3, 5, 1);
  training.network.values[3] = std::numeric_limits<float>::infinity();
  const Floats before = training.network.values;
  Workspace workspace(1);
  for (int i = 0; i < 3; ++i) train_step(training, batch, {}, workspace);
  EXPECT_TRUE(training.network.values == before);
  EXPECT_EQ(training.step, 3);
}

}  // namespace
}  // namespace headlight::training
