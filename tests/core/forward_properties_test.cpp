#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "math/attention.h"
#include "math/forward.h"
#include "reference.h"

// What holds in every setting: settings are drawn from a fixed seed, so that a failure comes back.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::sentence;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Matrix pattern(const Trace& trace, Index layer, Index head) {
  return attention_rows(trace, layer, head, 0, trace.queries());
}

MaskSpec drawn_mask(Random& random, Index tokens) {
  MaskSpec mask{.causal = draw(random, 0, 1) == 1, .padding = draw(random, 0, 3) > 0};
  if (draw(random, 0, 3) == 0) {
    Matrix given(draw(random, 0, 3) ? tokens : 1, tokens);
    for (Index i = 0; i < given.size(); ++i)
      given.data()[i] = draw(random, 0, 2) == 0 ? kMinusInfinity : random.symmetric(2.0f);
    mask.given = std::make_shared<const Matrix>(std::move(given));
  }
  for (Index strokes = draw(random, 0, 8); strokes > 0; --strokes)
    paint(mask.painted, {draw(random, 0, tokens), draw(random, 0, tokens), draw(random, 0, 1) == 1});
  return mask;
}

Request drawn_request(Random& random) {
  Request request;
  Config& config = request.config;
  config.num_heads = draw(random, 1, 8);
  config.d_model = config.num_heads * draw(random, 1, 6);
  config.num_layers = draw(random, 1, 3);
  config.ffn = draw(random, 0, 1) * draw(random, 1, 24);
  config.position = draw(random, 0, 1) ? Position::none : Position::sinusoidal;
  config.norm = draw(random, 0, 1) ? Norm::pre : Norm::post;
  config.activation = draw(random, 0, 1) ? Activation::relu : Activation::gelu;
  config.bias = draw(random, 0, 1) == 1;
  config.seed = random.next();
  const Index tokens = draw(random, 0, 24) == 0 ? draw(random, 100, 300) : draw(random, 1, 40);
  std::vector<std::string> words;
  for (Index i = 0; i < tokens; ++i) words.push_back("w" + std::to_string(draw(random, 0, tokens)));
  request.tokens = with_padding_marked(sentence(words), static_cast<std::size_t>(draw(random, 0, 3)));
  request.mask = drawn_mask(random, tokens);
  if (draw(random, 0, 2) == 0) request.edits.scale = random.symmetric(draw(random, 0, 1) ? 3.0f : 1e6f);
  return request;
}

/// Word for word, the same bits.
bool same_answer(const Trace& a, const Trace& b) {
  if (!same(a.embedding, b.embedding) || !same(a.last_hidden_state, b.last_hidden_state) || a.scale != b.scale ||
      a.largest_weight != b.largest_weight || a.warnings != b.warnings || a.blocks.size() != b.blocks.size())
    return false;
  for (std::size_t layer = 0; layer < a.blocks.size(); ++layer) {
    const BlockTrace &x = a.blocks[layer], &y = b.blocks[layer];
    for (const auto matrix : {&BlockTrace::attention_input, &BlockTrace::after_attention, &BlockTrace::output})
      if (!same(x.*matrix, y.*matrix)) return false;
    for (const auto matrix : {&AttentionTrace::query, &AttentionTrace::key, &AttentionTrace::value, &AttentionTrace::z,
                              &AttentionTrace::output})
      if (!same(x.self.*matrix, y.self.*matrix)) return false;
    for (std::size_t head = 0; head < x.self.heads.size(); ++head)
      if (!same(x.self.heads[head].row_max, y.self.heads[head].row_max) ||
          !same(x.self.heads[head].row_sum, y.self.heads[head].row_sum) ||
          !same(x.self.heads[head].thumbnail, y.self.heads[head].thumbnail))
        return false;
  }
  return true;
}

void expect_rows_and_masked_cells(const Trace& trace) {
  for (Index layer = 0; layer < trace.num_layers(); ++layer) {
    for (Index head = 0; head < trace.num_heads(); ++head) {
      const Matrix weights = pattern(trace, layer, head);
      ASSERT_TRUE(weights.allFinite());
      ASSERT_GE(weights.minCoeff(), 0.0f);
      for (Index query = 0; query < trace.queries(); ++query) {
        bool any = false;
        double sum = 0;
        for (Index key = 0; key < trace.keys(); ++key) {
          if (trace.mask.allowed(query, key)) any = true;
          else ASSERT_EQ(weights(query, key), 0.0f);
          sum += static_cast<double>(weights(query, key));
        }
        ASSERT_NEAR(sum, any ? 1.0 : 0.0, any ? 1e-6 : 0.0);
      }
    }
  }
}

TEST(ForwardProperties, RowsSumToOneAndMaskedWeightsAreZeroInAnySetting) {
  Random random(41);
  for (int round = 0; round < 250; ++round) {
    const auto trace = ask(drawn_request(random));
    ASSERT_TRUE(trace);
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(expect_rows_and_masked_cells(*trace));
    ASSERT_TRUE(trace->last_hidden_state.allFinite());
    for (const auto& block : trace->blocks) ASSERT_TRUE(block.output.allFinite() && block.self.z.allFinite());
  }
}

TEST(ForwardProperties, IsTheSameToTheBitForAnyThreadsAndAnyPrevious) {
  Random random(42);
  std::shared_ptr<const Trace> earlier;
  for (int round = 0; round < 120; ++round) {
    const Request request = drawn_request(random);
    const auto trace = ask(request, nullptr, 1);
    ASSERT_TRUE(trace);
    ASSERT_TRUE(same_answer(*trace, *ask(request, nullptr, 1))) << round << ": asked twice";
    ASSERT_TRUE(same_answer(*trace, *ask(request, earlier.get(), 2))) << round << ": another answer before it";
    ASSERT_TRUE(same_answer(*trace, *ask(request, trace.get(), 3))) << round << ": its own answer before it";
    earlier = trace;
  }
}

TEST(ForwardProperties, IsTheSameToTheBitForAnyThreadsWhereHeadsAreWorthThem) {
  const Request request{.config = {.d_model = 128, .num_heads = 4, .num_layers = 1, .ffn = 0}, .tokens = counted(400)};
  const auto trace = ask(request, nullptr, 1);
  ASSERT_TRUE(trace);
  for (const int threads : {0, 2, 3, 7})
    EXPECT_TRUE(same_answer(*trace, *ask(request, trace.get(), threads))) << threads;
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
    for (Index layer = 0; layer < trace->num_layers(); ++layer)
      for (Index head = 0; head < trace->num_heads(); ++head)
        largest = std::max(largest, pattern(*trace, layer, head).maxCoeff());
    ASSERT_EQ(trace->largest_weight, largest);
  }
}

TEST(ForwardProperties, PermutingTokensPermutesAnUnmaskedPositionlessMap) {
  Random random(44);
  float apart = 0;
  for (int round = 0; round < 40; ++round) {
    Request request = drawn_request(random);
    request.config.position = Position::none;
    request.mask = {.padding = false};
    request.edits = {};
    const auto count = static_cast<Index>(request.tokens.size());
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (Index i = count - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw(random, 0, i))]);
    Request shuffled = request;
    for (std::size_t i = 0; i < order.size(); ++i)
      shuffled.tokens.tokens[i] = request.tokens.tokens[static_cast<std::size_t>(order[i])];
    const auto a = ask(request), b = ask(shuffled);
    ASSERT_TRUE(a && b);
    for (Index layer = 0; layer < a->num_layers(); ++layer)
      for (Index head = 0; head < a->num_heads(); ++head) {
        const Matrix moved = pattern(*a, layer, head)(order, order);
        apart = std::max(apart, (moved - pattern(*b, layer, head)).cwiseAbs().maxCoeff());
      }
  }
  EXPECT_LE(apart, 1e-5f);
  RecordProperty("apart", std::to_string(apart * 1e6f) + "e-6");
}

TEST(ForwardProperties, ACausalPrefixDoesNotChangeWhenAWordIsAppended) {
  Random random(45);
  float apart = 0;
  for (int round = 0; round < 40; ++round) {
    Request request = drawn_request(random);
    request.mask = {.causal = true, .padding = false};
    request.edits = {};
    Request longer = request;
    longer.tokens.tokens.push_back(sentence({"and"}).tokens[0]);
    const auto a = ask(request), b = ask(longer);
    ASSERT_TRUE(a && b);
    const Index count = a->queries();
    for (Index layer = 0; layer < a->num_layers(); ++layer)
      for (Index head = 0; head < a->num_heads(); ++head)
        apart = std::max(apart, (pattern(*a, layer, head) - pattern(*b, layer, head).topLeftCorner(count, count))
                                    .cwiseAbs().maxCoeff());
  }
  EXPECT_LE(apart, 1e-6f);
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
        EXPECT_TRUE(same(pattern(*low, layer, head), pattern(*high, layer, head)));
    }
  }
}

TEST(ForwardProperties, TheSameWordHasTheSameEmbeddingWhateverIsAroundIt) {
  const Config config{.position = Position::none};
  const auto a = ask({.config = config, .tokens = sentence({"我", "请", "李雷", "订了", "去", "北京", "的", "机票", "去"})});
  const auto b = ask({.config = config, .tokens = sentence({"明天", "去", "上海"})});
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(same(a->embedding.row(4), a->embedding.row(8)));
  EXPECT_TRUE(same(a->embedding.row(4), b->embedding.row(1)));
  EXPECT_FALSE(same(a->embedding.row(4), b->embedding.row(2)));
}

}  // namespace
}  // namespace headlight
