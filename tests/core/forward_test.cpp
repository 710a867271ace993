#include "math/forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "math/attention.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::refusal;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Matrix pattern(const Trace& trace, Index layer, Index head) {
  return attention_rows(trace, layer, head, 0, trace.queries());
}

// ---- against the formulas written out

struct Case {
  const char* name;
  Config config;
  Index tokens = 10;
  MaskSpec mask = {};
  Edits edits = {};
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class Formulas : public testing::TestWithParam<Case> {};

TEST_P(Formulas, AgreeInEveryLayer) {
  const Case& c = GetParam();
  const Request request{.config = c.config, .tokens = with_padding_marked(counted(c.tokens), c.tokens > 6 ? 2 : 0),
                        .mask = c.mask, .edits = c.edits};
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const auto expected = reference::answer(request, *trace->model);
  EXPECT_LE(reference::difference(trace->embedding, expected.embedding), 1e-6);
  double weights_apart = 0, states_apart = 0;
  ASSERT_EQ(trace->blocks.size(), expected.layers.size());
  for (std::size_t layer = 0; layer < expected.layers.size(); ++layer) {
    const auto& theirs = expected.layers[layer];
    for (std::size_t head = 0; head < theirs.weights.size(); ++head) {
      const Matrix weights = pattern(*trace, static_cast<Index>(layer), static_cast<Index>(head));
      weights_apart = std::max(weights_apart, reference::difference(weights, theirs.weights[head]));
    }
    const BlockTrace& ours = trace->blocks[layer];
    states_apart = std::max({states_apart, reference::difference(ours.self.z, theirs.z),
                             reference::difference(ours.self.output, theirs.attention_output),
                             reference::difference(ours.output, theirs.output)});
  }
  states_apart = std::max(states_apart, reference::difference(trace->last_hidden_state, expected.last));
  EXPECT_LE(weights_apart, 2e-5);
  EXPECT_LE(states_apart, 1e-4);
  RecordProperty("weights_apart", std::to_string(weights_apart * 1e6) + "e-6");
  RecordProperty("states_apart", std::to_string(states_apart * 1e6) + "e-6");
}

std::shared_ptr<const Matrix> additive_mask(Index tokens) {
  Random random(40);
  return std::make_shared<const Matrix>(reference::random_matrix(random, tokens, tokens, 3.0f));
}

INSTANTIATE_TEST_SUITE_P(
    Forward, Formulas,
    testing::Values(
        Case{"default", {}},
        Case{"one_of_each", {.d_model = 1, .num_heads = 1, .num_layers = 1, .ffn = 1}, 1},
        Case{"no_feed_forward", {.d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 0}},
        Case{"pre_norm", {.d_model = 24, .num_heads = 3, .num_layers = 3, .ffn = 40, .norm = Norm::pre}},
        Case{"pre_norm_no_feed_forward", {.d_model = 12, .num_heads = 4, .num_layers = 2, .ffn = 0, .norm = Norm::pre}},
        Case{"gelu", {.d_model = 20, .num_heads = 5, .num_layers = 2, .ffn = 33, .activation = Activation::gelu}},
        Case{"pre_norm_gelu_no_bias", {.d_model = 32, .num_heads = 8, .num_layers = 3, .ffn = 64, .norm = Norm::pre,
                                       .activation = Activation::gelu, .bias = false}},
        Case{"no_positions_no_bias", {.d_model = 14, .num_heads = 7, .num_layers = 1, .ffn = 20,
                                      .position = Position::none, .bias = false}},
        Case{"odd_width", {.d_model = 15, .num_heads = 5, .num_layers = 2, .ffn = 7, .seed = 99}},
        Case{"d_k_of_one", {.d_model = 6, .num_heads = 6, .num_layers = 2, .ffn = 8}},
        Case{"causal", {.arch = Arch::decoder, .d_model = 18, .num_heads = 6, .num_layers = 3, .ffn = 24}, 12,
             {.causal = true}},
        Case{"padding_not_masked", {.d_model = 8, .num_heads = 2}, 9, {.padding = false}},
        Case{"painted", {.d_model = 16, .num_heads = 4}, 10,
             {.causal = true, .painted = {{0, 9, true}, {3, 0, false}, {5, 8, true}}}},
        Case{"additive", {.d_model = 16, .num_heads = 4}, 10,
             {.given = additive_mask(10)}},
        Case{"blocked_rows", {.d_model = 16, .num_heads = 4}, 3,
             {.painted = {{1, 0, false}, {1, 1, false}, {1, 2, false}}}},
        Case{"scale_of_two", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = 2.0f}},
        Case{"scale_of_zero", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = 0.0f}},
        Case{"negative_scale", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = -0.5f}},
        Case{"several_row_blocks", {.d_model = 12, .num_heads = 2, .num_layers = 2, .ffn = 16}, 150, {.causal = true}}),
    [](const auto& tested) { return tested.param.name; });

TEST(Forward, ScaleIsOneOverTheRootOfTheHeadsWidthUnlessEdited) {
  Request request{.config = {.d_model = 64, .num_heads = 4}, .tokens = counted(2)};
  EXPECT_EQ(ask(request)->scale, 0.25f);
  request.edits.scale = 3.5f;
  EXPECT_EQ(ask(request)->scale, 3.5f);
  const auto model = reference::given_model(Matrix::Ones(2, 6), Matrix::Ones(3, 6), Matrix::Ones(3, 6), 2);
  model->blocks[0].self.query.weight = model->blocks[0].self.key.weight = Matrix::Ones(32, 6);
  EXPECT_EQ(ask(reference::request_for(model))->scale, 0.25f);
}

// ---- stopping and progress

TEST(Forward, StoppedBeforeItBeginsGivesNothing) {
  Progress progress;
  progress.stop = true;
  const auto result = forward({.tokens = counted(10)}, progress);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, nullptr);
}

TEST(Forward, StoppedOnTheWayReturnsQuicklyWithNothing) {
  using Clock = std::chrono::steady_clock;
  const Request request{.config = {.num_layers = 64, .ffn = 0}, .tokens = counted(3000)};
  for (const int threads : {1, 2}) {
    Progress progress;
    Clock::time_point stopped;
    std::jthread other([&] {
      while (progress.done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      stopped = Clock::now();
      progress.stop = true;
    });
    const auto result = forward(request, progress, nullptr, threads);
    const auto returned = Clock::now();
    other.join();
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, nullptr);
    EXPECT_LT(progress.done, 0.5f);
    EXPECT_LT(std::chrono::duration<double>(returned - stopped).count(), 3.0);
  }
}

TEST(Forward, ProgressRisesToOneAndNeverPassesIt) {
  for (const auto& [layers, heads] : {std::pair<Index, Index>{1, 1}, {6, 7}, {7, 16}, {126, 13}, {127, 16}}) {
    Progress progress;
    std::atomic<bool> finished = false;
    std::jthread watcher([&] {
      float last = 0;
      while (!finished) {
        const float now = progress.done;
        EXPECT_GE(now, last);
        EXPECT_LE(now, 1.0f);
        last = now;
      }
    });
    const auto result = forward({.config = {.d_model = 2 * heads, .num_heads = heads, .num_layers = layers, .ffn = 0},
                                 .tokens = counted(30)}, progress);
    EXPECT_TRUE(result);
    EXPECT_EQ(progress.done, 1.0f);
    finished = true;
  }
}

// ---- what is refused, and what is warned of

TEST(Forward, RefusesASentenceWithoutTokens) {
  EXPECT_EQ(refusal({}), "text: tokens: expected at least one, found none");
}

TEST(Forward, RefusesAModelThatCannotBe) {
  EXPECT_EQ(refusal({.config = {.d_model = 64, .num_heads = 5}, .tokens = counted(10)}),
            "model: num_heads: expected a divisor of d_model 64, found 5");
  EXPECT_EQ(refusal({.config = {.d_model = 0}, .tokens = counted(10)}), "model: d_model: expected 1 to 8192, found 0");
  EXPECT_EQ(refusal({.config = {.num_layers = 0}, .tokens = counted(10)}), "model: layers: expected 1 to 128, found 0");
}

TEST(Forward, RefusesAMaskOfAnotherShape) {
  EXPECT_EQ(refusal({.tokens = counted(10), .mask = {.given = std::make_shared<const Matrix>(Matrix::Zero(9, 10))}}),
            "mask: shape (queries, keys): expected (10, 10), found (9, 10)");
}

TEST(Forward, RefusesAScaleThatIsNotFinite) {
  const auto line = [](float scale) { return refusal({.tokens = counted(10), .edits = {.scale = scale}}); };
  EXPECT_EQ(line(std::numeric_limits<float>::quiet_NaN()), "scale: expected a finite number, found nan");
  EXPECT_EQ(line(-kMinusInfinity), "scale: expected a finite number, found inf");
  EXPECT_EQ(line(kMinusInfinity), "scale: expected a finite number, found -inf");
}

std::string refusal_of(const Matrix& query, const Matrix& key, const Matrix& value, float value_weight = 1.0f) {
  const auto model = reference::given_model(query, key, value, 1);
  model->blocks[0].self.value.weight = Matrix::Constant(value.cols(), value.cols(), value_weight);
  return refusal(reference::request_for(model));
}

TEST(Forward, RefusesScoresThatOverflow) {
  const Matrix huge = Matrix::Constant(3, 2, 1e30f), one = Matrix::Ones(3, 2);
  const auto line = [](int query) {
    return "attention: layer 0 head 0 query " + std::to_string(query) + ": expected finite scores, found an overflow";
  };
  EXPECT_EQ(refusal_of(huge, huge, one), line(0)) << "all +inf";
  EXPECT_EQ(refusal_of(huge, -huge, one), line(0)) << "all -inf: not a row that may attend to nothing";
  Matrix mixed = huge;
  mixed.col(1) *= -1.0f;
  EXPECT_EQ(refusal_of(huge, mixed, one), line(0)) << "inf - inf";
  Matrix last = one;
  last.row(2).setConstant(1e30f);
  EXPECT_EQ(refusal_of(last, huge, one), line(2));
}

TEST(Forward, RefusesValuesThatOverflow) {
  const Matrix huge = Matrix::Constant(3, 2, 1e30f), one = Matrix::Ones(3, 2);
  EXPECT_EQ(refusal_of(one, one, huge, 1e30f), "attention: layer 0 values: expected finite numbers, found an overflow");
  EXPECT_EQ(refusal_of(one, one, huge), "");
}

TEST(Forward, RefusesAnOutputThatOverflows) {
  const auto model = reference::given_model(Matrix::Ones(2, 2), Matrix::Ones(2, 2), Matrix::Constant(2, 2, 1e30f), 1);
  model->blocks[0].self.output.weight = Matrix::Constant(2, 2, 1e30f);
  EXPECT_EQ(refusal(reference::request_for(model)),
            "attention: layer 0 attention output: expected finite numbers, found an overflow");
}

TEST(Forward, RefusesALastHiddenStateThatOverflows) {
  auto model = std::make_shared<Model>(*random_model({.norm = Norm::pre}));
  model->final_norm->scale.setConstant(3e38f);
  Request request = reference::request_for(model);
  request.tokens = counted(5);
  EXPECT_EQ(refusal(request), "attention: last hidden state: expected finite numbers, found an overflow");
}

TEST(Forward, RefusesInputsThatAreNotNumbers) {
  Matrix bad = Matrix::Ones(3, 2);
  bad(1, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal_of(bad, Matrix::Ones(3, 2), Matrix::Ones(3, 2)),
            "attention: layer 0 queries: expected finite numbers, found an overflow");
}

TEST(Forward, ARowThatMayAttendToNothingIsZerosAndAWarning) {
  const auto trace = ask({.tokens = counted(3), .mask = {.painted = {{1, 0, false}, {1, 1, false}, {1, 2, false}}}});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->warnings, std::vector<std::string>{
      "mask: 1 query may attend to nothing (the first is 1): their rows are zeros"});
  for (Index head = 0; head < 4; ++head) {
    EXPECT_TRUE((pattern(*trace, 1, head).row(1).array() == 0.0f).all());
    EXPECT_NEAR(pattern(*trace, 1, head).row(2).sum(), 1.0f, 1e-6f);
  }
  EXPECT_TRUE((trace->blocks[0].self.z.row(1).array() == 0.0f).all());
  EXPECT_TRUE(trace->last_hidden_state.allFinite());
}

TEST(Forward, ASentenceThatIsAllPaddingIsZerosAndAWarning) {
  const auto trace = ask({.tokens = with_padding_marked(counted(200), 200)});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->warnings, std::vector<std::string>{
      "mask: 200 queries may attend to nothing (the first is 0): their rows are zeros"});
  EXPECT_TRUE((pattern(*trace, 0, 0).array() == 0.0f).all());
  EXPECT_TRUE((trace->blocks[1].self.heads[3].thumbnail.array() == -1.0f).all());
}

TEST(Forward, AnOrdinarySentenceHasNoWarnings) {
  EXPECT_TRUE(ask({.tokens = counted(10), .mask = {.causal = true}})->warnings.empty());
}

}  // namespace
}  // namespace headlight
