// Changes of a single layer: its scale, its mask, and the parts of a block that are off.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "drawn.h"
#include "explain/matrices.h"
#include "model/edits.h"
#include "model/request.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::pattern;
using reference::refusal;

const Config kThreeLayers{.d_model = 12, .num_heads = 3, .num_layers = 3, .ffn = 16};

// ---- one layer

TEST(LayerEdits, OfScaleActInThatLayer) {
  Request request{.config = kThreeLayers, .tokens = counted(8)};
  request.edits.scale = 0.75f;
  const auto before = ask(request);
  set_layer_edit(request.edits, {.layer = 1, .scale = 3.0f});
  const auto after = ask(request);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->blocks[0].self.scale, 0.75f);
  EXPECT_EQ(after->blocks[1].self.scale, 3.0f);
  EXPECT_EQ(after->blocks[2].self.scale, 0.75f);
  EXPECT_TRUE(same(before->blocks[0].output, after->blocks[0].output));
  EXPECT_TRUE(same(before->blocks[1].self.query, after->blocks[1].self.query));
  EXPECT_LE((score_rows(*after, {1, 0}, 0, 8) - 4.0f * score_rows(*before, {1, 0}, 0, 8)).cwiseAbs().maxCoeff(), 1e-5f);
}

TEST(LayerEdits, OfMaskActInThatLayer) {
  Request request{.config = kThreeLayers, .tokens = counted(8), .mask = {.causal = true}};
  set_layer_edit(request.edits, {.layer = 1, .mask = MaskSpec{.painted = {{3, 0, false}}}});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  for (Index layer = 0; layer < 3; ++layer) {
    const Matrix weights = pattern(*trace, {layer, 0});
    EXPECT_EQ(trace->mask(Stack::self, layer).kind(), layer == 1 ? "custom" : "causal");
    EXPECT_EQ(weights(0, 7) == 0.0f, layer != 1) << layer;
    EXPECT_EQ(weights(3, 0) == 0.0f, layer == 1) << layer;
    EXPECT_EQ(trace->head({layer, 0}).thumbnail(3, 0) == -1.0f, layer == 1) << layer;
  }
}

// ---- parts of a block

TEST(PartsOff, AreSwitchedOffAndOnOneByOne) {
  Random random(91);
  Edits edits;
  std::set<std::tuple<Stack, Index, BlockPart>> off;
  for (int step = 0; step < 600; ++step) {
    const auto part = kBlockParts[draw(random, 0, 3)];
    const Stack stack = part == BlockPart::scale ? kStacks[draw(random, 0, 2)] : kStacks[draw(random, 0, 1)];
    const Index layer = draw(random, 0, 2);
    const bool to_off = draw(random, 0, 1) == 1;
    switch_off(edits, stack, layer, part, to_off);
    if (to_off) off.emplace(stack, layer, part);
    else off.erase({stack, layer, part});
    for (const Stack one : kStacks)
      for (const Index at : {0, 1, 2})
        for (const BlockPart any : kBlockParts) {
          const bool of_block = any != BlockPart::scale && one == Stack::cross;
          ASSERT_EQ(is_off(edits, one, at, any), off.contains({of_block ? Stack::self : one, at, any}));
        }
    ASSERT_EQ(edits.layers.empty(), off.empty());
  }
}

/// The textbook without the parts agrees, reused answers are the same bits, and a part that is off matters.
TEST(PartsOff, AgreeWithTheTextbook) {
  Random random(92);
  int switched = 0;
  for (int round = 0; round < 120; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 6});
    const auto before = ask(request);
    reference::draw_parts_off(random, request);
    const auto trace = ask(request), again = ask(request, before.get(), 3);
    ASSERT_TRUE(before && trace && again);
    SCOPED_TRACE(round);
    const reference::Apart apart = reference::compare(*trace);
    ASSERT_LE(apart.weights, 2e-5);
    ASSERT_LE(apart.states, 2e-5);
    ASSERT_LE(apart.logits, 2e-5);
    ASSERT_TRUE(reference::same_answer(*trace, *again));
    switched += !same(before->last_hidden_state(), trace->last_hidden_state());
  }
  EXPECT_GT(switched, 60);
}

TEST(PartsOff, TakeOneTermOfTheBlockAway) {
  for (const Norm norm : {Norm::post, Norm::pre}) {
    Request request{.config = kThreeLayers, .tokens = counted(5)};
    request.config.norm = norm;
    switch_off(request.edits, Stack::self, 1, BlockPart::norm, true);
    const auto unnormed = ask(request);
    switch_off(request.edits, Stack::self, 1, BlockPart::ffn, true);
    const auto attention = ask(request);
    switch_off(request.edits, Stack::self, 1, BlockPart::residual, true);
    const auto alone = ask(request);
    ASSERT_TRUE(unnormed && attention && alone);
    const Matrix made = whole(*alone, matrix_id(Quantity::attention_output, {1, 0}));
    EXPECT_TRUE(same(alone->blocks[1].output, made));
    EXPECT_TRUE(same(attention->blocks[1].output, attention->blocks[0].output + made));
    const Matrix ffn = whole(*unnormed, matrix_id(Quantity::ffn_output, {1, 0}));
    EXPECT_TRUE(same(unnormed->blocks[1].output, attention->blocks[1].output + ffn));
    switch_off(request.edits, Stack::self, 1, BlockPart::scale, true);
    const auto unscaled = ask(request);
    ASSERT_TRUE(unscaled);
    EXPECT_EQ(unscaled->blocks[1].self.scale, 1.0f);
    EXPECT_NE(unscaled->blocks[2].self.scale, 1.0f);
  }
}

TEST(PartsOff, ThatTheModelDoesNotHaveAreRefused) {
  const auto line = [](Config config, Stack stack, Index layer, PartsOff parts) {
    Request request{.config = config, .tokens = counted(3), .target = counted(2)};
    request.edits.layers = {{.stack = stack, .layer = layer, .parts = parts}};
    return refusal(request);
  };
  Config bare = kThreeLayers;
  bare.ffn = 0;
  EXPECT_EQ(line(bare, Stack::self, 1, {.ffn = true}),
            "off: ffn:1: expected a part that the model has, found none in this layer");
  EXPECT_EQ(line(bare, Stack::self, 1, {.residual = true, .norm = true}), "");
  EXPECT_EQ(line(kThreeLayers, Stack::self, 3, {.residual = true}),
            "off: residual:3: expected a part that the model has, found none in this layer");
  EXPECT_EQ(line(kThreeLayers, Stack::encoder, 0, {.norm = true}),
            "off: encoder:norm:0: expected a part that the model has, found none in this layer");
  const auto model = reference::given_model(Matrix::Ones(3, 4), Matrix::Ones(3, 4), Matrix::Ones(3, 4), 2);
  Request request = reference::request_for(model);
  request.edits.layers = {{.parts = {.residual = true}}};
  EXPECT_NE(refusal(request), "");
  EXPECT_TRUE(has_part(*model, Stack::self, 0, BlockPart::scale));
}

}  // namespace
}  // namespace headlight
