#include "math/forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/reference.h"
#include "float_infinity.h"
#include "math/attention.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::pattern;
using reference::refusal;

// ---- against the formulas written out

struct Case {
  const char* name;
  Config config;
  Index tokens = 10;
  MaskSpec mask = {};
  Edits edits = {};
  Index target = 5;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class NamedSettings : public testing::TestWithParam<Case> {};

TEST_P(NamedSettings, AgreeWithTheFormulasInEveryLayer) {
  const Case& c = GetParam();
  const Request request{.config = c.config,
                        .tokens = with_padding_marked(counted(c.tokens), c.tokens > 6 ? 2 : 0),
                        .target = counted(c.target),
                        .mask = c.mask,
                        .edits = c.edits};
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_LE(reference::difference(trace->embedding, reference::answer(request, *trace->model).embedding), 1e-6);
  const auto apart = reference::compare(*trace);
  EXPECT_LE(apart.weights, 2e-5);
  EXPECT_LE(apart.states, 1e-4);
  RecordProperty("weights_apart", std::to_string(apart.weights * 1e6) + "e-6");
  RecordProperty("states_apart", std::to_string(apart.states * 1e6) + "e-6");
}

std::shared_ptr<const Matrix> additive_mask(Index tokens) {
  Random random(40);
  return std::make_shared<const Matrix>(reference::random_matrix(random, tokens, tokens, 3.0f));
}

constexpr Biases kNoBias{.query = false, .key = false, .value = false, .output = false, .ffn = false};

INSTANTIATE_TEST_SUITE_P(
    Forward, NamedSettings,
    testing::Values(
        Case{"default", {}}, Case{"one_of_each", {.d_model = 1, .num_heads = 1, .num_layers = 1, .ffn = 1}, 1},
        Case{"no_feed_forward", {.d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 0}},
        Case{"pre_norm", {.d_model = 24, .num_heads = 3, .num_layers = 3, .ffn = 40, .norm = Norm::pre}},
        Case{"pre_norm_no_feed_forward", {.d_model = 12, .num_heads = 4, .num_layers = 2, .ffn = 0, .norm = Norm::pre}},
        Case{"gelu", {.d_model = 20, .num_heads = 5, .num_layers = 2, .ffn = 33, .activation = Activation::gelu}},
        Case{"pre_norm_gelu_no_bias",
             {.d_model = 32,
              .num_heads = 8,
              .num_layers = 3,
              .ffn = 64,
              .norm = Norm::pre,
              .activation = Activation::gelu,
              .bias = kNoBias}},
        Case{"no_positions_no_bias",
             {.d_model = 14, .num_heads = 7, .num_layers = 1, .ffn = 20, .position = Position::none, .bias = kNoBias}},
        Case{"odd_width", {.d_model = 15, .num_heads = 5, .num_layers = 2, .ffn = 7, .seed = 99}},
        Case{"d_k_of_one", {.d_model = 6, .num_heads = 6, .num_layers = 2, .ffn = 8}},
        Case{"causal",
             {.arch = Arch::decoder, .d_model = 18, .num_heads = 6, .num_layers = 3, .ffn = 24},
             12,
             {.causal = true}},
        Case{"padding_not_masked", {.d_model = 8, .num_heads = 2}, 9, {.padding = false}},
        Case{"painted",
             {.d_model = 16, .num_heads = 4},
             10,
             {.causal = true, .painted = {{0, 9, true}, {3, 0, false}, {5, 8, true}}}},
        Case{"additive", {.d_model = 16, .num_heads = 4}, 10, {.given = additive_mask(10)}},
        Case{"blocked_rows",
             {.d_model = 16, .num_heads = 4},
             3,
             {.painted = {{1, 0, false}, {1, 1, false}, {1, 2, false}}}},
        Case{"scale_of_two", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = 2.0f}},
        Case{"scale_of_zero", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = 0.0f}},
        Case{"negative_scale", {.d_model = 16, .num_heads = 4}, 10, {}, {.scale = -0.5f}},
        Case{"rms_norm", {.d_model = 16, .num_heads = 4, .ffn = 20, .norm_kind = NormKind::rms_norm}},
        Case{"like_llama",
             {.arch = Arch::decoder,
              .d_model = 24,
              .num_heads = 6,
              .num_kv_heads = 2,
              .ffn = 40,
              .position = Position::rotary,
              .norm = Norm::pre,
              .norm_kind = NormKind::rms_norm,
              .activation = Activation::silu,
              .gated = true,
              .bias = kNoBias},
             12,
             {.causal = true}},
        Case{"like_gpt2",
             {.arch = Arch::decoder,
              .d_model = 24,
              .num_heads = 4,
              .ffn = 96,
              .position = Position::learned,
              .norm = Norm::pre,
              .activation = Activation::gelu_tanh},
             12,
             {.causal = true}},
        Case{"like_marian",
             {.arch = Arch::encoder_decoder,
              .d_model = 24,
              .num_heads = 4,
              .ffn = 48,
              .position = Position::sinusoidal_halves,
              .activation = Activation::silu},
             9,
             {.causal = true}},
        Case{"pre_norm_encoder_decoder",
             {.arch = Arch::encoder_decoder,
              .d_model = 16,
              .num_heads = 2,
              .num_layers = 3,
              .encoder_layers = 1,
              .ffn = 20,
              .norm = Norm::pre},
             7,
             {.causal = true},
             {},
             12},
        Case{"halves_of_an_odd_width", {.d_model = 15, .num_heads = 3, .position = Position::sinusoidal_halves}},
        Case{"wide_heads", {.d_model = 10, .num_heads = 3, .head_dim = 7}},
        Case{"narrow_heads_of_one_group", {.d_model = 16, .num_heads = 4, .num_kv_heads = 1, .head_dim = 2}},
        Case{"biases_of_query_and_value", {.d_model = 16, .num_heads = 4, .bias = {.key = false, .output = false}}},
        Case{"gated_relu", {.d_model = 16, .num_heads = 4, .ffn = 24, .gated = true}},
        Case{"several_row_blocks", {.d_model = 12, .num_heads = 2, .num_layers = 2, .ffn = 16}, 150, {.causal = true}}),
    [](const auto& tested) { return tested.param.name; });

/// What only some families have, in every architecture: a part of the columns rotated, scores held within a cap, a
/// sink.
TEST(Forward, NoWeightIsDrawnOnceItIsStopped) {
  const std::atomic<bool> stop = true;
  const auto model = random_model({.d_model = 8192, .num_heads = 8, .num_layers = 2, .ffn = 32768}, nullptr, stop);
  for (const BlockWeights& block : model->blocks) {
    EXPECT_EQ(block.self.query.weight.size(), 0);
    EXPECT_EQ(block.up.weight.size(), 0);
  }
}

TEST(Forward, SinksCapsAndPartialRotationAgreeWithTheFormulas) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    for (const auto& [sinks, cap, columns] : {std::tuple{true, 0.0f, Index{0}}, {false, 0.7f, 4}, {true, 1.5f, 2}}) {
      Config config{.arch = arch, .d_model = 24, .num_heads = 4, .num_kv_heads = 2, .ffn = 20};
      config.position = columns > 0 ? Position::rotary : Position::sinusoidal;
      config.rotary_columns = columns;
      config.softcap = cap;
      config.sinks = sinks;
      Request request{.config = config, .tokens = reference::counted(11), .mask = {.causal = arch != Arch::encoder}};
      if (arch == Arch::encoder_decoder) request.target = reference::counted(7);
      request.edits.scale = 2.0f;
      const auto trace = ask(request);
      ASSERT_TRUE(trace);
      const auto apart = reference::compare(*trace);
      EXPECT_LE(apart.weights, 2e-5);
      EXPECT_LE(apart.states, 2e-5);
      const Matrix weights = pattern(*trace, {.layer = 1, .head = 3});
      EXPECT_EQ(weights.sum() < static_cast<float>(weights.rows()) - 0.01f, sinks) << weights.sum();
    }
  }
}

/// A row that may attend to nothing stays empty, and a weight set by hand is the weight.
TEST(Forward, ASinkLeavesBlockedRowsAndWeightsSetByHandAsTheyAre) {
  Request request{.config = {.d_model = 24, .num_heads = 4, .sinks = true}, .tokens = reference::counted(6)};
  for (Index key = 0; key < 6; ++key) request.mask.painted.push_back({2, key, false});
  request.edits.weights = {{.head = {0, 1}, .cell = {3, 4}, .weight = 0.25f}};
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const Matrix weights = pattern(*trace, {.layer = 0, .head = 1});
  EXPECT_EQ(weights.row(2).cwiseAbs().maxCoeff(), 0.0f);
  EXPECT_EQ(weights(3, 4), 0.25f);
  EXPECT_NEAR(weights.row(3).sum(), 1.0f, 1e-6f) << "the other words of the row share the rest";
  EXPECT_LT(weights.row(1).sum(), 0.999f);
}

TEST(Forward, ScaleIsOneOverTheRootOfTheHeadsWidthUnlessEdited) {
  Request request{.config = {.d_model = 64, .num_heads = 4}, .tokens = counted(2)};
  EXPECT_EQ(ask(request)->attention(Stack::self, 1).scale, 0.25f);
  request.edits.scale = 3.5f;
  EXPECT_EQ(ask(request)->attention(Stack::self, 1).scale, 3.5f);
  request = {.config = {.d_model = 10, .num_heads = 3, .head_dim = 16}, .tokens = counted(2)};
  EXPECT_EQ(ask(request)->attention(Stack::self, 0).scale, 0.25f) << "of the head's own width";
  const auto model = reference::given_model(Matrix::Ones(2, 6), Matrix::Ones(3, 6), Matrix::Ones(3, 6), 2);
  model->blocks[0].self.query.weight = model->blocks[0].self.key.weight = Matrix::Ones(32, 6);
  EXPECT_EQ(ask(reference::request_for(model))->attention(Stack::self, 0).scale, 0.25f);
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
    const auto result = forward(
        {.config = {.d_model = 2 * heads, .num_heads = heads, .num_layers = layers, .ffn = 0}, .tokens = counted(30)},
        progress);
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
  EXPECT_EQ(line(kFloatInfinity), "scale: expected a finite number, found inf");
  EXPECT_EQ(line(-kFloatInfinity), "scale: expected a finite number, found -inf");
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

TEST(Forward, RefusesLogitsThatOverflow) {
  auto model = std::make_shared<Model>(*random_model({.norm = Norm::pre}));
  Linear words;
  words.weight = Matrix::Constant(9, model->config.d_model, 3e38f);
  model->output = OutputWeights{.weight = std::make_shared<const Linear>(words)};
  model->final_norm->shift = Vector::Ones(model->config.d_model);
  Request request = reference::request_for(model);
  request.tokens = counted(5);
  EXPECT_EQ(refusal(request), "attention: logits: expected finite numbers, found an overflow");
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
  EXPECT_EQ(messages_of(trace->warnings),
            std::vector<std::string>{"mask: query 1 may attend to nothing: its row is zeros"});
  for (Index head = 0; head < 4; ++head) {
    EXPECT_TRUE((pattern(*trace, {1, head}).row(1).array() == 0.0f).all());
    EXPECT_NEAR(pattern(*trace, {1, head}).row(2).sum(), 1.0f, 1e-6f);
  }
  EXPECT_TRUE((trace->blocks[0].self.z.row(1).array() == 0.0f).all());
  EXPECT_TRUE(trace->last_hidden_state().allFinite());
}

TEST(Forward, ASentenceThatIsAllPaddingIsZerosAndAWarning) {
  const auto trace = ask({.tokens = with_padding_marked(counted(200), 200)});
  ASSERT_TRUE(trace);
  EXPECT_EQ(messages_of(trace->warnings),
            std::vector<std::string>{"mask: 200 queries may attend to nothing (the first is 0): their rows are zeros"});
  EXPECT_TRUE((pattern(*trace, {0, 0}).array() == 0.0f).all());
  EXPECT_TRUE((trace->blocks[1].self.heads[3].thumbnail.array() == -1.0f).all());
}

TEST(Forward, AnOrdinarySentenceHasNoWarnings) {
  EXPECT_TRUE(ask({.tokens = counted(10), .mask = {.causal = true}})->warnings.empty());
}

}  // namespace
}  // namespace headlight
