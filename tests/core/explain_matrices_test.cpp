#include "explain/matrices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "drawn.h"
#include "explain/recipe.h"
#include "explained.h"

namespace headlight {
namespace {

using reference::all_matrices;
using reference::ask;
using reference::counted;
using reference::listed_matrices;

using Q = Quantity;

TEST(MatrixPaths, AreDifferentForDifferentMatrices) {
  Random random(304);
  for (int round = 0; round < 40; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = 4}));
    ASSERT_TRUE(trace);
    std::map<std::string, MatrixId> seen;
    for (const MatrixId& id : all_matrices(*trace))
      EXPECT_TRUE(seen.emplace(path(*trace, id), id).second) << path(*trace, id);
  }
}

TEST(MatrixPaths, NameStackLayerAttentionAndHead) {
  Request request{.config = {.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 4, .num_layers = 2},
                  .tokens = counted(2),
                  .target = counted(2)};
  const auto two = ask(request);
  ASSERT_TRUE(two);
  EXPECT_EQ(path(*two, matrix_id(Q::query, {0, 3, Stack::encoder})), "encoder.0.self.3.query");
  EXPECT_EQ(path(*two, matrix_id(Q::weights, {1, 0, Stack::cross})), "decoder.1.cross.0.weights");
  EXPECT_EQ(path(*two, matrix_id(Q::hidden, {0, 2, Stack::cross})), "decoder.0.ffn.hidden");
  EXPECT_EQ(path(*two, matrix_id(Q::embedding, {1, 2, Stack::encoder})), "encoder.embedding.output");
  request = {.config = {.num_layers = 1}, .tokens = counted(2)};
  const auto one = ask(request);
  ASSERT_TRUE(one);
  EXPECT_EQ(path(*one, matrix_id(Q::z, {0, 1, Stack::self})), "encoder.0.self.1.z");
  EXPECT_EQ(path(*one, matrix_id(Q::block_output)), "encoder.0.output");
}

TEST(MatrixLists, HoldEveryMatrixWithNumbersOfItsOwn) {
  Random random(305);
  for (int round = 0; round < 80; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .longest = 4});
    if (round >= 40) reference::draw_parts_off(random, request);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    const auto list = listed_matrices(*trace);
    const std::set<MatrixId> listed(list.begin(), list.end());
    for (const MatrixId& id : all_matrices(*trace)) {
      const bool unchanged =
          id.quantity == Q::softmax &&
          recipe(*trace, matrix_id(Q::weights, {id.layer, id.head, id.stack})).operation == Operation::softmax;
      const bool own = origin(*trace, id) == id && !unchanged;
      EXPECT_EQ(listed.contains(id), own) << path(*trace, id);
    }
  }
}

TEST(MatrixLists, AreInTheOrderOfTheDataAndEachOnce) {
  Random random(306);
  for (int round = 0; round < 30; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = 4}));
    ASSERT_TRUE(trace);
    reference::for_each_head(*trace, [&](const HeadRef& head) {
      std::set<MatrixId> before;
      const auto list = matrices_of(*trace, head.stack, head.layer, head.head);
      const std::set<MatrixId> all(list.begin(), list.end());
      EXPECT_EQ(all.size(), list.size());
      for (const MatrixId& id : list) {
        for (const MatrixId& operand : recipe(*trace, id).operands)
          EXPECT_TRUE(before.contains(operand) || !all.contains(operand))
              << path(*trace, operand) << " after " << path(*trace, id);
        before.insert(id);
      }
    });
  }
}

/// How long the longest chain of clicks from a matrix is; −1 where one does not end at learned numbers.
int longest_chain(const Trace& trace, const MatrixId& id, std::map<MatrixId, int>& known) {
  if (const auto at = known.find(id); at != known.end()) return at->second;
  known[id] = -1;  // seen again before it is done: a circle
  const Recipe made = recipe(trace, id);
  int longest = 0;
  for (const MatrixId& operand : made.operands) {
    const int chain = exists(trace, operand) ? longest_chain(trace, operand, known) : -1;
    if (chain < 0) return -1;
    longest = std::max(longest, chain + 1);
  }
  const bool leaf = made.operation == Operation::given || made.operation == Operation::sine;
  return known[id] = made.operands.empty() == leaf ? longest : -1;
}

TEST(Recipes, LeadFromEveryMatrixToLearnedNumbers) {
  Random random(307);
  for (int round = 0; round < 60; ++round) {
    const auto trace = ask(reference::drawn_request(random, {.least_width = 4, .longest = 4}));
    ASSERT_TRUE(trace);
    std::map<MatrixId, int> known;
    for (const MatrixId& id : all_matrices(*trace)) {
      EXPECT_GE(longest_chain(*trace, id, known), 0) << path(*trace, id);
      EXPECT_FALSE(symbol(id).empty());
      EXPECT_FALSE(formula(*trace, id).empty()) << path(*trace, id);
    }
  }
}

TEST(Formulas, SayWhatTheModelDoes) {
  const auto of = [](const Config& config, Q quantity) {
    const auto trace = ask({.config = config, .tokens = counted(3)});
    return formula(*trace, matrix_id(quantity));
  };
  EXPECT_EQ(of({}, Q::query), "x·W_Qᵀ + b_Q");
  EXPECT_EQ(of({.bias = {.query = false}}, Q::query), "x·W_Qᵀ");
  EXPECT_EQ(of({.norm = Norm::pre}, Q::query), "norm(x)·W_Qᵀ + b_Q");
  EXPECT_EQ(of({.position = Position::rotary}, Q::query), "q (projected), pairs turned by position · frequency");
  EXPECT_EQ(of({}, Q::scores), "q·kᵀ·scale + mask");
  EXPECT_EQ(of({}, Q::after_attention), "(x + attention - mean) / √(variance + ε) · γ + β");
  EXPECT_EQ(of({.activation = Activation::silu, .gated = true}, Q::hidden), "activation(gate) · up");
  EXPECT_EQ(of({.activation = Activation::silu}, Q::hidden), "silu(up)");
}

}  // namespace
}  // namespace headlight
