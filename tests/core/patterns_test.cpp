#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "asking.h"

// Attention that another program computed: shown, masked and edited, although its query, key and value are unknown.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::pattern;
using reference::random_matrix;

/// Rows that sum to one, a layer a matrix and a head; different numbers for every attention.
std::vector<std::vector<Matrix>> drawn_patterns(Random& random, Index layers, Index heads, Index queries, Index keys) {
  std::vector<std::vector<Matrix>> patterns(static_cast<std::size_t>(layers));
  for (auto& layer : patterns) {
    for (Index head = 0; head < heads; ++head) {
      Matrix weights = (random_matrix(random, queries, keys).array() + 1.01f).matrix();
      weights.array().colwise() /= weights.rowwise().sum().array().eval();
      layer.push_back(std::move(weights));
    }
  }
  return patterns;
}

ExternalStack computed(std::vector<std::vector<Matrix>> patterns) {
  ExternalStack stack;
  stack.query_tokens = counted(patterns[0][0].rows());
  stack.key_tokens = counted(patterns[0][0].cols());
  stack.patterns = std::move(patterns);
  return stack;
}

Request computed_elsewhere(std::map<Stack, ExternalStack> stacks) {
  auto model = std::make_shared<Model>();
  model->given = ExternalInputs{std::move(stacks)};
  return reference::request_for(std::move(model));
}

TEST(ComputedPatterns, AreShownAsTheyAre) {
  Random random(31);
  const auto own = drawn_patterns(random, 2, 3, 70, 70), encoder = drawn_patterns(random, 3, 2, 9, 9);
  const auto cross = drawn_patterns(random, 2, 3, 70, 9);
  const Request request = computed_elsewhere(
      {{Stack::self, computed(own)}, {Stack::encoder, computed(encoder)}, {Stack::cross, computed(cross)}});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->warnings.empty());
  float largest = 0;
  for (const auto& [stack, patterns] :
       {std::pair{Stack::self, &own}, {Stack::encoder, &encoder}, {Stack::cross, &cross}}) {
    ASSERT_EQ(trace->num_layers(stack), static_cast<Index>(patterns->size()));
    ASSERT_EQ(trace->num_heads(stack), static_cast<Index>(patterns->front().size()));
    for (std::size_t layer = 0; layer < patterns->size(); ++layer) {
      const AttentionTrace& attention = trace->attention(stack, static_cast<Index>(layer));
      EXPECT_EQ(attention.query.size() + attention.key.size() + attention.value.size(), 0);
      EXPECT_EQ(attention.z.size(), 0) << "the values are unknown";
      for (std::size_t head = 0; head < patterns->front().size(); ++head) {
        const Matrix& given = (*patterns)[layer][head];
        const HeadRef ref{static_cast<Index>(layer), static_cast<Index>(head), stack};
        EXPECT_TRUE(same(pattern(*trace, ref), given));
        EXPECT_TRUE(same(attention_rows(*trace, ref, 3, 4), given.middleRows(3, 4)));
        EXPECT_TRUE(same(trace->head(ref).thumbnail, given));
        EXPECT_TRUE(same(score_rows(*trace, ref, 0, given.rows()), given.array().log().matrix()));
        largest = std::max(largest, given.maxCoeff());
      }
    }
  }
  EXPECT_EQ(trace->largest_weight, largest);
}

TEST(ComputedPatterns, UnderAMaskShareTheRestInTheirProportions) {
  Random random(32);
  const auto patterns = drawn_patterns(random, 2, 2, 8, 8);
  Request request = computed_elsewhere({{Stack::self, computed(patterns)}});
  set_layer_edit(request.edits, {.layer = 1, .mask = MaskSpec{.causal = true}});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(same(pattern(*trace, {0, 1}), patterns[0][1]));
  const Matrix masked = pattern(*trace, {1, 1});
  for (Index i = 0; i < 8; ++i) {
    const double rest = patterns[1][1].row(i).head(i + 1).cast<double>().sum();
    for (Index j = 0; j < 8; ++j) {
      const double expected = j > i ? 0.0 : double(patterns[1][1](i, j)) / rest;
      EXPECT_NEAR(double(masked(i, j)), expected, 1e-6);
      EXPECT_EQ(masked(i, j) == 0.0f, j > i);
    }
  }
}

TEST(ComputedPatterns, KeepRowsThatHeldNothing) {
  std::vector<std::vector<Matrix>> patterns{{Matrix::Constant(3, 4, 0.25f)}};
  patterns[0][0].row(1).setZero();
  Request request = computed_elsewhere({{Stack::self, computed(patterns)}});
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(same(pattern(*trace, {0, 0}), patterns[0][0]));
  EXPECT_TRUE(trace->warnings.empty()) << "no mask is to blame";
  request.mask.painted = {{0, 0, false}};
  const auto masked = ask(request);
  ASSERT_TRUE(masked);
  EXPECT_EQ(pattern(*masked, {0, 0}).row(1).cwiseAbs().maxCoeff(), 0.0f);
  EXPECT_TRUE(masked->warnings.empty());
  request.mask.painted = {{2, 0, false}, {2, 1, false}, {2, 2, false}, {2, 3, false}};
  EXPECT_EQ(messages_of(ask(request)->warnings),
            std::vector<std::string>{"mask: query 2 may attend to nothing: its row is zeros"});
}

TEST(ComputedPatterns, TakeWeightsByHandAndAMaskThatFits) {
  Random random(33);
  const auto patterns = drawn_patterns(random, 3, 2, 5, 6);
  Request request = computed_elsewhere({{Stack::self, computed(patterns)}});
  set_weight(request.edits, {1, 0}, {2, 5}, 0.5f);
  const auto trace = ask(request);
  ASSERT_TRUE(trace);
  const Matrix weights = pattern(*trace, {1, 0});
  EXPECT_EQ(weights(2, 5), 0.5f);
  EXPECT_NEAR(weights.row(2).sum(), 1.0f, 1e-6f);
  EXPECT_TRUE(same(weights.topRows(2), patterns[1][0].topRows(2)));
  request.mask.given = std::make_shared<const Matrix>(Matrix::Zero(6, 5));
  EXPECT_EQ(reference::refusal(request), "mask: shape (queries, keys): expected (5, 6), found (6, 5)");
}

}  // namespace
}  // namespace headlight
