// Masks with an axis for the sentences of a batch: either order of the axes, each whole or 1.
#include "model/batch_mask.h"

#include <gtest/gtest.h>

#include <limits>

namespace headlight {
namespace {

constexpr Index kQueries = 2, kKeys = 3, kSentences = 4;

/// Its numbers count up from 0, so that each is its original offset.
MaskSpec counting(std::array<Index, 3> shape) {
  BatchMask mask{shape};
  for (Index i = 0; i < shape[0] * shape[1] * shape[2]; ++i) mask.addends.push_back(static_cast<float>(i));
  MaskSpec spec;
  spec.batch = std::make_shared<const BatchMask>(std::move(mask));
  return spec;
}

MaskSpec of_sentence(std::array<Index, 3> shape, Index sentence, Index sentences = kSentences, Index keys = kKeys,
                     Index queries = kQueries) {
  MaskSpec spec = counting(shape);
  const auto taken = give_own_mask("mask", spec, queries, keys, sentences, sentence);
  EXPECT_TRUE(taken) << (taken ? "" : taken.error().message());
  return spec;
}

std::string misfit_of(std::array<Index, 3> shape, Index sentences = kSentences) {
  MaskSpec spec = counting(shape);
  const auto taken = give_own_mask("mask", spec, kQueries, kKeys, sentences, 0);
  EXPECT_FALSE(taken);
  EXPECT_FALSE(spec.given);
  return taken ? "" : taken.error().message();
}

std::string told(const MaskSpec& spec, Index queries = kQueries, Index keys = kKeys) {
  const auto mask = stretched_mask(spec, queries, keys);
  return mask ? axes_in_words(*mask) + " " + stretched_text(*mask) + (mask->either ? " either" : "") : "none";
}

TEST(BatchMask, EachSentenceHasItsOwn) {
  for (Index b = 0; b < kSentences; ++b) {
    const MaskSpec last = of_sentence({kQueries, kKeys, kSentences}, b);
    const MaskSpec first = of_sentence({kSentences, kQueries, kKeys}, b);
    for (Index i = 0; i < kQueries; ++i)
      for (Index j = 0; j < kKeys; ++j) {
        EXPECT_EQ((*last.given)(i, j), static_cast<float>((i * kKeys + j) * kSentences + b));
        EXPECT_EQ((*first.given)(i, j), static_cast<float>((b * kQueries + i) * kKeys + j));
      }
  }
}

TEST(BatchMask, EqualMasksOfHeadsAreOneWhereNoOrderFits) {
  const auto taken = [](std::vector<float> addends, Index sentences) {
    MaskSpec spec;
    spec.batch = std::make_shared<const BatchMask>(BatchMask{{4, 2, 2}, std::move(addends)});
    const bool fits = static_cast<bool>(give_own_mask("mask", spec, 2, 2, sentences, 0));
    EXPECT_EQ(fits, spec.given != nullptr);
    if (fits) { EXPECT_EQ((*spec.given)(0, 1), -1.0f); }
    return fits;
  };
  EXPECT_TRUE(taken({0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0}, 2)) << "two heads of two sentences";
  EXPECT_FALSE(taken({0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0}, 2)) << "not equal";
  EXPECT_TRUE(taken({0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0}, 4)) << "a mask for each sentence";
}

TEST(BatchMask, EachHeadHasItsOwn) {
  const auto rows_of = [](MaskSpec spec, Index sentences, Index sentence, Index heads) {
    const auto taken = give_own_mask("mask", spec, kQueries, kKeys, sentences, sentence, heads);
    EXPECT_TRUE(taken) << (taken ? "" : taken.error().message());
    EXPECT_EQ(spec.heads, heads);
    return std::pair(Matrix(given_of_head(spec, heads - 1)), told(spec));
  };
  const Index one = kQueries * kKeys;
  const auto [every, every_told] = rows_of(counting({5, kQueries, kKeys}), kSentences, 2, 5);
  EXPECT_EQ(every(1, 2), static_cast<float>(4 * one + 5)) << "the last of five heads, in any sentence";
  EXPECT_EQ(every_told,
            "(sentences, heads, queries, keys) (1, 5, 2, 3), broadcast to (4, 5, 2, 3): axis 0, the sentences, is "
            "repeated 4 times");
  const auto [own, own_told] = rows_of(counting({kSentences * 5, kQueries, kKeys}), kSentences, 2, 5);
  EXPECT_EQ(own(0, 1), static_cast<float>((2 * 5 + 4) * one + 1)) << "of the third sentence";
  EXPECT_EQ(own_told, "(sentences, heads, queries, keys) (4, 5, 2, 3)");
  const auto [row, row_told] = rows_of(counting({5, 1, kKeys}), 1, 0, 5);
  ASSERT_EQ(row.rows(), 1) << "a row for all queries, as of a table of distances";
  EXPECT_EQ(row(0, 2), 14.0f);
  BatchMask four = *counting({kSentences, kQueries, kKeys}).batch;
  four.sentences_first = true;
  four.heads = 2;
  for (const float addend : std::vector<float>(four.addends)) four.addends.push_back(addend + 24);
  MaskSpec spec;
  spec.batch = std::make_shared<const BatchMask>(std::move(four));
  EXPECT_EQ(rows_of(spec, kSentences, 1, 2).first(0, 0), static_cast<float>((1 * 2 + 1) * one));
  EXPECT_NE(misfit_of({5, kQueries, kKeys}), "") << "of a model of another number of heads";
}

TEST(BatchMask, AnAxisOfOneIsRepeated) {
  EXPECT_EQ(told(of_sentence({1, kQueries, kKeys}, 2)),
            "(sentences, queries, keys) (1, 2, 3), broadcast to (4, 2, 3): axis 0, the sentences, is repeated 4 times");
  EXPECT_EQ(told(of_sentence({kQueries, 1, kSentences}, 2)),
            "(queries, keys, sentences) (2, 1, 4), broadcast to (2, 3, 4): axis 1, the keys, is repeated 3 times");
  EXPECT_EQ(
      told(of_sentence({1, kKeys, 1}, 3)),
      "(queries, keys, sentences) (1, 3, 1), broadcast to (2, 3, 4): axis 0, the queries, is repeated 2 times, and "
      "axis 2, the sentences, is repeated 4 times");
  EXPECT_EQ(told(of_sentence({kSentences, kQueries, kKeys}, 0)), "(sentences, queries, keys) (4, 2, 3)");
  const MaskSpec row = of_sentence({1, kKeys, kSentences}, 1);
  ASSERT_EQ(row.given->rows(), 1);
  EXPECT_EQ((*row.given)(0, 2), 9.0f) << "2 · 4 + 1";
  const MaskSpec column = of_sentence({kSentences, kQueries, 1}, 3);
  ASSERT_EQ(column.given->cols(), 1);
  EXPECT_EQ((*column.given)(1, 0), 7.0f) << "3 · 2 + 1";
  MaskSpec two;
  two.given = std::make_shared<const Matrix>(Matrix::Zero(1, kKeys));
  EXPECT_EQ(told(two), "(queries, keys) (1, 3), broadcast to (2, 3): axis 0, the queries, is repeated 2 times");
  EXPECT_EQ(told({}), "none");
}

TEST(BatchMask, WhatFitsBothWaysIsReadInOneAndSaid) {
  // Three queries, keys and sentences.
  MaskSpec cube = counting({3, 3, 3});
  const auto refused = give_own_mask("mask", cube, 3, 3, 3, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "mask: axes: expected three axes that are read in one way, or (sentences, 1, queries, keys), found "
            "(3, 3, 3): (queries, keys, sentences) or (sentences, queries, keys)");
  BatchMask known = *counting({3, 3, 3}).batch;
  known.sentences_first = true;
  cube.batch = std::make_shared<const BatchMask>(std::move(known));
  ASSERT_TRUE(give_own_mask("mask", cube, 3, 3, 3, 1));
  EXPECT_EQ((*cube.given)(0, 0), 9.0f) << "the first axis is the sentence's";
  const MaskSpec shared = of_sentence({1, 3, 3}, 1, 3, 3, 3);
  EXPECT_EQ((*shared.given)(1, 2), 5.0f) << "one mask for all sentences";
  EXPECT_EQ(told(shared, 3, 3),
            "(sentences, queries, keys) (1, 3, 3), broadcast to (3, 3, 3): axis 0, the sentences, is repeated 3 times "
            "either");
  const MaskSpec keys = of_sentence({1, 3, 1}, 0, 1, 3, 3);
  EXPECT_EQ((*keys.given)(0, 2), 2.0f) << "a padding mask: one row for all";
  EXPECT_EQ(told(keys, 3, 3),
            "(queries, keys, sentences) (1, 3, 1), broadcast to (3, 3, 1): axis 0, the queries, is repeated 3 times");
}

TEST(BatchMask, WhatDoesNotFitIsExplained) {
  EXPECT_EQ(
      misfit_of({2, 3, 5}),
      "mask: axes: expected (queries, keys, sentences) = (2, 3, 4) or (sentences, queries, keys) = (4, 2, 3), each "
      "axis whole or 1, found (2, 3, 5): in the first order axis 2 is 5 for 4 sentences, in the second axis 0 is 2 "
      "for 4 sentences");
  EXPECT_NE(misfit_of({5, 2, 3}, 1).find("in the second axis 0 is 5 for 1 sentence"), std::string::npos);
  EXPECT_NE(
      misfit_of({1, 4, 1}).find("in the first order axis 1 is 4 for 3 keys, in the second axis 1 is 4 for 2 queries"),
      std::string::npos);
}

TEST(BatchMask, ARowThatStandsOnItsEndIsToldHowItStands) {
  BatchMask column = *counting({kKeys, 1, 1}).batch;  // (keys, 1, 1, 1), read as (sentences, heads, queries, keys)
  column.sentences_first = true;
  MaskSpec spec;
  spec.batch = std::make_shared<const BatchMask>(std::move(column));
  const auto refused = give_own_mask("mask", spec, kQueries, kKeys, 1, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "mask: axes: expected (sentences, queries, keys) = (1, 2, 3) and an axis of heads, each axis whole or 1, "
            "found (3, 1, 1): axis 0 is 3 for 1 sentence; a row for all queries is (1, 1, 1, 3)");
}

TEST(BatchMask, IsComparedByItsNumbers) {
  EXPECT_TRUE(counting({1, 2, 3}) == counting({1, 2, 3}));
  EXPECT_FALSE(counting({1, 2, 3}) == counting({3, 2, 1}));
  EXPECT_FALSE(counting({1, 2, 3}) == MaskSpec{});
  EXPECT_FALSE(of_sentence({1, 2, 3}, 0) == counting({1, 2, 3}));
  Tokens words;
  words.tokens.resize(2);
  EXPECT_FALSE(resolve(counting({1, 2, 2}), words, words)) << "no sentence was taken";
}

}  // namespace
}  // namespace headlight
