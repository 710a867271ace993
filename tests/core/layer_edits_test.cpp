// Changes of a single layer: its scale, its mask, and the parts of a block that are off.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
using reference::random_matrix;
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

// ---- masks of heads

/// Of three heads over eight tokens: numbers, and below them a table of distances of the head, blocked beyond head + 2.
MaskSpec mask_of_heads() {
  Random random(5);
  Matrix given = random_matrix(random, 3 * 8, 8);
  for (Index i = 0; i < given.rows(); ++i)
    for (Index j = 0; j < given.cols(); ++j)
      if (std::abs(i % 8 - j) > i / 8 + 2) given(i, j) = -std::numeric_limits<float>::infinity();
  return {
      .given = std::make_shared<const Matrix>(std::move(given)), .heads = 3, .painted = {{2, 2, false}, {7, 0, true}}};
}

TEST(MasksOfHeads, EachHeadAttendsUnderItsOwn) {
  Request request{.config = kThreeLayers, .tokens = counted(8), .mask = mask_of_heads()};
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->mask().kind(), "heads");
  EXPECT_TRUE(trace->warnings.empty());
  for (Index head = 0; head < 3; ++head) {
    Request alone = request;
    alone.mask.given = std::make_shared<const Matrix>(given_of_head(request.mask, head));
    alone.mask.heads = 1;
    const auto one = ask(alone);
    ASSERT_TRUE(one);
    const Matrix weights = pattern(*trace, {0, head});
    EXPECT_TRUE(same(weights, pattern(*one, {0, head}))) << head;
    EXPECT_TRUE(same(trace->head({0, head}).thumbnail, one->head({0, head}).thumbnail)) << head;
    EXPECT_TRUE(same(region_weights(*trace, {{0, head}, 1, 6, 0, 8}, 4, false),
                     region_weights(*one, {{0, head}, 1, 6, 0, 8}, 4, false)));
    EXPECT_EQ(weights(0, 4) == 0.0f, head < 2) << head;
    EXPECT_GT(weights(7, 0), 0.0f) << "painted in every head";
    EXPECT_EQ(weights(2, 2), 0.0f);
    const MatrixId id = matrix_id(Quantity::head_mask, {1, head});
    ASSERT_TRUE(exists(*trace, id));
    EXPECT_EQ(path(*trace, id), "encoder.1.self." + std::to_string(head) + ".mask");
    EXPECT_EQ(whole(*trace, id)(3, 4), given_of_head(request.mask, head)(3, 4));
  }
  EXPECT_FALSE(exists(*trace, matrix_id(Quantity::mask)));
}

TEST(MasksOfHeads, AreAsManyAsHeadsAndTellEmptyRows) {
  Request request{.config = kThreeLayers, .tokens = counted(8)};
  set_layer_edit(request.edits, {.layer = 1, .mask = mask_of_heads()});
  request.config.num_heads = 2;
  EXPECT_EQ(refusal(request), "mask of layer 1: masks: expected 2, one a head, found 3");
  request.config.num_heads = 3;
  MaskSpec empty = mask_of_heads();
  Matrix given = *empty.given;
  given.row(2 * 8 + 4).setConstant(-std::numeric_limits<float>::infinity());
  empty.given = std::make_shared<const Matrix>(std::move(given));
  set_layer_edit(request.edits, {.layer = 1, .mask = empty});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->warnings.size(), 1u);
  EXPECT_EQ(trace->warnings[0].message(), "mask of layer 1: head 2: query 4 may attend to nothing: its row is zeros");
  EXPECT_TRUE(pattern(*trace, {1, 2}).row(4).isZero(0));
  EXPECT_FALSE(pattern(*trace, {1, 1}).row(4).isZero(0));
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
