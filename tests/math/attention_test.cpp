#include "math/attention.h"

#include <gtest/gtest.h>

#include <atomic>

#include "core/reference.h"
#include "float_infinity.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::pattern;
using reference::random_matrix;

Config small_config() { return {.d_model = 12, .num_heads = 3, .num_layers = 2, .ffn = 0}; }

/// A mask with a little of everything: some rows whole, some blocks of cells blocked.
MaskSpec patchy(Random& random, Index tokens) {
  MaskSpec spec{.causal = draw(random, 0, 1) == 1};
  for (int patch = 0; patch < 3; ++patch) {
    const Index query = draw(random, 0, tokens - 1), key = draw(random, 0, tokens - 1);
    for (Index i = query; i < std::min(query + 12, tokens); ++i)
      for (Index j = key; j < std::min(key + 12, tokens); ++j) paint(spec.painted, {i, j, patch == 2});
  }
  return spec;
}

/// The documented shrinking of a region, cell by cell.
Matrix pooled(const Trace& trace, const Region& region, Index most) {
  const Matrix weights = pattern(trace, region.head);
  const Index rows = region.num_queries, cols = region.num_keys;
  Matrix picture(std::min(rows, most), std::min(cols, most));
  for (Index i = 0; i < picture.rows(); ++i) {
    for (Index j = 0; j < picture.cols(); ++j) {
      float largest = -1;
      for (Index r = i * rows / picture.rows(); r < (i + 1) * rows / picture.rows(); ++r)
        for (Index c = j * cols / picture.cols(); c < (j + 1) * cols / picture.cols(); ++c)
          if (trace.mask().allowed(region.first_query + r, region.first_key + c))
            largest = std::max(largest, weights(region.first_query + r, region.first_key + c));
      picture(i, j) = largest;
    }
  }
  return picture;
}

TEST(AttentionRows, AreTheSameBitsHoweverTheyAreCut) {
  Random random(21);
  for (const Index tokens : {1, 10, 63, 64, 65, 200}) {
    const auto trace = ask({.config = small_config(), .tokens = counted(tokens), .mask = patchy(random, tokens)});
    ASSERT_TRUE(trace);
    const HeadRef head{1, 2};
    const Matrix whole = pattern(*trace, head), scores = score_rows(*trace, head, 0, tokens);
    for (int round = 0; round < 20; ++round) {
      const Index first = draw(random, 0, tokens), count = draw(random, 0, tokens - first);
      ASSERT_TRUE(same(attention_rows(*trace, head, first, count), whole.middleRows(first, count)));
      ASSERT_TRUE(same(score_rows(*trace, head, first, count), scores.middleRows(first, count)));
    }
  }
}

TEST(AttentionRows, AreTheSoftmaxOfTheScores) {
  const auto trace = ask({.config = small_config(), .tokens = counted(70), .mask = {.causal = true}});
  ASSERT_TRUE(trace);
  Matrix scores = score_rows(*trace, {0, 1}, 3, 67);
  Vector row_max(67), row_sum(67);
  softmax_rows(scores, row_max, row_sum);
  EXPECT_TRUE(same(scores, attention_rows(*trace, {0, 1}, 3, 67)));
  const HeadTrace& head = trace->blocks[0].self.heads[1];
  EXPECT_TRUE(same(row_max, head.row_max.segment(3, 67)));
  EXPECT_TRUE(same(row_sum, head.row_sum.segment(3, 67)));
}

TEST(ScoreRows, AreScaledProductsAndBlockedAtMinusInfinity) {
  const auto trace =
      ask({.config = small_config(), .tokens = counted(9), .mask = {.causal = true}, .edits = {.scale = 0.75f}});
  ASSERT_TRUE(trace);
  const auto& attention = trace->blocks[1].self;
  const Matrix scores = score_rows(*trace, {1, 2}, 0, 9);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      double product = 0;
      for (Index c = 8; c < 12; ++c) product += double(attention.query(i, c)) * double(attention.key(j, c));
      if (j > i) EXPECT_EQ(scores(i, j), -kFloatInfinity);
      else EXPECT_NEAR(double(scores(i, j)), 0.75 * product, 1e-5);
    }
  }
}

TEST(Thumbnail, OfAShortSentenceIsThePatternWithBlockedCellsMarked) {
  Random random(22);
  for (const Index tokens : {1, 2, 10, 64, 127, 128}) {
    const auto trace = ask({.config = small_config(), .tokens = counted(tokens), .mask = patchy(random, tokens)});
    ASSERT_TRUE(trace);
    for (Index head = 0; head < 3; ++head) {
      const Matrix weights = pattern(*trace, {1, head});
      const Matrix& thumbnail = trace->blocks[1].self.heads[static_cast<std::size_t>(head)].thumbnail;
      ASSERT_EQ(thumbnail.rows(), tokens);
      ASSERT_EQ(thumbnail.cols(), tokens);
      for (Index i = 0; i < tokens; ++i)
        for (Index j = 0; j < tokens; ++j)
          ASSERT_EQ(thumbnail(i, j), trace->mask().allowed(i, j) ? weights(i, j) : -1.0f) << i << ", " << j;
    }
  }
}

TEST(Thumbnail, OfALongSentenceIsTheLargestWeightOfEachGroup) {
  Random random(23);
  for (const Index tokens : {129, 300, 1000}) {
    const auto trace = ask({.config = {.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 0},
                            .tokens = counted(tokens),
                            .mask = patchy(random, tokens)});
    ASSERT_TRUE(trace);
    const Region whole{.head = {0, 1}, .num_queries = tokens, .num_keys = tokens};
    EXPECT_TRUE(same(trace->blocks[0].self.heads[1].thumbnail, pooled(*trace, whole, kThumbnail))) << tokens;
  }
}

TEST(Thumbnail, OfWideAndOfTallPatternsFollowsTheirSides) {
  Random random(24);
  for (const auto& [queries, keys] : {std::pair<Index, Index>{300, 5}, {5, 300}, {200, 129}, {1, 400}}) {
    const Matrix query = random_matrix(random, queries, 4, 2.0f), key = random_matrix(random, keys, 4, 2.0f);
    const auto model = reference::given_model(query, key, random_matrix(random, keys, 4), 2);
    const auto trace = ask(reference::request_for(model, {.causal = true}));
    ASSERT_TRUE(trace);
    const Region whole{.head = {0, 1}, .num_queries = queries, .num_keys = keys};
    EXPECT_TRUE(same(trace->blocks[0].self.heads[1].thumbnail, pooled(*trace, whole, kThumbnail)));
  }
}

TEST(Thumbnail, KeepsASingleBrightCell) {
  Matrix query = Matrix::Zero(700, 1), key = Matrix::Zero(700, 1);
  query(431, 0) = key(277, 0) = 10.0f;
  const auto trace = ask(reference::request_for(reference::given_model(query, key, key, 1)));
  ASSERT_TRUE(trace);
  const Matrix& thumbnail = trace->blocks[0].self.heads[0].thumbnail;
  Index i = 0, j = 0;
  EXPECT_NEAR(thumbnail.maxCoeff(&i, &j), 1.0f, 1e-6f);
  EXPECT_TRUE(i * 700 / 128 <= 431 && 431 < (i + 1) * 700 / 128) << i;
  EXPECT_TRUE(j * 700 / 128 <= 277 && 277 < (j + 1) * 700 / 128) << j;
  EXPECT_EQ((thumbnail.array() > 0.5f).count(), 1);
}

TEST(Thumbnail, MarksAGroupOnlyWhereEveryCellOfItIsBlocked) {
  MaskSpec spec;
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j < 9; ++j)
      if (i != 4 || j != 4) paint(spec.painted, {i, j, false});
  const auto trace = ask({.config = small_config(), .tokens = counted(384), .mask = spec});
  ASSERT_TRUE(trace);
  const Matrix& thumbnail = trace->blocks[0].self.heads[0].thumbnail;  // groups of 3 × 3
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(thumbnail(i, j) == -1.0f, i != 1 || j != 1) << i << ", " << j;
  EXPECT_EQ((thumbnail.array() == -1.0f).count(), 8);
}

TEST(RegionWeights, OfAnyRegionAreTheLargestOfEachGroup) {
  Random random(25);
  const std::atomic<bool> stop = false;
  for (const Index tokens : {7, 150, 300}) {
    const auto trace = ask({.config = small_config(), .tokens = counted(tokens), .mask = patchy(random, tokens)});
    ASSERT_TRUE(trace);
    for (int round = 0; round < 12; ++round) {
      Region region{.head = {draw(random, 0, 1), draw(random, 0, 2)},
                    .first_query = draw(random, 0, tokens - 1),
                    .first_key = draw(random, 0, tokens - 1)};
      region.num_queries = draw(random, 1, tokens - region.first_query);
      region.num_keys = draw(random, 1, tokens - region.first_key);
      for (const Index most : {1, 5, 64, 512})
        ASSERT_TRUE(same(region_weights(*trace, region, most, stop), pooled(*trace, region, most)))
            << tokens << " tokens, at most " << most << ": " << region.first_query << "+" << region.num_queries << " × "
            << region.first_key << "+" << region.num_keys;
    }
  }
}

TEST(RegionWeights, AreAnEmptyMatrixWhenStopped) {
  const auto trace = ask({.config = small_config(), .tokens = counted(20)});
  ASSERT_TRUE(trace);
  const std::atomic<bool> stop = true;
  EXPECT_EQ(region_weights(*trace, {.num_queries = 20, .num_keys = 20}, 128, stop).size(), 0);
}

TEST(BlockedCells, AreTheMaskItself) {
  const auto mask = resolve({.causal = true}, counted(130), counted(130));
  ASSERT_TRUE(mask);
  const Region region{.first_query = 60, .num_queries = 70, .first_key = 3, .num_keys = 127};
  const Matrix cells = blocked_cells(*mask, region, 128);
  ASSERT_EQ(cells.rows(), 70);
  ASSERT_EQ(cells.cols(), 127);
  for (Index i = 0; i < 70; ++i)
    for (Index j = 0; j < 127; ++j) ASSERT_EQ(cells(i, j), mask->allowed(60 + i, 3 + j) ? 0.0f : -1.0f);
}

/// Separate query, key and value, with projections that are there or not.
std::shared_ptr<Model> drawn_inputs(Random& random, Index queries, Index keys, Index d_model, Index kdim, Index inner,
                                    Index num_heads, bool bias) {
  const Matrix query = random_matrix(random, queries, d_model, 2.0f), key = random_matrix(random, keys, kdim, 2.0f);
  auto model = reference::given_model(query, key, random_matrix(random, keys, kdim), num_heads);
  auto& self = model->blocks[0].self;
  if (inner == 0) return model;
  self.query.weight = random_matrix(random, inner, d_model);
  self.key.weight = random_matrix(random, inner, kdim);
  self.value.weight = random_matrix(random, inner, kdim);
  self.output.weight = random_matrix(random, d_model, inner);
  if (!bias) return model;
  self.query.bias = random_matrix(random, 1, inner);
  self.key.bias = random_matrix(random, 1, inner);
  self.value.bias = random_matrix(random, 1, inner);
  self.output.bias = random_matrix(random, 1, d_model);
  return model;
}

void expect_as_written_out(const Request& request, std::string_view what) {
  const auto trace = ask(request);
  ASSERT_TRUE(trace) << what;
  const auto expected = reference::answer(request, *trace->model);
  for (Index head = 0; head < trace->num_heads(); ++head) {
    const auto& weights = expected.blocks[0].self.weights[static_cast<std::size_t>(head)];
    EXPECT_LE(reference::difference(pattern(*trace, {0, head}), weights), 2e-5) << what;
  }
  EXPECT_LE(reference::difference(trace->blocks[0].self.z, expected.blocks[0].self.z), 1e-4) << what;
  EXPECT_LE(reference::difference(trace->blocks[0].output, expected.blocks[0].self.output), 1e-4) << what;
  EXPECT_TRUE(same(trace->last_hidden_state(), trace->blocks[0].output)) << what;
}

TEST(ExternalInputs, AgreeWithTheFormulasWrittenOut) {
  Random random(26);
  expect_as_written_out(reference::request_for(drawn_inputs(random, 10, 10, 8, 8, 8, 2, true)), "square");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 5, 13, 8, 8, 8, 4, true)), "T < S");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 70, 3, 8, 8, 8, 1, false)), "T > S, no bias");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 6, 7, 8, 5, 8, 2, true)), "kdim is not d_model");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 6, 7, 10, 6, 12, 3, true)), "H·d_k is not d_model");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 6, 7, 8, 8, 0, 4, false)), "identity projections");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 1, 1, 1, 1, 1, 1, true)), "one of each");
  expect_as_written_out(reference::request_for(drawn_inputs(random, 65, 129, 16, 16, 32, 8, true)), "row blocks");
}

TEST(ExternalInputs, MayLackAnyOneProjection) {
  Random random(27);
  for (int missing = 0; missing < 4; ++missing) {
    auto model = drawn_inputs(random, 6, 7, 8, 8, 8, 2, true);
    auto& self = model->blocks[0].self;
    Linear* all[] = {&self.query, &self.key, &self.value, &self.output};
    all[missing]->weight = Matrix{};
    expect_as_written_out(reference::request_for(model), "identity with a bias");
    all[missing]->bias = Vector{};
    expect_as_written_out(reference::request_for(model), "identity without one");
  }
}

TEST(ExternalInputs, MayHaveValuesOfAnotherWidthThanKeys) {
  Random random(28);
  auto model = drawn_inputs(random, 6, 7, 8, 8, 8, 2, true);
  model->blocks[0].self.value = {random_matrix(random, 20, 8), {}};
  model->blocks[0].self.output = {random_matrix(random, 8, 20), {}};
  expect_as_written_out(reference::request_for(model), "d_v = 10");
}

TEST(ExternalInputs, TakeAllowingAndAdditiveMasksOfAnyShape) {
  Random random(29);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{5, 9}, {1, 9}, {5, 1}, {1, 1}}) {
    Matrix allowing = Matrix::Zero(rows, cols), additive = random_matrix(random, rows, cols, 5.0f);
    for (Index i = 0; i < allowing.size() - 1; ++i)
      if (draw(random, 0, 2) == 0) allowing.data()[i] = -kFloatInfinity;
    for (const Matrix& matrix : {allowing, additive}) {
      const auto model = drawn_inputs(random, 5, 9, 8, 6, 16, 4, true);
      expect_as_written_out(reference::request_for(model, {.given = std::make_shared<const Matrix>(matrix)}), "masked");
    }
  }
}

TEST(ExternalInputs, SurviveScoresOfTenToTheThirty) {
  Matrix query(2, 1), key(3, 1);
  query << 1e15f, -1e15f;
  key << 1e15f, -1e15f, 0.0f;
  const auto trace = ask(reference::request_for(reference::given_model(query, key, Matrix::Ones(3, 1), 1)));
  ASSERT_TRUE(trace);
  Matrix expected(2, 3);
  expected << 1, 0, 0, 0, 1, 0;
  EXPECT_TRUE(same(pattern(*trace, {0, 0}), expected));
}

TEST(ExternalInputs, WithAMaskOfMinusTenToTheThirtyEverywhereShareEqually) {
  Random random(30);
  const auto model = drawn_inputs(random, 4, 6, 8, 8, 8, 2, true);
  const auto mask = std::make_shared<const Matrix>(Matrix::Constant(4, 6, -1e30f));
  const auto trace = ask(reference::request_for(model, {.given = mask}));
  ASSERT_TRUE(trace);
  EXPECT_TRUE((pattern(*trace, {0, 1}).array() == 1.0f / 6.0f).all());
  EXPECT_TRUE(trace->warnings.empty());
}

}  // namespace
}  // namespace headlight
