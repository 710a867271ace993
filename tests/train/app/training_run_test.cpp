// What is kept of a training stays small, and the curves of it keep every step.
#include "train/run/training_run.h"

#include <gtest/gtest.h>

#include <array>

#include "figure/drawing/curve.h"
#include "train/run/training_files.h"

namespace headlight {
namespace {

TEST(LossCurve, KeepsEveryStepInFewPoints) {
  LossCurve curve;
  for (Index step = 1; step <= 12345; ++step) {
    add(curve, step, {.loss = static_cast<double>(step % 7), .targets = 3, .right = step % 2, .tokens = 5});
    ASSERT_LE(curve.points.size(), kMostLossPoints);
  }
  EXPECT_GE(curve.points.size(), kMostLossPoints / 2);
  Index next = 1, targets = 0, right = 0;
  double sum = 0;
  for (const LossPoint& point : curve.points) {
    EXPECT_EQ(point.first, next);
    EXPECT_LE(point.steps, curve.stretch);
    next = point.first + point.steps;
    sum += point.loss_sum;
    targets += point.targets;
    right += point.right;
  }
  EXPECT_EQ(next, 12346);
  EXPECT_EQ(targets, 3 * 12345);
  EXPECT_EQ(right, 6173);
  double all = 0;
  for (Index step = 1; step <= 12345; ++step) all += static_cast<double>(step % 7);
  EXPECT_DOUBLE_EQ(sum, all);
  EXPECT_NEAR(curve.points.front().loss(), 3, 0.1);
}

TEST(Shots, AreThinnedEvenlyAndBounded) {
  ShotClock clock = shot_clock(12000, 340000);
  std::vector<Shot> shots;
  for (Index step = 0; step <= 12000; ++step) {
    if (!clock.due(step)) continue;
    shots.push_back({step, nullptr});
    if (clock.tick()) thin(shots, clock);
    ASSERT_LE(shots.size(), 64u);
  }
  EXPECT_GE(shots.size(), 32u);
  EXPECT_EQ(shots.front().step, 0) << "where it began";
  for (std::size_t i = 1; i < shots.size(); ++i) EXPECT_EQ(shots[i].step - shots[i - 1].step, clock.stretch);
  EXPECT_EQ(shot_clock(100, 100).stretch, 1) << "a short one keeps each of its steps";
  EXPECT_EQ(shot_clock(1000, Index{1} << 30).most, 8u) << "fewer of a large network";
}

TEST(Shots, AreRoundedToHalfPrecision) {
  const Network network = fresh_network({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8}, 12);
  TrainingRun run{.name = "mine"};
  auto layout = network;
  layout.values = {};
  run.layout = std::make_shared<const Network>(std::move(layout));
  run.live = std::make_shared<const Model>(model_of(network));
  const auto model = model_at(run, shot_of(network, 40));
  EXPECT_EQ(model->name, "mine, step 40");
  const Matrix &kept = model->blocks[0].self.query.weight, &exact = run.live->blocks[0].self.query.weight;
  ASSERT_EQ(kept.size(), exact.size());
  EXPECT_LT((kept - exact).cwiseAbs().maxCoeff(), 1e-3f);
  EXPECT_EQ(kept(0, 0), static_cast<float>(static_cast<Eigen::half>(exact(0, 0))));
}

TEST(Scores, AreThinnedAndFoundByStep) {
  TrainingRun run;
  for (Index step = 0; step < 1000; ++step) {
    add(run.scores, {step * 10, std::make_shared<const RelationReport>()});
    ASSERT_LE(run.scores.size(), kMostScorePoints);
  }
  EXPECT_EQ(run.scores.front().step, 0);
  EXPECT_EQ(run.scores.back().step, 9990);
  EXPECT_EQ(scores_at(run, 9990)->step, 9990);
  EXPECT_LE(scores_at(run, 5003)->step, 5003);
  EXPECT_EQ(scores_at(TrainingRun{}, 3), nullptr);
}

TEST(PlanOfATraining, MayChangeEveryWordAndNoMore) {
  TrainingPlan plan = default_plan({});
  plan.task = Task::masked;
  Corruption& shares = plan.corruption;
  for (const auto& [mask, swap, keep] : {std::array{0.8f, 0.1f, 0.1f}, {0.27f, 0.66f, 0.07f}, {1.0f, 0.0f, 0.0f}}) {
    shares.mask = mask, shares.swap = swap, shares.keep = keep;
    const Status all = check_plan(plan);
    EXPECT_TRUE(all) << mask << " and " << swap << " and " << keep << ": " << all.error().message();
    shares.mask += 0.001f;
    const Status more = check_plan(plan);
    ASSERT_FALSE(more) << mask;
    EXPECT_EQ(more.error().code, ErrorCode::hides_more_than_all);
  }
}

TEST(CurveFrame, PutsStepsAndValuesIntoThePlot) {
  const CurveFrame frame{.plot = {10, 20, 100, 50}, .first = 0, .last = 200, .bottom = 0, .top = 2};
  EXPECT_FLOAT_EQ(frame.x(100), 60);
  EXPECT_FLOAT_EQ(frame.y(0), 70);
  EXPECT_FLOAT_EQ(frame.y(2), 20);
  EXPECT_FLOAT_EQ(frame.y(9), 20) << "at the edge";
  EXPECT_DOUBLE_EQ(frame.step_at(frame.x(50)), 50);
  EXPECT_DOUBLE_EQ(frame.step_at(-5), 0);
}

TEST(CurveTicks, AreRoundAndFewEnough) {
  EXPECT_EQ(round_ticks(0, 12000, 5), (std::vector<double>{0, 5000, 10000}));
  EXPECT_EQ(round_ticks(0, 1, 6), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_ticks(0, 0, 4), (std::vector<double>{0}));
  for (const double high : {0.013, 0.7, 3.3, 47.0, 999.0, 1e6})
    for (int most = 2; most < 12; ++most) {
      const auto ticks = round_ticks(0, high, most);
      EXPECT_LE(static_cast<int>(ticks.size()), most);
      EXPECT_GE(ticks.size(), 1u);
    }
}

TEST(CurveTicks, HaveNoNegativeZero) { EXPECT_FALSE(std::signbit(round_ticks(0, 12000, 5).front())); }

TEST(CurveFrame, GrowsWithTheTraining) {
  EXPECT_EQ(shown_steps(12000, 12000), 12000);
  EXPECT_EQ(shown_steps(6001, 12000), 12000);
  EXPECT_EQ(shown_steps(6000, 12000), 6000);
  EXPECT_EQ(shown_steps(400, 12000), 750);
  EXPECT_LE(shown_steps(0, 12000), 20);
  EXPECT_EQ(shown_steps(3, 8), 8);
}

double luminance(Rgb colour) {
  const auto linear = [](std::uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

TEST(SeriesColours, StandOutFromTheBackground) {
  for (const Theme theme : {Theme::light, Theme::dark})
    for (std::size_t i = 0; i < 8; ++i) {
      double a = luminance(series_colour(i, theme)), b = luminance(background_of(theme));
      if (a < b) std::swap(a, b);
      EXPECT_GE((a + 0.05) / (b + 0.05), 3.0) << i;
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(series_colour(i, theme) == series_colour(j, theme));
    }
}

}  // namespace
}  // namespace headlight
