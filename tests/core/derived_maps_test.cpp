// Norm-based maps and rollout, held against the formulas of their papers in doubles.
#include <algorithm>
#include <cmath>

#include "drawn.h"
#include "explain/matrices.h"
#include "heads/head_measures.h"
#include "heads/weight_maps.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::Grid;
using reference::pattern;
using reference::sentence;

using Maps = std::vector<Matrix>;

Maps norms_of(const Trace& trace, Stack stack = Stack::self, int threads = 1) {
  Progress progress;
  const auto maps = norm_maps(trace, stack, progress, threads);
  EXPECT_TRUE(maps);
  return maps.value_or(Maps{});
}

Maps rollout_of(const Trace& trace, Stack stack = Stack::self, int threads = 1) {
  Progress progress;
  const auto maps = rollout_maps(trace, stack, progress, threads);
  EXPECT_TRUE(maps);
  return maps.value_or(Maps{});
}

bool same_maps(const Maps& a, const Maps& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Matrix& x, const Matrix& y) { return same(x, y); });
}

const AttentionWeights& weights_of(const Trace& trace, const HeadRef& head) {
  const StackWeights& stack = head.stack == Stack::encoder ? *trace.model->encoder : *trace.model;
  const BlockWeights& block = stack.blocks[reference::at(head.layer)];
  return head.stack == Stack::cross ? *block.cross : block.self;
}

/// What the values are made of.
Matrix value_input(const Trace& trace, const HeadRef& head) {
  if (head.stack == Stack::cross) return trace.encoder->last_hidden_state();
  return whole(trace, matrix_id(Quantity::attention_input, head));
}

/// The weights by which a head's values reach the output: of a head that is off none, or at every query their mean.
Grid effective(const Trace& trace, const HeadRef& head) {
  Grid weights = reference::grid(pattern(trace, head));
  if (!is_off(trace.request.edits, head)) return weights;
  const Grid mean = weights.colwise().mean();
  for (Index i = 0; i < weights.rows(); ++i)
    weights.row(i) = trace.request.edits.off_as == OffAs::mean ? mean : Grid::Zero(1, mean.cols());
  return weights;
}

/// ‖α_ij (x_j W_V + b_V) W_O‖, number by number.
Grid norms_by_the_formula(const Trace& trace, const HeadRef& head) {
  const AttentionWeights& weights = weights_of(trace, head);
  const Grid values = reference::linear(reference::grid(value_input(trace, head)), reference::layer_of(weights.value));
  const Index d_v = values.cols() / weights.num_kv_heads;
  const Index kv = head.head * weights.num_kv_heads / weights.num_heads;
  const Matrix output = weight_rows(weights.output, 0, weights.output.outputs());
  Grid norms = effective(trace, head);
  for (Index j = 0; j < values.rows(); ++j) {
    double square = 0;
    for (Index out = 0; out < weights.output.outputs(); ++out) {
      double added = 0;
      for (Index c = 0; c < d_v; ++c) added += values(j, kv * d_v + c) * double(output(out, head.head * d_v + c));
      square += added * added;
    }
    norms.col(j) *= std::sqrt(square);
  }
  return norms;
}

TEST(NormMaps, AreTheLengthsOfWhatEachHeadAdds) {
  Random random(81);
  int of_cross = 0, grouped = 0, off = 0;
  for (int round = 0; round < 60; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = kThumbnail}));
    ASSERT_TRUE(trace);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      ASSERT_FALSE(why_no_norms(*trace, stack));
      const Maps maps = norms_of(*trace, stack);
      for (const int threads : {2, 3}) ASSERT_TRUE(same_maps(maps, norms_of(*trace, stack, threads)));
      const std::vector<HeadRef> heads = heads_of(*trace, stack);
      ASSERT_EQ(maps.size(), heads.size());
      for (std::size_t i = 0; i < heads.size(); ++i) {
        EXPECT_LE(reference::difference(maps[i].cwiseMax(0.0f), norms_by_the_formula(*trace, heads[i])), 2e-5) << round;
        const Matrix& thumbnail = trace->head(heads[i]).thumbnail;
        const bool is_off_now = is_off(trace->request.edits, heads[i]);
        if (!is_off_now) {
          EXPECT_TRUE(((maps[i].array() < 0) == (thumbnail.array() < 0)).all()) << round;
          EXPECT_TRUE((thumbnail.array() != 0 || maps[i].array() == 0).all()) << round;
        }
        off += is_off_now;
      }
      of_cross += stack == Stack::cross;
      grouped += trace->request.config.kv_heads() < trace->request.config.num_heads;
    }
  }
  EXPECT_GT(of_cross, 5);
  EXPECT_GT(grouped, 5);
  EXPECT_GT(off, 5);
}

Request of_two_layers(Index tokens, Arch arch = Arch::encoder) {
  Request request{.config = {.arch = arch, .d_model = 12, .num_heads = 3, .num_layers = 2, .ffn = 16}};
  request.tokens = counted(tokens);
  if (arch == Arch::decoder) request.mask.causal = true;
  return request;
}

TEST(NormMaps, TwiceTheValuesAreTwiceAsLong) {
  Request request = of_two_layers(7);
  request.config.num_layers = 1;
  const auto before = ask(request);
  auto model = std::make_shared<Model>(*before->model);
  reference::unpack(*model);
  model->blocks[0].self.value.weight *= 2;
  model->blocks[0].self.value.bias *= 2;
  request.model = model;
  const Maps once = norms_of(*before), twice = norms_of(*ask(request));
  for (std::size_t head = 0; head < once.size(); ++head) EXPECT_TRUE(same(2 * once[head], twice[head]));
}

TEST(NormMaps, HeadsThatChangePlacesChangeTheirMaps) {
  Request request = of_two_layers(6);
  request.config.num_layers = 1;
  const auto before = ask(request);
  auto model = std::make_shared<Model>(*before->model);
  reference::unpack(*model);
  AttentionWeights& weights = model->blocks[0].self;
  const auto swap_rows = [](Linear& linear) {
    linear.weight.topRows(4).swap(linear.weight.bottomRows(4));
    linear.bias.head(4).swap(linear.bias.tail(4));
  };
  for (Linear* linear : {&weights.query, &weights.key, &weights.value}) swap_rows(*linear);
  weights.output.weight.leftCols(4).swap(weights.output.weight.rightCols(4));
  request.model = model;
  const Maps was = norms_of(*before), is = norms_of(*ask(request));
  for (std::size_t head = 0; head < 3; ++head) EXPECT_TRUE(was[head].isApprox(is[2 - head], 1e-5f));
  EXPECT_FALSE(was[0].isApprox(is[0], 1e-2f));
}

TEST(NormMaps, SomebodysOwnValuesWithoutAnOutputLayerAreMeasuredAsTheyAre) {
  Random random(82);
  const Matrix x = reference::random_matrix(random, 5, 8);
  const auto trace = ask(reference::request_for(reference::given_model(x, x, x, 2)));
  const Maps maps = norms_of(*trace);
  for (Index head = 0; head < 2; ++head)
    for (Index j = 0; j < 5; ++j)
      EXPECT_NEAR(maps[reference::at(head)](3, j),
                  pattern(*trace, {0, head})(3, j) * x.row(j).segment(4 * head, 4).norm(), 1e-6);
}

TEST(NormMaps, AHeadThatIsOffAddsNothing) {
  Request request = of_two_layers(5, Arch::decoder);
  switch_off(request.edits, {1, 2}, true);
  const Maps none = norms_of(*ask(request));
  EXPECT_EQ(none[5].maxCoeff(), 0.0f);
  EXPECT_EQ(none[5](0, 4), -1.0f);
  EXPECT_GT(none[4].maxCoeff(), 0.0f);
  request.edits.off_as = OffAs::mean;  // then every query has the same from it
  const Maps mean = norms_of(*ask(request));
  for (Index query = 1; query < 5; ++query) EXPECT_TRUE(same(mean[5].row(0), mean[5].row(query)));
  EXPECT_GT(mean[5].minCoeff(), 0.0f);
}

/// A_l ⋯ A_0 of ½ mean + ½ I with rows that sum to 1, in doubles.
std::vector<Grid> rollout_by_the_formula(const Trace& trace, Stack stack) {
  std::vector<Grid> all;
  const Index tokens = trace.queries(stack), heads = trace.num_heads(stack);
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    Grid a = Grid::Zero(tokens, tokens);
    for (Index head = 0; head < heads; ++head)
      a += effective(trace, {layer, head, stack}) / (2.0 * static_cast<double>(heads));
    for (Index i = 0; i < tokens; ++i) {
      a(i, i) += 0.5;
      a.row(i) /= a.row(i).sum();
    }
    Grid product = a;
    if (!all.empty()) {
      product.setZero();
      for (Index i = 0; i < tokens; ++i)
        for (Index k = 0; k < tokens; ++k)
          for (Index j = 0; j < tokens; ++j) product(i, j) += a(i, k) * all.back()(k, j);
    }
    all.push_back(product);
  }
  return all;
}

TEST(Rollout, IsTheProductOfTheLayers) {
  Random random(83);
  int stacks = 0;
  for (int round = 0; round < 60; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.longest = kThumbnail}));
    ASSERT_TRUE(trace);
    for (const Stack stack : {Stack::encoder, Stack::self}) {
      if (!trace->has(stack)) continue;
      ASSERT_FALSE(why_no_rollout(*trace, stack));
      const Maps maps = rollout_of(*trace, stack);
      for (const int threads : {2, 3}) ASSERT_TRUE(same_maps(maps, rollout_of(*trace, stack, threads)));
      const auto expected = rollout_by_the_formula(*trace, stack);
      ASSERT_EQ(maps.size(), expected.size());
      for (std::size_t layer = 0; layer < maps.size(); ++layer) {
        EXPECT_LE(reference::difference(maps[layer], expected[layer]), 1e-6) << round;
        EXPECT_LE((maps[layer].rowwise().sum().array() - 1.0f).abs().maxCoeff(), 1e-5f) << round;
        EXPECT_GE(maps[layer].minCoeff(), 0.0f);
      }
      ++stacks;
    }
  }
  EXPECT_GT(stacks, 60);
}

TEST(Rollout, BeginsAsHalfTheMeanOfTheHeadsAndHalfTheWordItself) {
  const auto trace = ask(of_two_layers(6));
  Matrix mean = Matrix::Zero(6, 6);
  for (Index head = 0; head < 3; ++head) mean += pattern(*trace, {0, head}) / 3;
  const Matrix expected = 0.5f * mean + 0.5f * Matrix::Identity(6, 6);
  EXPECT_LE((rollout_of(*trace)[0] - expected).cwiseAbs().maxCoeff(), 1e-6f);
}

TEST(Rollout, WhatLooksBackOnlyStaysSo) {
  for (const Matrix& map : rollout_of(*ask(of_two_layers(9, Arch::decoder))))
    for (Index i = 0; i < 9; ++i)
      for (Index j = i + 1; j < 9; ++j) EXPECT_EQ(map(i, j), 0.0f);
}

TEST(Rollout, WithoutHeadsEveryWordIsItself) {
  Request request = of_two_layers(4);
  for (Index layer = 0; layer < 2; ++layer)
    for (Index head = 0; head < 3; ++head) switch_off(request.edits, {layer, head}, true);
  for (const Matrix& map : rollout_of(*ask(request))) EXPECT_TRUE(same(map, Matrix::Identity(4, 4)));
}

TEST(Readings, SayWhatStandsInTheirWay) {
  Request request{.config = {.arch = Arch::encoder_decoder, .d_model = 4, .num_heads = 2, .num_layers = 1, .ffn = 0},
                  .tokens = counted(3),
                  .target = counted(3)};
  EXPECT_EQ(why_no_rollout(*ask(request), Stack::cross), MapUnavailable::two_sequences);
  EXPECT_FALSE(why_no_norms(*ask(request), Stack::cross));
  request.tokens = counted(kThumbnail + 1);
  const auto longer = ask(request);
  EXPECT_EQ(why_no_norms(*longer, Stack::encoder), MapUnavailable::too_long);
  EXPECT_EQ(why_no_norms(*longer, Stack::cross), MapUnavailable::too_long);
  EXPECT_FALSE(why_no_norms(*longer, Stack::self));
  EXPECT_EQ(why_no_rollout(*longer, Stack::encoder), MapUnavailable::too_long);

  auto given = reference::given_model(Matrix(), Matrix(), Matrix(), 1);
  ExternalStack& stack = given->given->stacks.at(Stack::self);
  stack.query_tokens = stack.key_tokens = sentence({"a", "b"});
  Matrix weights(2, 2);
  weights << 0.25f, 0.75f, 0.5f, 0.5f;
  stack.patterns = {{weights}};
  const auto alone = ask(reference::request_for(given));
  EXPECT_EQ(why_no_norms(*alone, Stack::self), MapUnavailable::no_values);
  ASSERT_FALSE(why_no_rollout(*alone, Stack::self));
  EXPECT_EQ(rollout_of(*alone)[0](0, 1), 0.375f);
  for (const MapUnavailable why : {MapUnavailable::no_values, MapUnavailable::two_sequences, MapUnavailable::too_long})
    EXPECT_FALSE(name(why).empty());
}

TEST(Readings, OfALongSentenceAreMadeOfWholePatterns) {
  const auto trace = ask(of_two_layers(kThumbnail));
  EXPECT_EQ(norms_of(*trace).front().rows(), kThumbnail);
  EXPECT_EQ(rollout_of(*trace).back().cols(), kThumbnail);
}

TEST(Readings, AStoppedQuestionHasNoAnswer) {
  const auto trace = ask(of_two_layers(4));
  Progress progress;
  progress.stop = true;
  EXPECT_FALSE(norm_maps(*trace, Stack::self, progress));
  EXPECT_FALSE(rollout_maps(*trace, Stack::self, progress));
  Progress whole;
  norm_maps(*trace, Stack::self, whole);
  EXPECT_NEAR(whole.done, 1.0f, 1e-4f);
}

}  // namespace
}  // namespace headlight
