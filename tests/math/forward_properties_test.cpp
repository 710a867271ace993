#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/drawn.h"

// What holds in every setting: settings are drawn from a fixed seed, so that a failure can be repeated.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::Drawn;
using reference::drawn_request;
using reference::for_each_attention;
using reference::for_each_head;
using reference::pattern;
using reference::same_answer;
using reference::sentence;

constexpr Drawn kAnything{.steepest = 1e6f};

/// Rows of a head without dropout and without weights set by hand.
void expect_rows_and_masked_cells(const Trace& trace, const HeadRef& head) {
  const Matrix weights = softmax_of_rows(trace, head, 0, trace.queries(head.stack)), edited = pattern(trace, head);
  ASSERT_TRUE(weights.allFinite() && edited.allFinite());
  ASSERT_GE(weights.minCoeff(), 0.0f);
  ASSERT_GE(edited.minCoeff(), 0.0f);
  const Mask& mask = trace.mask_of(head);
  const Edits& edits = trace.request.edits;
  for (Index query = 0; query < weights.rows(); ++query) {
    bool any = false, by_hand = false;
    double sum = 0;
    for (Index key = 0; key < weights.cols(); ++key) {
      const WeightEdit* own = edited_weight(edits, head, {query, key});
      by_hand = by_hand || own;
      any = any || mask.allowed(query, key);
      ASSERT_TRUE(mask.allowed(query, key) || weights(query, key) == 0.0f);
      ASSERT_TRUE(own || weights(query, key) > 0.0f || edited(query, key) == 0.0f);
      ASSERT_TRUE(!own || edited(query, key) == own->weight);
      sum += static_cast<double>(weights(query, key));
    }
    ASSERT_NEAR(sum, any ? 1.0 : 0.0, any ? 1e-6 : 0.0);
    ASSERT_TRUE(by_hand || edits.dropout > 0.0f || same(weights.row(query), edited.row(query)));
  }
}

TEST(ForwardProperties, RowsSumToOneAndMaskedWeightsAreZeroInAnySetting) {
  Random random(41);
  for (int round = 0; round < 250; ++round) {
    const auto trace = ask(drawn_request(random, kAnything));
    ASSERT_TRUE(trace);
    SCOPED_TRACE(round);
    for_each_head(*trace, [&](const HeadRef& head) { expect_rows_and_masked_cells(*trace, head); });
    if (HasFatalFailure()) return;
    ASSERT_TRUE(trace->last_hidden_state().allFinite() && trace->logits.allFinite());
    for_each_attention(*trace,
                       [&](Stack stack, Index layer) { EXPECT_TRUE(trace->attention(stack, layer).z.allFinite()); });
    for (const auto& block : trace->blocks) ASSERT_TRUE(block.output.allFinite());
  }
}

TEST(ForwardProperties, IsTheSameToTheBitForAnyThreadsAndAnyPrevious) {
  Random random(42);
  std::shared_ptr<const Trace> earlier;
  for (int round = 0; round < 150; ++round) {
    const Request request = drawn_request(random, kAnything);
    const auto trace = ask(request, nullptr, 1);
    ASSERT_TRUE(trace);
    for (const int threads : {2, 3, 7}) ASSERT_TRUE(same_answer(*trace, *ask(request, nullptr, threads))) << round;
    ASSERT_TRUE(same_answer(*trace, *ask(request, nullptr, 1))) << round << ": asked twice";
    ASSERT_TRUE(same_answer(*trace, *ask(request, earlier.get(), 2))) << round << ": another answer before it";
    ASSERT_TRUE(same_answer(*trace, *ask(request, trace.get(), 3))) << round << ": its own answer before it";
    earlier = trace;
  }
}

TEST(ForwardProperties, IsTheSameToTheBitForAnyThreadsWhereHeadsAreWorthThem) {
  Request request{.config = {.arch = Arch::encoder_decoder, .d_model = 128, .num_heads = 4, .num_layers = 1, .ffn = 0},
                  .tokens = counted(400),
                  .target = counted(350)};
  request.edits.dropout = 0.25f;
  switch_off(request.edits, {0, 2, Stack::cross}, true);
  request.edits.off_as = OffAs::mean;
  const auto trace = ask(request, nullptr, 1);
  ASSERT_TRUE(trace);
  for (const int threads : {0, 2, 3, 7}) {
    EXPECT_TRUE(same_answer(*trace, *ask(request, nullptr, threads))) << threads;
    EXPECT_TRUE(same_answer(*trace, *ask(request, trace.get(), threads))) << threads;
  }
}

TEST(ForwardProperties, LendsTheModelOfThePreviousAnswerWhereOnlyTheTextChanged) {
  Request request{.tokens = counted(10)};
  const auto trace = ask(request);
  request.tokens = counted(3);
  EXPECT_EQ(ask(request, trace.get())->model, trace->model);
  request.config.seed = 1;
  EXPECT_NE(ask(request, trace.get())->model, trace->model);
}

TEST(ForwardProperties, AnAnswerCarriesItsRequest) {
  Random random(43);
  for (int round = 0; round < 20; ++round) {
    const Request request = drawn_request(random);
    EXPECT_EQ(ask(request)->request, request);
  }
}

TEST(ForwardProperties, TheLargestWeightIsTheLargestOfEveryHead) {
  Random random(46);
  for (int round = 0; round < 30; ++round) {
    const auto trace = ask(drawn_request(random));
    ASSERT_TRUE(trace);
    float largest = 0;
    for_each_head(*trace, [&](const HeadRef& head) { largest = std::max(largest, pattern(*trace, head).maxCoeff()); });
    ASSERT_EQ(trace->largest_weight, largest);
  }
}

/// One stack, no edits, nothing masked.
Request drawn_plain(Random& random, Arch arch) {
  for (;;) {
    Request request = drawn_request(random, {.least_width = 4, .edits = false, .longest = 40});
    if (request.config.arch != arch) continue;
    request.mask = request.encoder_mask = request.cross_mask = {.padding = false};
    return request;
  }
}

TEST(ForwardProperties, PermutingTokensPermutesAnUnmaskedPositionlessMap) {
  Random random(44);
  float apart = 0;
  for (int round = 0; round < 40;) {
    Request request = drawn_plain(random, Arch::encoder);
    if (request.config.position != Position::none) continue;
    ++round;
    std::vector<Index> order(request.tokens.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(draw(random, 0, static_cast<Index>(i)))]);
    Request shuffled = request;
    for (std::size_t i = 0; i < order.size(); ++i)
      shuffled.tokens.tokens[i] = request.tokens.tokens[static_cast<std::size_t>(order[i])];
    const auto a = ask(request), b = ask(shuffled);
    ASSERT_TRUE(a && b);
    for_each_head(*a, [&](const HeadRef& head) {
      const Matrix moved = pattern(*a, head)(order, order);
      apart = std::max(apart, (moved - pattern(*b, head)).cwiseAbs().maxCoeff());
    });
  }
  EXPECT_LE(apart, 1e-5f);
  RecordProperty("apart", std::to_string(apart * 1e6f) + "e-6");
}

TEST(ForwardProperties, ACausalPrefixDoesNotChangeWhenAWordIsAppended) {
  Random random(45);
  float apart = 0;
  for (const Arch arch : {Arch::decoder, Arch::encoder_decoder}) {
    for (int round = 0; round < 40; ++round) {
      Request request = drawn_plain(random, arch);
      request.mask.causal = true;
      Request longer = request;
      auto& tokens = arch == Arch::decoder ? longer.tokens.tokens : longer.target.tokens;
      tokens.push_back(tokens[static_cast<std::size_t>(draw(random, 0, static_cast<Index>(tokens.size()) - 1))]);
      const auto a = ask(request), b = ask(longer, a.get());
      ASSERT_TRUE(a && b);
      for_each_head(*a, [&](const HeadRef& head) {
        const Matrix before = pattern(*a, head), after = pattern(*b, head);
        apart = std::max(apart, (before - after.topLeftCorner(before.rows(), before.cols())).cwiseAbs().maxCoeff());
      });
    }
  }
  EXPECT_LE(apart, 1e-5f);
  RecordProperty("apart", std::to_string(apart * 1e6f) + "e-6");
}

/// Parts of a matrix's rows in another order: part i of the result is part order[i].
Matrix reordered(const Matrix& matrix, const std::vector<Index>& order) {
  Matrix result = matrix;
  const Index rows = matrix.rows() / static_cast<Index>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result.middleRows(static_cast<Index>(i) * rows, rows) = matrix.middleRows(order[i] * rows, rows);
  return result;
}

void reorder(Linear& linear, const std::vector<Index>& order) {
  linear.weight = reordered(linear.weight, order);
  if (linear.bias.size() > 0) linear.bias = reordered(linear.bias.transpose(), order).transpose();
}

/// Groups of heads in reverse order, and so are the heads of each.
std::vector<Index> reversed(Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

TEST(ForwardProperties, PermutedHeadsHavePermutedMapsAndTheSameOutput) {
  Random random(47);
  float apart = 0, states_apart = 0;
  for (int round = 0; round < 60; ++round) {
    const Request request = drawn_plain(random, static_cast<Arch>(round % 3));
    const auto a = ask(request);
    ASSERT_TRUE(a);
    auto model = std::make_shared<Model>(*a->model);
    reference::unpack(*model);
    const auto permute = [](AttentionWeights& weights) {
      reorder(weights.query, reversed(weights.num_heads));
      reorder(weights.key, reversed(weights.num_kv_heads));
      reorder(weights.value, reversed(weights.num_kv_heads));
      weights.output.weight = reordered(weights.output.weight.transpose(), reversed(weights.num_heads)).transpose();
    };
    for (StackWeights* stack : {static_cast<StackWeights*>(&*model), model->encoder ? &*model->encoder : nullptr}) {
      if (!stack) continue;
      for (BlockWeights& block : stack->blocks) {
        permute(block.self);
        if (block.cross) permute(*block.cross);
      }
    }
    Request permuted = request;
    permuted.model = model;
    const auto b = ask(permuted);
    ASSERT_TRUE(b);
    for_each_head(*a, [&](const HeadRef& head) {
      const HeadRef other{head.layer, a->num_heads(head.stack) - 1 - head.head, head.stack};
      apart = std::max(apart, (pattern(*a, head) - pattern(*b, other)).cwiseAbs().maxCoeff());
    });
    const float magnitude = std::max(1.0f, a->last_hidden_state().cwiseAbs().maxCoeff());
    const Matrix difference = a->last_hidden_state() - b->last_hidden_state();
    states_apart = std::max(states_apart, difference.cwiseAbs().maxCoeff() / magnitude);
  }
  EXPECT_LE(apart, 1e-5f);
  EXPECT_LE(states_apart, 1e-4f);
  RecordProperty("apart", std::to_string(apart * 1e6f) + "e-6");
}

TEST(ForwardProperties, RotaryPositionsSeeTheDistanceAlone) {
  Random random(48);
  for (int round = 0; round < 20;) {
    Request request = drawn_plain(random, Arch::encoder);
    if (request.config.position != Position::rotary) continue;
    ++round;
    const Token word = request.tokens.tokens[0];
    request.tokens.tokens.assign(12, word);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    for (Index head = 0; head < trace->num_heads(); ++head) {
      const Matrix scores = score_rows(*trace, {0, head}, 0, 12);
      const float magnitude = std::max(1.0f, scores.cwiseAbs().maxCoeff());
      const Matrix shifted = scores.bottomRightCorner(11, 11) - scores.topLeftCorner(11, 11);
      EXPECT_LE(shifted.cwiseAbs().maxCoeff(), 1e-5f * magnitude);
    }
  }
}

TEST(ForwardProperties, APaddingMaskSwitchedOffHasAVisibleEffect) {
  for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
    Request request{.config = {.arch = arch}, .tokens = padded(counted(5), 9), .target = counted(3)};
    const auto masked = ask(request);
    request.mask.padding = request.encoder_mask.padding = request.cross_mask.padding = false;
    const auto open = ask(request);
    ASSERT_TRUE(masked && open);
    for (const Stack stack : {Stack::self, Stack::encoder, Stack::cross}) {
      if (!masked->has(stack) || masked->keys(stack) != 9) continue;
      EXPECT_EQ(pattern(*masked, {0, 0, stack}).rightCols(4).maxCoeff(), 0.0f);
      EXPECT_GT(pattern(*open, {0, 0, stack}).rightCols(4).minCoeff(), 0.0f);
    }
    EXPECT_GT((masked->last_hidden_state().row(0) - open->last_hidden_state().row(0)).cwiseAbs().maxCoeff(), 0.01f);
  }
}

TEST(ForwardProperties, AMaskedSentenceIsTheSentenceWithoutItsPadding) {
  Random random(49);
  float apart = 0;
  for (int round = 0; round < 40; ++round) {
    Request request = drawn_plain(random, Arch::encoder);
    for (Token& token : request.tokens.tokens) token.pad = false;
    request.mask.padding = true;
    Request longer = request;
    for (int i = 0; i < 4; ++i) longer.tokens.tokens.push_back(request.tokens.tokens[0]);
    longer.tokens = with_padding_marked(longer.tokens, 4);
    const auto a = ask(request), b = ask(longer);
    ASSERT_TRUE(a && b);
    const float magnitude = std::max(1.0f, a->last_hidden_state().cwiseAbs().maxCoeff());
    apart =
        std::max(apart, (a->last_hidden_state() - b->last_hidden_state().topRows(a->queries())).cwiseAbs().maxCoeff() /
                            magnitude);
  }
  EXPECT_LE(apart, 1e-5f);
  RecordProperty("apart", std::to_string(apart * 1e6f) + "e-6");
}

TEST(ForwardProperties, AddingLayersLeavesTheLowerOnesAsTheyWere) {
  for (const Norm norm : {Norm::post, Norm::pre}) {
    Request request{.config = {.num_layers = 2, .norm = norm}, .tokens = counted(10)};
    const auto low = ask(request);
    request.config.num_layers = 5;
    const auto high = ask(request, low.get());
    ASSERT_TRUE(low && high);
    for (Index layer = 0; layer < 2; ++layer) {
      const auto i = static_cast<std::size_t>(layer);
      EXPECT_TRUE(same(low->blocks[i].output, high->blocks[i].output));
      for (Index head = 0; head < 4; ++head)
        EXPECT_TRUE(same(pattern(*low, {layer, head}), pattern(*high, {layer, head})));
    }
  }
}

TEST(ForwardProperties, TheSameWordHasTheSameEmbeddingWhateverIsAroundIt) {
  const Config config{.position = Position::none};
  const auto a =
      ask({.config = config, .tokens = sentence({"我", "请", "李雷", "订了", "去", "北京", "的", "机票", "去"})});
  const auto b = ask({.config = config, .tokens = sentence({"明天", "去", "上海"})});
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(same(a->embedding.row(4), a->embedding.row(8)));
  EXPECT_TRUE(same(a->embedding.row(4), b->embedding.row(1)));
  EXPECT_FALSE(same(a->embedding.row(4), b->embedding.row(2)));
}

}  // namespace
}  // namespace headlight
