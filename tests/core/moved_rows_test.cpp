// A change of one word: which rows of each matrix move, and which cannot.
#include "explain/moved_rows.h"

#include <numeric>

#include "drawn.h"
#include "explain/matrix_kinds.h"
#include "explain/patch/path_length.h"
#include "explained.h"

namespace headlight {
namespace {

constexpr Index kTokens = 7, kChanged = 3;
using Places = std::vector<Index>;

std::shared_ptr<const Trace> answer(Arch arch, bool changed, const Edits& edits = {}) {
  std::vector<std::string> words;
  for (Index i = 0; i < kTokens; ++i) words.push_back("w" + std::to_string(i));
  if (changed) words[kChanged] = "another";
  return reference::ask({.config = {.arch = arch, .d_model = 12, .num_heads = 2, .num_layers = 2, .ffn = 10},
                         .tokens = reference::sentence(words),
                         .mask = {.causal = arch == Arch::decoder},
                         .edits = edits});
}

Places rows_between(const Trace& a, const Trace& b, Quantity quantity, Index layer = 0) {
  const MatrixId id = matrix_id(quantity, {layer, 1});
  EXPECT_TRUE(can_compare(a, b, id)) << path(b, id);
  return moved_rows(moved_cells(a, b, id, 0, shape(b, id).rows));
}

Places from(Index first) {
  Places places(static_cast<std::size_t>(kTokens - first));
  std::iota(places.begin(), places.end(), first);
  return places;
}

using Q = Quantity;
constexpr Q kBeforeScores[] = {Q::token_vectors, Q::embedding, Q::attention_input, Q::query, Q::key, Q::value};
constexpr Q kAfterWeights[] = {Q::z,           Q::concat, Q::contribution, Q::attention_output, Q::after_attention,
                               Q::block_output};
constexpr Q kFeedForward[] = {Q::ffn_input, Q::up, Q::hidden, Q::ffn_output};

TEST(MovedRows, WhatIsMadeOfWeightsAndValuesSpreadsAsAttentionDoes) {
  for (const Q quantity : {Q::z, Q::head_output}) EXPECT_EQ(spread_of(quantity), Spread::attention);
}

TEST(MovedRows, OneWordIsOneTokenAndNothingElse) {
  const auto a = answer(Arch::encoder, false), b = answer(Arch::encoder, true);
  const auto changed = changed_word(a->request, b->request);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->from, "w" + std::to_string(kChanged));
  EXPECT_EQ(changed->to, "another");
  EXPECT_FALSE(changed_word(a->request, a->request));
  Request other = b->request;
  other.tokens.tokens[0].id += 1;
  EXPECT_FALSE(changed_word(a->request, other)) << "two words";
  other = b->request;
  other.mask.causal = true;
  EXPECT_FALSE(changed_word(a->request, other));
  other = b->request;
  other.tokens.tokens.pop_back();
  EXPECT_FALSE(changed_word(a->request, other));
  other = b->request;
  other.tokens.tokens[kChanged].pad = true;
  EXPECT_FALSE(changed_word(a->request, other));
  other = b->request;
  other.tokens.tokens[kChanged].special = true;
  EXPECT_FALSE(changed_word(a->request, other)) << "a mark in the place of a word";
  other = b->request;
  other.tokens.tokens[kChanged].type = 1;
  EXPECT_FALSE(changed_word(a->request, other));
}

TEST(MovedRows, AttentionMovesEveryRowThatLooksAtTheWord) {
  for (const Arch arch : {Arch::encoder, Arch::decoder}) {
    const auto a = answer(arch, false), b = answer(arch, true);
    ASSERT_TRUE(a && b);
    const bool causal = arch == Arch::decoder;
    const Places after = from(causal ? kChanged : 0);
    for (const Q quantity : kBeforeScores)
      EXPECT_EQ(rows_between(*a, *b, quantity), Places{kChanged}) << matrix_name(quantity);
    for (const Q quantity : kAfterWeights) EXPECT_EQ(rows_between(*a, *b, quantity), after) << matrix_name(quantity);
    for (const Q quantity : kFeedForward) EXPECT_EQ(rows_between(*a, *b, quantity), after) << matrix_name(quantity);
    const Matrix scores = moved_cells(*a, *b, matrix_id(Q::scores, {0, 1}), 0, kTokens);
    const Matrix weights = moved_cells(*a, *b, matrix_id(Q::weights, {0, 1}), 0, kTokens);
    for (Index query = 0; query < kTokens; ++query)
      for (Index key = 0; key < kTokens; ++key) {
        const bool blocked = causal && key > query;
        EXPECT_EQ(scores(query, key) == 1, !blocked && (query == kChanged || key == kChanged)) << query << " " << key;
        EXPECT_EQ(weights(query, key) == 1, !blocked && (!causal || query >= kChanged)) << query << " " << key;
      }
    for (const Q quantity : {Q::query, Q::key, Q::value, Q::z})
      EXPECT_EQ(rows_between(*a, *b, quantity, 1), after) << "what the next layer reads moved there";
  }
}

TEST(MovedRows, AFeedForwardMovesOnlyItsOwnRow) {
  Edits edits;
  for (const Index head : {0, 1}) switch_off(edits, {0, head, Stack::self}, true);
  const auto a = answer(Arch::encoder, false, edits), b = answer(Arch::encoder, true, edits);
  ASSERT_TRUE(a && b);
  for (const Q quantity : kFeedForward) EXPECT_EQ(rows_between(*a, *b, quantity), Places{kChanged});
  for (const Q quantity : {Q::after_attention, Q::block_output})
    EXPECT_EQ(rows_between(*a, *b, quantity), Places{kChanged}) << "nothing was handed from word to word";
}

/// The declared Spread of each matrix holds: a row moves only where a row that it is computed from moved.
TEST(MovedRows, SpreadAsIsSaidInModelsDrawnAtRandom) {
  Random random(53);
  for (int round = 0; round < 40; ++round) {
    Request request = reference::drawn_request(random, {.least_width = 4, .edits = false, .longest = 8});
    if (request.model && request.model->given) continue;
    const auto a = reference::ask(request);
    const auto changed = reference::draw(random, 0, static_cast<Index>(request.tokens.size()) - 1);
    Token& token = request.tokens.tokens[static_cast<std::size_t>(changed)];
    const Model* model = request.model.get();
    const Embeddings* read = !model ? nullptr : model->encoder ? &model->encoder->embeddings : &model->embeddings;
    const Index words = read && read->tokens ? read->tokens->outputs() : 1 << 20;
    token.id = (token.id + 1) % words;
    const auto b = reference::ask(request);
    ASSERT_TRUE(a && b);
    for (const MatrixId& id : reference::all_matrices(*b)) {
      if (!can_compare(*a, *b, id) || id.layer > 0) continue;
      const Places moved = moved_rows(moved_cells(*a, *b, id, 0, shape(*b, id).rows));
      if (spread_of(id.quantity) == Spread::none && axes(*b, id).rows != Axis::queries) {
        EXPECT_TRUE(moved.empty()) << path(*b, id) << " is learned";
      }
      const bool reads_embedding = id.stack == (b->encoder ? Stack::encoder : Stack::self);
      const bool own = id.quantity < Q::dot && tokens_along(*b, id, axes(*b, id).rows);
      for (const Index row : own&& reads_embedding ? moved : Places())
        EXPECT_EQ(row, changed) << path(*b, id) << " in round " << round;
    }
    if (HasFailure()) return;
  }
}

TEST(MovedRows, OtherSizesAreNotCompared) {
  const auto a = answer(Arch::encoder, false);
  const auto longer = reference::ask({.config = a->request.config, .tokens = reference::counted(kTokens + 1)});
  ASSERT_TRUE(longer);
  EXPECT_FALSE(can_compare(*a, *longer, matrix_id(Q::query)));
  EXPECT_FALSE(can_compare(*a, *longer, matrix_id(Q::scores)));
  EXPECT_TRUE(can_compare(*a, *longer, matrix_id(Q::query_weight)));
  EXPECT_FALSE(can_compare(*a, *a, matrix_id(Q::gate)));
  EXPECT_FALSE(can_compare(*a, *a, matrix_id(Q::query, {5, 0})));
}

TEST(PathLength, IsThatOfTheTableOfVaswani) {
  const auto steps = [](Index query, Index key) { return path_length({query, key}, Stack::self, 100); };
  EXPECT_EQ(steps(5, 1).recurrent, 4);
  EXPECT_EQ(steps(1, 5).recurrent, 4) << "a second network reads backwards";
  EXPECT_EQ(steps(3, 3).recurrent, 0);
  // ⌈log_3 n⌉ over n words: layer by layer three times as many words are reached.
  const std::pair<Index, Index> layers[] = {{1, 0}, {2, 1}, {3, 1}, {4, 2}, {9, 2}, {10, 3}, {27, 3}, {28, 4}};
  for (const auto& [words, expected] : layers) EXPECT_EQ(steps(words - 1, 0).convolution, expected) << words;
}

TEST(PathLength, BetweenTwoSentencesLeadsThroughTheEndOfTheFirst) {
  // Key 1 of 4: two more words are read, the state is handed over, two words are written.
  const PathLength path = path_length({2, 1}, Stack::cross, 4);
  EXPECT_EQ(path.recurrent, 5);
  EXPECT_FALSE(path.convolution);
}

}  // namespace
}  // namespace headlight
