#include <gtest/gtest.h>

#include <algorithm>

#include "drawn.h"
#include "float_infinity.h"
#include "math/embedding.h"
#include "reference.h"

// Encoder, decoder and encoder-decoder, each with everything that its settings can express.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::counted_words;
using reference::draw;
using reference::drawn_request;
using reference::pattern;
using reference::random_matrix;
using reference::refusal;
using reference::same_answer;
using reference::sentence;

Request two_sided(Index source, Index target, Config config = {.d_model = 16, .num_heads = 4, .ffn = 24}) {
  config.arch = Arch::encoder_decoder;
  return {.config = config, .tokens = counted(source), .target = counted(target), .mask = {.causal = true}};
}

// ---- against the formulas written out

class Formulas : public testing::TestWithParam<Arch> {};

TEST_P(Formulas, AgreeInSettingsDrawnAtRandom) {
  Random random(60 + static_cast<std::uint64_t>(GetParam()));
  reference::Apart largest;
  for (int round = 0; round < 130;) {
    const Request request = drawn_request(random, {.least_width = 4, .longest = 80});
    if (request.config.arch != GetParam()) continue;
    SCOPED_TRACE(++round);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    const auto apart = reference::compare(*trace);
    ASSERT_LE(apart.weights, 2e-5);
    ASSERT_LE(apart.states, 1e-4);
    ASSERT_LE(apart.logits, 1e-4);
    largest.weights = std::max(largest.weights, apart.weights);
    largest.states = std::max(largest.states, apart.states);
    largest.logits = std::max(largest.logits, apart.logits);
  }
  RecordProperty("weights_apart", std::to_string(largest.weights * 1e6) + "e-6");
  RecordProperty("states_apart", std::to_string(largest.states * 1e6) + "e-6");
  RecordProperty("logits_apart", std::to_string(largest.logits * 1e6) + "e-6");
}

INSTANTIATE_TEST_SUITE_P(Architecture, Formulas, testing::Values(Arch::encoder, Arch::decoder, Arch::encoder_decoder),
                         [](const auto& tested) { return "arch" + std::to_string(static_cast<int>(tested.param)); });

// ---- encoder-decoder

TEST(EncoderDecoder, HasThreeAttentionsOfTheirOwnShapes) {
  Request request = two_sided(5, 3);
  request.config.encoder_layers = 1;
  request.config.num_layers = 3;
  const auto trace = ask(request);
  ASSERT_TRUE(trace && trace->encoder);
  EXPECT_EQ(trace->num_layers(Stack::encoder), 1);
  EXPECT_EQ(trace->num_layers(Stack::self), 3);
  EXPECT_EQ(trace->num_layers(Stack::cross), 3);
  for (const auto& [stack, queries, keys] :
       {std::tuple{Stack::encoder, 5, 5}, {Stack::self, 3, 3}, {Stack::cross, 3, 5}}) {
    EXPECT_TRUE(trace->has(stack));
    EXPECT_EQ(trace->queries(stack), queries);
    EXPECT_EQ(trace->keys(stack), keys);
    const Matrix weights = pattern(*trace, {0, 1, stack});
    EXPECT_EQ(weights.rows(), queries);
    EXPECT_EQ(weights.cols(), keys);
  }
  EXPECT_EQ(trace->query_tokens(Stack::cross), request.target);
  EXPECT_EQ(trace->key_tokens(Stack::cross), request.tokens);
  EXPECT_EQ(trace->answering, 2);
}

TEST(EncoderDecoder, OneStackHasNoOther) {
  for (const Arch arch : {Arch::encoder, Arch::decoder}) {
    const auto trace = ask({.config = {.arch = arch}, .tokens = counted(4), .target = counted(2)});
    ASSERT_TRUE(trace);
    EXPECT_FALSE(trace->encoder);
    EXPECT_FALSE(trace->has(Stack::encoder) || trace->has(Stack::cross));
    EXPECT_FALSE(trace->blocks[0].cross);
    EXPECT_EQ(trace->queries(), 4);
  }
}

TEST(EncoderDecoder, EachMaskActsInItsOwnAttention) {
  const Request plain = two_sided(6, 6);
  const auto before = ask(plain);
  ASSERT_TRUE(before);
  for (const Stack stack : kStacks) {
    Request request = plain;
    MaskSpec& mask = stack == Stack::encoder ? request.encoder_mask
                     : stack == Stack::cross ? request.cross_mask
                                             : request.mask;
    mask.painted = {{5, 2, false}};
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    for (const Stack other : kStacks)
      EXPECT_EQ(pattern(*trace, {0, 0, other})(5, 2) == 0.0f, other == stack) << static_cast<int>(other);
    EXPECT_FALSE(same(trace->last_hidden_state(), before->last_hidden_state()));
  }
}

TEST(EncoderDecoder, PaddingOfTheSourceIsNotAttendedToByEitherSide) {
  Request request = two_sided(6, 4);
  request.tokens = with_padding_marked(request.tokens, 2);
  const auto trace = ask(request);
  request.tokens.tokens[5].text = "another";
  const auto other = ask(request);
  ASSERT_TRUE(trace && other);
  for (const Stack stack : {Stack::encoder, Stack::cross})
    EXPECT_EQ(pattern(*trace, {1, 2, stack}).rightCols(2).cwiseAbs().maxCoeff(), 0.0f);
  EXPECT_TRUE(same(trace->last_hidden_state(), other->last_hidden_state())) << "what padding says does not matter";
}

TEST(EncoderDecoder, LendsTheEncoderWhereOnlyTheTargetChanged) {
  Random random(71);
  for (int round = 0; round < 60;) {
    Request request = drawn_request(random);
    if (request.config.arch != Arch::encoder_decoder) continue;
    SCOPED_TRACE(++round);
    request.mask.given = request.cross_mask.given = nullptr;
    std::erase_if(request.edits.layers, [](const LayerEdit& edit) { return edit.mask.has_value(); });
    const auto earlier = ask(request);
    ASSERT_TRUE(earlier);
    Request next = request;
    next.target.tokens.push_back(next.target.tokens.front());
    next.mask.painted = {{0, 0, true}};
    set_weight(next.edits, {0, 0, Stack::cross}, {0, 0}, 0.5f);
    const auto alone = ask(next), lent = ask(next, earlier.get(), 3);
    ASSERT_TRUE(alone && lent);
    EXPECT_EQ(lent->encoder, earlier->encoder);
    EXPECT_NE(alone->encoder, earlier->encoder);
    ASSERT_TRUE(same_answer(*alone, *lent));
  }
}

TEST(EncoderDecoder, DoesNotLendAnEncoderThatWouldBeAnother) {
  const Request request = two_sided(6, 4);
  const auto earlier = ask(request);
  ASSERT_TRUE(earlier);
  std::vector<Request> others(8, request);
  others[0].tokens.tokens[0].text = "another";
  others[1].encoder_mask.causal = true;
  others[2].edits.scale = 0.3f;
  others[3].edits.dropout = 0.5f;
  switch_off(others[4].edits, {0, 1, Stack::encoder}, true);
  set_weight(others[5].edits, {1, 0, Stack::encoder}, {2, 2}, 1.0f);
  set_layer_edit(others[6].edits, {.stack = Stack::encoder, .layer = 0, .scale = 0.3f});
  others[7].config.seed = 1;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto alone = ask(others[i]), after = ask(others[i], earlier.get());
    ASSERT_TRUE(alone && after);
    EXPECT_NE(after->encoder, earlier->encoder) << i;
    EXPECT_FALSE(same(after->encoder->last_hidden_state(), earlier->encoder->last_hidden_state())) << i;
    EXPECT_TRUE(same_answer(*alone, *after)) << i;
  }
}

TEST(EncoderDecoder, TheEncoderIsTheEncoderOfItsOwn) {
  const Request both = two_sided(7, 3);
  Request alone{.config = both.config, .tokens = both.tokens};
  alone.config.arch = Arch::encoder;
  const auto a = ask(both), b = ask(alone);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(reference::same_stack(*a->encoder, *b)) << "weights have a stream of their own, whatever is beside them";
}

// ---- what is refused and warned of, by side, stack and layer

TEST(EncoderDecoder, RefusesASideWithoutTokens) {
  EXPECT_EQ(refusal(two_sided(3, 0)), "target: tokens: expected at least one, found none");
  EXPECT_EQ(refusal(two_sided(0, 3)), "text: tokens: expected at least one, found none");
  EXPECT_EQ(refusal(two_sided(0, 0)), "text: tokens: expected at least one, found none");
}

TEST(EncoderDecoder, RefusesAMaskOfAnotherShapeByItsName) {
  const auto given = std::make_shared<const Matrix>(Matrix::Zero(3, 2));
  Request request = two_sided(5, 3);
  request.cross_mask.given = given;
  EXPECT_EQ(refusal(request), "cross mask: shape (queries, keys): expected (3, 5), found (3, 2)");
  request.encoder_mask.given = given;
  EXPECT_EQ(refusal(request), "encoder mask: shape (queries, keys): expected (5, 5), found (3, 2)");
  request = two_sided(5, 3);
  request.mask.given = given;
  EXPECT_EQ(refusal(request), "mask: shape (queries, keys): expected (3, 3), found (3, 2)");
  request = two_sided(5, 3);
  set_layer_edit(request.edits, {.stack = Stack::cross, .layer = 1, .mask = MaskSpec{.given = given}});
  EXPECT_EQ(refusal(request), "cross mask of layer 1: shape (queries, keys): expected (3, 5), found (3, 2)");
}

TEST(EncoderDecoder, WarnsOfEmptyRowsOnceForEachMask) {
  Request request = two_sided(4, 3);
  request.config.num_layers = 4;
  request.encoder_mask.painted = {{2, 0, false}, {2, 1, false}, {2, 2, false}, {2, 3, false}};
  const MaskSpec closed{.given = std::make_shared<const Matrix>(Matrix::Constant(1, 1, -kFloatInfinity))};
  request.mask.painted = {{0, 0, false}};
  set_layer_edit(request.edits, {.layer = 1, .scale = 1.0f});
  set_layer_edit(request.edits, {.layer = 2, .mask = closed});
  set_layer_edit(request.edits, {.stack = Stack::cross, .layer = 0, .mask = closed});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_EQ(messages_of(trace->warnings),
            (std::vector<std::string>{
                "encoder mask: query 2 may attend to nothing: its row is zeros",
                "mask: query 0 may attend to nothing: its row is zeros",
                "mask of layer 2: 3 queries may attend to nothing (the first is 0): their rows are zeros",
                "cross mask of layer 0: 3 queries may attend to nothing (the first is 0): their rows are zeros"}));
}

TEST(EncoderDecoder, AnOverflowIsNamedByItsStack) {
  auto model = std::make_shared<Model>(*random_model(two_sided(1, 1).config));
  Request request = two_sided(4, 3);
  const auto line = [&](Matrix& weight) {
    const Matrix kept = weight;
    weight.setConstant(3e38f);
    request.model = model;
    const std::string result = refusal(request);
    weight = kept;
    return result;
  };
  EXPECT_EQ(line(model->encoder->blocks[1].self.value.weight),
            "attention: encoder layer 1 values: expected finite numbers, found an overflow");
  EXPECT_EQ(line(model->blocks[0].self.key.weight),
            "attention: decoder layer 0 keys: expected finite numbers, found an overflow");
  EXPECT_EQ(line(model->blocks[1].cross->query.weight),
            "attention: decoder layer 1 cross queries: expected finite numbers, found an overflow");
  EXPECT_EQ(line(model->blocks[1].up.weight),
            "attention: decoder layer 1 output: expected finite numbers, found an overflow");
}

// ---- tables of vectors

std::shared_ptr<Model> model_with_tables(Arch arch) {
  const Config config{.arch = arch, .d_model = 8, .num_heads = 2, .ffn = 0, .position = Position::learned};
  auto model = std::make_shared<Model>(*random_model(config));
  Random random(72);
  for (StackWeights* stack : {static_cast<StackWeights*>(&*model), model->encoder ? &*model->encoder : nullptr}) {
    if (!stack) continue;
    stack->embeddings.tokens = table_of(random_matrix(random, 10, 8));
    stack->embeddings.token_types = random_matrix(random, 2, 8);
    stack->embeddings.positions = random_matrix(random, 8, 8);
    stack->embeddings.first_position = 2;
  }
  return model;
}

Request numbered(const std::shared_ptr<const Model>& model, Index source, Index target) {
  Request request = reference::request_for(model);
  request.tokens = counted(source);
  request.target = counted(target);
  for (Tokens* tokens : {&request.tokens, &request.target})
    for (std::size_t i = 0; i < tokens->size(); ++i) tokens->tokens[i].id = static_cast<std::int64_t>(i);
  return request;
}

TEST(Embeddings, AreTheSumOfTokenPlaceAndType) {
  const auto model = model_with_tables(Arch::encoder);
  model->embeddings.scale = 3.0f;
  Request request = numbered(model, 4, 0);
  request.tokens.tokens[2].type = 1;
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const Embeddings& tables = model->embeddings;
  for (Index t = 0; t < 4; ++t) {
    const Vector expected = Vector(tables.tokens->weight.row(t)) * 3.0f + Vector(tables.positions.row(t + 2)) +
                            Vector(tables.token_types.row(t == 2 ? 1 : 0));
    EXPECT_LE((trace->embedding.row(t) - expected).cwiseAbs().maxCoeff(), 1e-6f) << t;
  }
  EXPECT_EQ(position_vectors(*model, *model, request.tokens).rows(), 4);
  model->embeddings.token_types = {};
  EXPECT_EQ(type_vectors(*model, request.tokens).size(), 0);
}

TEST(Embeddings, RefuseWhatTheTablesDoNotHold) {
  Request request = numbered(model_with_tables(Arch::encoder), 4, 0);
  const auto line = [&](std::int64_t id, int type) {
    request.tokens.tokens[3].id = id;
    request.tokens.tokens[3].type = type;
    return refusal(request);
  };
  EXPECT_EQ(line(9, 1), "");
  EXPECT_EQ(line(10, 0), "token 3: id: expected 0 to 9, found 10");
  EXPECT_EQ(line(-1, 0), "token 3: id: expected 0 to 9, found -1");
  EXPECT_EQ(line(3, 2), "token 3: type: expected 0 to 1, found 2");
  EXPECT_EQ(refusal(numbered(request.model, 6, 0)), "");
  EXPECT_EQ(refusal(numbered(request.model, 7, 0)),
            "text: tokens: expected at most 6, the positions that the model knows, found 7");
}

TEST(Embeddings, RefuseByTheSideThatIsWrong) {
  const auto model = model_with_tables(Arch::encoder_decoder);
  EXPECT_EQ(refusal(numbered(model, 6, 6)), "");
  EXPECT_EQ(refusal(numbered(model, 3, 7)),
            "target: tokens: expected at most 6, the positions that the model knows, found 7");
  EXPECT_EQ(refusal(numbered(model, 7, 7)),
            "text: tokens: expected at most 6, the positions that the model knows, found 7");
  Request request = numbered(model, 3, 3);
  request.target.tokens[1].id = 99;
  EXPECT_EQ(refusal(request), "target token 1: id: expected 0 to 9, found 99");
  request.tokens.tokens[0].type = 5;
  EXPECT_EQ(refusal(request), "token 0: type: expected 0 to 1, found 5");
}

// ---- grouped heads

TEST(GroupedHeads, OfOneGroupAreHeadsWhoseKeysAndValuesAreTheSame) {
  const Config grouped{.d_model = 12, .num_heads = 6, .num_kv_heads = 2, .num_layers = 1, .ffn = 0};
  const auto model = random_model(grouped);
  auto spread = std::make_shared<Model>(*model);
  AttentionWeights& self = spread->blocks[0].self;
  for (Linear* linear : {&self.key, &self.value}) {
    const Linear narrow = *linear;
    linear->weight.resize(12, 12);
    linear->bias.resize(12);
    for (Index head = 0; head < 6; ++head) {
      linear->weight.middleRows(head * 2, 2) = narrow.weight.middleRows(head / 3 * 2, 2);
      linear->bias.segment(head * 2, 2) = narrow.bias.segment(head / 3 * 2, 2);
    }
  }
  self.num_kv_heads = spread->config.num_kv_heads = 6;
  Request request = reference::request_for(model), wide = reference::request_for(spread);
  request.tokens = wide.tokens = counted(9);
  const auto a = ask(request), b = ask(wide);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->blocks[0].self.key.cols(), 4);
  for (Index head = 0; head < 6; ++head)
    EXPECT_LE((pattern(*a, {0, head}) - pattern(*b, {0, head})).cwiseAbs().maxCoeff(), 1e-6f) << head;
  EXPECT_LE((a->last_hidden_state() - b->last_hidden_state()).cwiseAbs().maxCoeff(), 1e-5f);
}

}  // namespace
}  // namespace headlight
