#include "model/edits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "drawn.h"
#include "explain/matrices.h"
#include "float_infinity.h"
#include "math/ops.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::pattern;
using reference::refusal;

const Config kSmall{.d_model = 12, .num_heads = 3, .num_layers = 3, .ffn = 16};

// ---- the lists themselves

TEST(Edits, HeadsAreSwitchedOffAndOnInAnyOrder) {
  Random random(80);
  Edits edits;
  std::vector<HeadRef> off;
  for (int step = 0; step < 400; ++step) {
    const HeadRef head{draw(random, 0, 2), draw(random, 0, 2), kStacks[draw(random, 0, 2)]};
    const bool to_off = draw(random, 0, 1) == 1;
    switch_off(edits, head, to_off);
    std::erase(off, head);
    if (to_off) off.push_back(head);
    std::sort(off.begin(), off.end());
    ASSERT_EQ(edits.off, off);
    ASSERT_EQ(is_off(edits, head), to_off);
  }
}

TEST(Edits, WeightsAreSetReplacedAndTakenAway) {
  Edits edits;
  const HeadRef head{1, 2, Stack::cross};
  EXPECT_EQ(edited_weight(edits, head, {3, 4}), nullptr);
  set_weight(edits, head, {3, 4}, 0.25f);
  set_weight(edits, head, {0, 9}, 0.5f);
  set_weight(edits, {1, 2, Stack::self}, {3, 4}, 1.0f);
  set_weight(edits, head, {3, 4}, 0.75f);
  ASSERT_TRUE(edited_weight(edits, head, {3, 4}));
  EXPECT_EQ(edited_weight(edits, head, {3, 4})->weight, 0.75f);
  EXPECT_EQ(edits.weights, (std::vector<WeightEdit>{
                               {{1, 2, Stack::self}, {3, 4}, 1.0f}, {head, {0, 9}, 0.5f}, {head, {3, 4}, 0.75f}}));
  set_weight(edits, head, {3, 4}, {});
  set_weight(edits, head, {3, 4}, {});
  EXPECT_EQ(edited_weight(edits, head, {3, 4}), nullptr);
  EXPECT_EQ(edits.weights.size(), 2u);
}

TEST(Edits, OfALayerAreReplacedAndTakenAway) {
  Edits edits;
  set_layer_edit(edits, {.stack = Stack::cross, .layer = 1, .scale = 2.0f});
  set_layer_edit(edits, {.layer = 3, .mask = MaskSpec{.causal = true}});
  set_layer_edit(edits, {.layer = 0, .scale = 0.5f});
  ASSERT_EQ(edits.layers.size(), 3u);
  EXPECT_EQ(edits.layers[0].layer, 0);
  EXPECT_EQ(edits.layers[1].layer, 3);
  EXPECT_EQ(edits.layers[2].stack, Stack::cross);
  ASSERT_TRUE(layer_edit(edits, Stack::self, 3));
  EXPECT_FALSE(layer_edit(edits, Stack::self, 3)->scale);
  EXPECT_EQ(layer_edit(edits, Stack::encoder, 3), nullptr);
  set_layer_edit(edits, {.layer = 3, .scale = 1.5f});
  EXPECT_FALSE(layer_edit(edits, Stack::self, 3)->mask) << "one edit in place of the other";
  set_layer_edit(edits, {.layer = 3});
  EXPECT_EQ(layer_edit(edits, Stack::self, 3), nullptr);
  EXPECT_EQ(edits.layers.size(), 2u);
}

TEST(Edits, UneditedIsTheSameQuestionWithoutThem) {
  Request request{.tokens = counted(3), .mask = {.causal = true, .painted = {{0, 1, true}}}};
  request.cross_mask.painted = request.encoder_mask.painted = {{0, 0, false}};
  request.edits.dropout = 0.5f;
  switch_off(request.edits, {0, 0}, true);
  EXPECT_EQ(unedited(request), (Request{.tokens = counted(3), .mask = {.causal = true}}));
}

// ---- heads off

TEST(HeadsOff, AsZeroContributeNothing) {
  Request request{.config = kSmall, .tokens = counted(9)};
  const auto before = ask(request);
  switch_off(request.edits, {0, 1}, true);
  const auto after = ask(request);
  ASSERT_TRUE(before && after);
  const AttentionTrace &a = before->blocks[0].self, &b = after->blocks[0].self;
  Matrix z = a.z;
  z.middleCols(4, 4).setZero();
  EXPECT_TRUE(same(b.z, z));
  EXPECT_TRUE(
      same(whole(*after, matrix_id(Quantity::attention_output)), linear(z, after->model->blocks[0].self.output)))
      << "the output without the head's z";
  EXPECT_TRUE(same(pattern(*before, {0, 1}), pattern(*after, {0, 1}))) << "it still shows where it looks";
  EXPECT_FALSE(same(before->blocks[1].self.z, after->blocks[1].self.z));
}

TEST(HeadsOff, AllOfThemLeaveTheBiasOfTheOutput) {
  Request request{.config = kSmall, .tokens = counted(5)};
  for (Index head = 0; head < 3; ++head) switch_off(request.edits, {2, head}, true);
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const Matrix output = whole(*trace, matrix_id(Quantity::attention_output, {2, 0}));
  for (Index t = 0; t < 5; ++t) EXPECT_TRUE(same(output.row(t), trace->model->blocks[2].self.output.bias));
}

TEST(HeadsOff, AsMeanKeepTheMeansOfTheirColumns) {
  for (const Index tokens : {1, 9, 130}) {
    Request request{.config = kSmall, .tokens = counted(tokens)};
    const auto before = ask(request);
    switch_off(request.edits, {0, 2}, true);
    request.edits.off_as = OffAs::mean;
    const auto after = ask(request);
    ASSERT_TRUE(before && after);
    const Matrix &a = before->blocks[0].self.z, &b = after->blocks[0].self.z;
    EXPECT_TRUE(same(a.leftCols(8), b.leftCols(8)));
    for (Index c = 8; c < 12; ++c) {
      EXPECT_NEAR(double(b(0, c)), a.col(c).cast<double>().mean(), 1e-6);
      EXPECT_TRUE((b.col(c).array() == b(0, c)).all()) << "no token differs from another";
    }
  }
}

TEST(HeadsOff, ActInTheirStackAlone) {
  Request request{.config = kSmall, .tokens = counted(5), .target = counted(4)};
  request.config.arch = Arch::encoder_decoder;
  const auto before = ask(request);
  switch_off(request.edits, {0, 1, Stack::cross}, true);
  const auto after = ask(request);
  ASSERT_TRUE(before && after);
  EXPECT_TRUE(same(before->blocks[0].self.z, after->blocks[0].self.z));
  EXPECT_TRUE(same(before->encoder->last_hidden_state(), after->encoder->last_hidden_state()));
  EXPECT_TRUE((after->blocks[0].cross->z.middleCols(4, 4).array() == 0.0f).all());
  EXPECT_FALSE(same(before->last_hidden_state(), after->last_hidden_state()));
}

// ---- weights set by hand

TEST(WeightsByHand, AreExactlyThatAndTheRestKeepsItsProportions) {
  Request request{.config = kSmall, .tokens = counted(80), .mask = {.causal = true}};
  const HeadRef head{1, 2};
  const Matrix before = pattern(*ask(request), head);
  set_weight(request.edits, head, {70, 3}, 0.5f);
  set_weight(request.edits, head, {70, 69}, 0.125f);
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const Matrix after = pattern(*trace, head);
  EXPECT_EQ(after(70, 3), 0.5f);
  EXPECT_EQ(after(70, 69), 0.125f);
  EXPECT_NEAR(after.row(70).cast<double>().sum(), 1.0, 1e-6);
  const double rest = 1.0 - double(before(70, 3)) - double(before(70, 69));
  for (Index key = 0; key < 80; ++key) {
    if (key == 3 || key == 69) continue;
    EXPECT_NEAR(double(after(70, key)), double(before(70, key)) * 0.375 / rest, 1e-7) << key;
  }
  for (Index query = 0; query < 80; ++query) {
    EXPECT_EQ(same(before.row(query), after.row(query)), query != 70) << query;
  }
  EXPECT_TRUE(same(before, softmax_of_rows(*trace, head, 0, 80))) << "the softmax itself is as it was";
  EXPECT_EQ(trace->head(head).thumbnail(70, 3), 0.5f);
  EXPECT_FALSE(same(trace->blocks[1].self.z.row(70), ask(unedited(request))->blocks[1].self.z.row(70)));
}

/// The row of a head after some of its weights were set: key → weight.
Vector row_after(const std::vector<std::pair<Index, float>>& set, MaskSpec mask = {}) {
  Request request{.config = kSmall, .tokens = counted(4), .mask = std::move(mask)};
  for (const auto& [key, weight] : set) set_weight(request.edits, {0, 0}, {2, key}, weight);
  return pattern(*ask(request), {0, 0}).row(2);
}

TEST(WeightsByHand, ThatReachOneLeaveNothing) {
  EXPECT_TRUE(same(row_after({{1, 1.0f}}), Vector{{0, 1, 0, 0}}));
  EXPECT_TRUE(same(row_after({{1, 0.75f}, {3, 0.25f}}), Vector{{0, 0.75f, 0, 0.25f}}));
  EXPECT_TRUE(same(row_after({{1, 0.75f}, {3, 0.75f}}), Vector{{0, 0.75f, 0, 0.75f}}));
}

TEST(WeightsByHand, OfAWholeRowAreTheRow) {
  EXPECT_TRUE(same(row_after({{0, 0.1f}, {1, 0.2f}, {2, 0.0f}, {3, 0.4f}}), Vector{{0.1f, 0.2f, 0, 0.4f}}));
  EXPECT_TRUE(same(row_after({{0, 0}, {1, 0}, {2, 0}, {3, 0}}), Vector{{0, 0, 0, 0}}));
}

TEST(WeightsByHand, OfZeroTakeAKeyAway) {
  const Vector without = row_after({{2, 0.0f}});
  EXPECT_EQ(without(2), 0.0f);
  const Vector masked = row_after({}, {.painted = {{2, 2, false}}});
  EXPECT_LE((without - masked).cwiseAbs().maxCoeff(), 1e-6f) << "as masking it would";
}

TEST(WeightsByHand, MayStandOnBlockedCells) {
  const Vector row = row_after({{3, 0.5f}}, {.causal = true});
  EXPECT_EQ(row(3), 0.5f);
  EXPECT_NEAR(row.head(3).sum(), 0.5f, 1e-6f);
  MaskSpec closed{.given = std::make_shared<const Matrix>(Matrix::Constant(4, 4, -kFloatInfinity))};
  EXPECT_TRUE(same(row_after({{3, 0.5f}}, closed), Vector{{0, 0, 0, 0.5f}})) << "a row that had nothing to share";
}

TEST(WeightsByHand, ThatLeaveTheSmallestOfWeightsMakeItWhole) {
  Matrix key = Matrix::Zero(9, 1);
  key(8, 0) = -86.9f;
  Request request = reference::request_for(reference::given_model(Matrix::Ones(1, 1), key, key, 1));
  EXPECT_LT(pattern(*ask(request), {0, 0})(0, 8), 1e-38f);
  for (Index other = 0; other < 8; ++other) set_weight(request.edits, {0, 0}, {0, other}, 0.0f);
  EXPECT_NEAR(pattern(*ask(request), {0, 0})(0, 8), 1.0f, 1e-6f);
}

TEST(WeightsByHand, OutsideTheSentenceDoNothing) {
  Request request{.config = kSmall, .tokens = counted(4)};
  request.edits.dropout = 0.5f;
  const auto before = ask(request);
  for (const CellRef cell : {CellRef{2, 4}, {4, 0}, {9, 9}}) set_weight(request.edits, {0, 0}, cell, 0.5f);
  set_weight(request.edits, {7, 0}, {0, 0}, 0.5f);
  set_weight(request.edits, {0, 9}, {0, 0}, 0.5f);
  set_weight(request.edits, {0, 0, Stack::cross}, {0, 0}, 0.5f);
  EXPECT_TRUE(reference::same_answer(*before, *ask(request)));
}

TEST(WeightsByHand, ShowInPicturesOfARegion) {
  Request request{.config = kSmall, .tokens = counted(300), .mask = {.causal = true}};
  set_weight(request.edits, {0, 1}, {10, 290}, 1.0f);
  const auto trace = ask(request);
  const std::atomic<bool> stop = false;
  const Region region{.head = {0, 1}, .first_query = 5, .num_queries = 10, .first_key = 285, .num_keys = 10};
  const Matrix picture = region_weights(*trace, region, 64, stop);
  EXPECT_EQ(picture(5, 5), 1.0f);
  EXPECT_EQ((picture.array() == -1.0f).count(), 99) << "blocked around it";
  EXPECT_EQ(trace->largest_weight, 1.0f);
}

// ---- dropout

TEST(Dropout, ZeroesItsShareAndKeepsTheExpectation) {
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    const Edits edits{.dropout = p, .dropout_seed = 3};
    Index zeros = 0;
    double total = 0;
    const Index side = 300;
    for (Index query = 0; query < side; ++query) {
      for (Index key = 0; key < side; ++key) {
        const float factor = dropout_factor(edits, {1, 2, Stack::cross}, query, key);
        ASSERT_TRUE(factor == 0.0f || factor == 1.0f / (1.0f - p));
        zeros += factor == 0.0f;
        total += double(factor);
      }
    }
    const double count = double(side) * double(side), deviation = std::sqrt(double(p) * (1.0 - double(p)) / count);
    EXPECT_NEAR(double(zeros) / count, double(p), 4 * deviation);
    EXPECT_NEAR(total / count, 1.0, 4 * deviation / (1.0 - double(p)));
  }
}

TEST(Dropout, IsAFunctionOfTheSeedAndThePlaceAlone) {
  const Edits edits{.dropout = 0.5f, .dropout_seed = 3}, other{.dropout = 0.5f, .dropout_seed = 4};
  const auto row = [](const Edits& of, const HeadRef& head, Index query) {
    std::vector<float> factors;
    for (Index key = 0; key < 64; ++key) factors.push_back(dropout_factor(of, head, query, key));
    return factors;
  };
  const auto first = row(edits, {0, 0}, 0);
  EXPECT_EQ(first, row(edits, {0, 0}, 0));
  EXPECT_NE(first, row(other, {0, 0}, 0));
  EXPECT_NE(first, row(edits, {1, 0}, 0));
  EXPECT_NE(first, row(edits, {0, 1}, 0));
  EXPECT_NE(first, row(edits, {0, 0, Stack::cross}, 0));
  EXPECT_NE(first, row(edits, {0, 0}, 1));
  EXPECT_EQ(dropout_factor({}, {0, 0}, 0, 0), 1.0f);
}

TEST(Dropout, MultipliesTheWeightsHoweverTheyAreCut) {
  Request request{.config = kSmall, .tokens = counted(150)};
  request.edits.dropout = 0.3f;
  const auto trace = ask(request, nullptr, 1), other = ask(request, nullptr, 7);
  ASSERT_TRUE(trace && other);
  EXPECT_TRUE(reference::same_answer(*trace, *other));
  const HeadRef head{1, 1};
  const Matrix whole = pattern(*trace, head), softmax = softmax_of_rows(*trace, head, 0, 150);
  for (Index i = 0; i < 150; ++i)
    for (Index j = 0; j < 150; ++j)
      ASSERT_EQ(whole(i, j), softmax(i, j) * dropout_factor(request.edits, head, i, j)) << i << ", " << j;
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 1}, {63, 2}, {64, 64}, {100, 50}})
    EXPECT_TRUE(same(attention_rows(*trace, head, first, count), whole.middleRows(first, count)));
}

TEST(Dropout, KeepsTheMeanOfTheWeightsOverManySeeds) {
  Request request{.config = {.d_model = 8, .num_heads = 1, .num_layers = 1, .ffn = 0}, .tokens = counted(6)};
  const Matrix weights = pattern(*ask(request), {0, 0});
  Matrix sum = Matrix::Zero(6, 6);
  request.edits.dropout = 0.4f;
  constexpr int kSeeds = 1500;
  for (request.edits.dropout_seed = 0; request.edits.dropout_seed < kSeeds; ++request.edits.dropout_seed)
    sum += pattern(*ask(request), {0, 0});
  // Four deviations of a mean of 1500 draws of w·{0, 1/0.6}.
  const double deviation = std::sqrt(0.4 / 0.6 / kSeeds);
  for (Index i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(double(sum.data()[i]) / kSeeds, double(weights.data()[i]), 4 * deviation * double(weights.data()[i]));
}

// ---- what no answer can have

TEST(Edits, ThatNoAnswerCanHaveAreRefused) {
  const auto line = [](Edits edits) { return refusal({.tokens = counted(4), .edits = std::move(edits)}); };
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(line({.dropout = 1.0f}), "dropout: expected 0 or more and less than 1, found 1");
  EXPECT_EQ(line({.dropout = -0.25f}), "dropout: expected 0 or more and less than 1, found -0.25");
  EXPECT_EQ(line({.dropout = kNaN}), "dropout: expected 0 or more and less than 1, found nan");
  EXPECT_EQ(line({.dropout = 0.999f}), "");
  EXPECT_EQ(line({.weights = {{{0, 0}, {0, 0}, 1.5f}}}), "weight: expected 0 to 1, found 1.5");
  EXPECT_EQ(line({.weights = {{{0, 0}, {0, 0}, -0.1f}}}), "weight: expected 0 to 1, found -0.1");
  EXPECT_EQ(line({.weights = {{{0, 0}, {0, 0}, kNaN}}}), "weight: expected 0 to 1, found nan");
  EXPECT_EQ(line({.layers = {{.layer = 1, .scale = -kFloatInfinity}}}),
            "scale of layer 1: expected a finite number, found -inf");
  EXPECT_EQ(line({.layers = {{.layer = 0, .scale = 1.0f}, {.layer = 7, .scale = kNaN}}}),
            "scale of layer 7: expected a finite number, found nan");
}

}  // namespace
}  // namespace headlight
