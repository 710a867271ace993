#include "model/mask.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "float_infinity.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::counted;
using reference::draw;

Mask resolved(const MaskSpec& spec, const Tokens& queries, const Tokens& keys) {
  auto mask = resolve(spec, queries, keys);
  if (!mask) ADD_FAILURE() << mask.error().message();
  return mask ? *mask : Mask{};
}

Mask resolved(const MaskSpec& spec, const Tokens& tokens) { return resolved(spec, tokens, tokens); }

std::string refused(const MaskSpec& spec, Index queries, Index keys) {
  const auto mask = resolve(spec, counted(queries), counted(keys));
  return mask ? "" : mask.error().message();
}

std::shared_ptr<const Matrix> given_mask(Matrix matrix) { return std::make_shared<const Matrix>(std::move(matrix)); }

TEST(Mask, KindSaysWhatActsOnTheSentence) {
  const Tokens plain = counted(4), with_pads = with_padding_marked(counted(4), 1);
  EXPECT_EQ(resolved({}, plain).kind(), "none");
  EXPECT_EQ(resolved({.causal = true}, plain).kind(), "causal");
  EXPECT_EQ(resolved({}, with_pads).kind(), "padding");
  EXPECT_EQ(resolved({.causal = true}, with_pads).kind(), "causal+padding");
  EXPECT_EQ(resolved({.padding = false}, with_pads).kind(), "none");
  EXPECT_EQ(resolved({.painted = {{0, 0, false}}}, plain).kind(), "custom");
  EXPECT_EQ(resolved({.painted = {{9, 9, false}}}, plain).kind(), "none");
  EXPECT_EQ(resolved({.causal = true, .given = given_mask(Matrix::Zero(4, 4))}, plain).kind(), "custom");
}

TEST(Mask, WindowsChunksAndPrefixesLimitWhatIsSeen) {
  const Tokens six = counted(6);
  const auto row = [&](const MaskSpec& spec, Index query) {
    const Mask mask = resolved(spec, six);
    std::string seen;
    for (Index key = 0; key < 6; ++key) seen += mask.allowed(query, key) ? '1' : '0';
    return seen;
  };
  EXPECT_EQ(row({.causal = true, .window = 3}, 4), "001110");
  EXPECT_EQ(row({.window = 2}, 3), "001110");
  EXPECT_EQ(row({.chunk = 4}, 1), "111100");
  EXPECT_EQ(row({.causal = true, .chunk = 2}, 3), "001100");
  EXPECT_EQ(row({.causal = true, .prefix = 3}, 0), "111000");
  EXPECT_EQ(row({.causal = true, .prefix = 3}, 4), "111110");
  EXPECT_EQ(row({.causal = true, .window = 2, .prefix = 1}, 5), "100011");
  EXPECT_EQ(row({.window = 2, .painted = {{3, 0, true}}}, 3), "101110");
  EXPECT_EQ(resolved({.causal = true, .window = 6}, six).kind(), "causal");
  EXPECT_EQ(resolved({.causal = true, .window = 5}, six).kind(), "causal+window:5");
  EXPECT_EQ(resolved({.chunk = 4, .prefix = 2}, six).kind(), "chunk:4+prefix:2");
  EXPECT_EQ(resolved({.prefix = 2}, six).kind(), "none");
}

TEST(Mask, WhatIsAddedIsWhatIsAllowedForEveryMixture) {
  for (const bool causal : {false, true})
    for (const Index window : {0, 1, 3, 9})
      for (const Index chunk : {0, 2, 5})
        for (const Index prefix : {0, 2, 8}) {
          MaskSpec spec{.causal = causal, .window = window, .chunk = chunk, .prefix = prefix};
          spec.painted = {{1, 5, true}, {4, 2, false}};  // one of them looks ahead
          const Tokens queries = counted(7), keys = with_padding_marked(counted(7), 1);
          const Mask mask = resolved(spec, queries, keys);
          Matrix all = Matrix::Zero(7, 7);
          mask.add_to(all, 0);
          Matrix part = Matrix::Zero(3, 5);
          mask.add_to(part, 2);
          for (Index i = 0; i < 7; ++i)
            for (Index j = 0; j < 7; ++j) {
              EXPECT_EQ(all(i, j), static_cast<float>(reference::added(spec, keys, i, j))) << i << " " << j;
              EXPECT_EQ(mask.added(i, j), all(i, j));
              if (i >= 2 && i < 5 && j < 5) { EXPECT_EQ(part(i - 2, j), all(i, j)); }
              if (mask.allowed(i, j)) { EXPECT_GT(mask.reach(i + 1), j); }
            }
        }
}

TEST(Mask, WordsAreReadAsTheyAreWritten) {
  for (const char* words : {"none", "causal", "padding", "causal+padding", "window:0", "causal+window:4096",
                            "causal+padding+window:8+chunk:4+prefix:2"}) {
    const auto spec = parse_mask_words("--mask", words);
    ASSERT_TRUE(spec) << words;
    EXPECT_EQ(mask_words(*spec), words);
  }
  for (const char* words : {"", "caus", "causal+", "+causal", "causal+causal", "window", "window:", "window:-1",
                            "window:x", "window:99999999999", "chunk:0", "prefix:0", "none+causal", "causal:3"})
    EXPECT_FALSE(parse_mask_words("--mask", words)) << words;
}

TEST(Mask, NoneAllowsEverything) {
  const Mask mask = resolved({}, counted(3), counted(5));
  EXPECT_EQ(mask.queries(), 3);
  EXPECT_EQ(mask.keys(), 5);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j) EXPECT_TRUE(mask.allowed(i, j));
}

TEST(Mask, CausalAllowsTheLowerTriangle) {
  for (const auto& [queries, keys] : {std::pair<Index, Index>{5, 5}, {5, 3}, {3, 5}, {1, 1}}) {
    const Mask mask = resolved({.causal = true}, counted(queries), counted(keys));
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < keys; ++j) EXPECT_EQ(mask.allowed(i, j), j <= i);
  }
}

TEST(Mask, PaddingBlocksKeysAndNotQueries) {
  Tokens tokens = counted(5);
  tokens.tokens[1].pad = tokens.tokens[4].pad = true;
  const Mask mask = resolved({}, tokens);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(mask.allowed(i, j), j != 1 && j != 4);
}

TEST(Mask, PaddingOfTheQueriesDoesNotBlockKeys) {
  const Mask mask = resolved({}, with_padding_marked(counted(3), 3), counted(2));
  EXPECT_TRUE(mask.allowed(2, 1));
  EXPECT_EQ(mask.kind(), "none");
}

TEST(Mask, GivenOfOneRowHoldsForEveryQuery) {
  Matrix row(1, 3);
  row << 0, -kFloatInfinity, -2;
  const Mask mask = resolved({.given = given_mask(row)}, counted(4), counted(3));
  for (Index i = 0; i < 4; ++i) {
    EXPECT_TRUE(mask.allowed(i, 0));
    EXPECT_FALSE(mask.allowed(i, 1));
    EXPECT_EQ(mask.added(i, 2), -2.0f);
  }
}

TEST(Mask, GivenOfOneColumnHoldsForEveryKey) {
  Matrix column(3, 1);
  column << 0, -kFloatInfinity, 5;
  const Mask mask = resolved({.given = given_mask(column)}, counted(3), counted(4));
  for (Index j = 0; j < 4; ++j) {
    EXPECT_EQ(mask.added(0, j), 0.0f);
    EXPECT_FALSE(mask.allowed(1, j));
    EXPECT_EQ(mask.added(2, j), 5.0f);
  }
}

TEST(Mask, GivenOfOneCellHoldsForEverything) {
  const Mask mask = resolved({.given = given_mask(Matrix::Constant(1, 1, -3.0f))}, counted(2), counted(6));
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(mask.added(i, j), -3.0f);
}

TEST(Mask, LargeFiniteNumbersMaskAsMinusInfinityDoes) {
  for (const float number : {-1e4f, -65504.0f, -1e9f, std::numeric_limits<float>::lowest(), -kFloatInfinity}) {
    Matrix given = Matrix::Zero(3, 3);
    given << 0, number, -2, 1.5f, 0, number, number, number, 0;
    const Mask mask = resolved({.given = given_mask(given)}, counted(3));
    Matrix scores = Matrix::Constant(3, 3, 7.0f);
    mask.add_to(scores, 0);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) {
        EXPECT_EQ(mask.allowed(i, j), given(i, j) > -1e3f) << number << " " << i << " " << j;
        EXPECT_EQ(mask.added(i, j), given(i, j) > -1e3f ? given(i, j) : -kFloatInfinity);
        EXPECT_EQ(scores(i, j), 7.0f + mask.added(i, j));
      }
  }
}

TEST(Mask, ARowOfNothingButLargeNumbersIsNoEmptyRow) {
  Matrix given = Matrix::Constant(2, 3, -1e9f);
  given(1, 2) = std::numeric_limits<float>::lowest();
  const Mask mask = resolved({.given = given_mask(given)}, counted(2), counted(3));
  for (Index j = 0; j < 3; ++j) EXPECT_EQ(mask.added(0, j), -1e9f);
  const float lowest = std::numeric_limits<float>::lowest();
  const Mask all = resolved({.given = given_mask(Matrix::Constant(2, 3, lowest))}, counted(2), counted(3));
  for (Index j = 0; j < 3; ++j) EXPECT_EQ(all.added(0, j), lowest) << "4,000 less is the same float";
  EXPECT_TRUE(mask.allowed(1, 0));
  EXPECT_FALSE(mask.allowed(1, 2)) << "far below the others of its row";
}

TEST(Mask, WhatMasksIsFarBelowTheOpenCellsOfItsRow) {
  Matrix row(1, 4);
  row << -1e9f, 0, 0, -1e9f;
  const MaskSpec causal{.causal = true, .given = given_mask(row)};
  const Mask mask = resolved(causal, counted(4));
  EXPECT_TRUE(mask.allowed(0, 0)) << "the only key of its row";
  EXPECT_FALSE(mask.allowed(1, 0));
  EXPECT_FALSE(mask.allowed(3, 3));
  Matrix part = Matrix::Zero(2, 3);
  mask.add_to(part, 1);
  EXPECT_EQ(part(0, 0), -kFloatInfinity);
  EXPECT_EQ(part(1, 1), 0.0f);
  MaskSpec painted = causal;
  painted.painted = {{1, 0, true}, {2, 1, false}, {2, 2, false}};
  const Mask by_hand = resolved(painted, counted(4));
  EXPECT_TRUE(by_hand.allowed(2, 0)) << "nothing else of its row is open";
  EXPECT_EQ(by_hand.added(1, 0), 0.0f);
}

TEST(Mask, GivenOfAnotherShapeIsRefusedWithBothShapes) {
  const auto line = [](Index rows, Index cols) {
    return refused({.given = given_mask(Matrix::Zero(rows, cols))}, 4, 6);
  };
  EXPECT_EQ(line(3, 6), "mask: shape (queries, keys): expected (4, 6), found (3, 6)");
  EXPECT_EQ(line(6, 4), "mask: shape (queries, keys): expected (4, 6), found (6, 4)");
  EXPECT_EQ(line(1, 5), "mask: shape (queries, keys): expected (4, 6), found (1, 5)");
  EXPECT_EQ(line(0, 0), "mask: shape (queries, keys): expected (4, 6), found (0, 0)");
  EXPECT_EQ(line(4, 6), "");
}

TEST(Mask, GivenThatIsNotANumberIsRefusedWithItsPlace) {
  Matrix bad = Matrix::Zero(2, 3);
  bad(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refused({.given = given_mask(bad)}, 2, 3), "mask: (1, 2): expected a finite number or -inf, found nan");
  bad(0, 1) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refused({.given = given_mask(bad)}, 2, 3), "mask: (0, 1): expected a finite number or -inf, found inf");
}

TEST(Mask, PaintedOverridesCausalPaddingAndGiven) {
  Matrix additive = Matrix::Constant(4, 4, 2.5f);
  additive(2, 0) = -kFloatInfinity;
  const MaskSpec spec{.causal = true,
                      .given = given_mask(additive),
                      .painted = {{0, 2, true}, {1, 3, true}, {2, 0, true}, {2, 1, false}, {3, 3, true}}};
  const Mask mask = resolved(spec, with_padding_marked(counted(4), 1));
  EXPECT_EQ(mask.added(0, 2), 0.0f) << "an allowed cell in the causal upper triangle";
  EXPECT_EQ(mask.added(1, 3), 0.0f) << "causal and padding at once";
  EXPECT_EQ(mask.added(2, 0), 0.0f) << "blocked by the given matrix";
  EXPECT_EQ(mask.added(2, 1), -kFloatInfinity) << "a blocked cell";
  EXPECT_EQ(mask.added(3, 3), 0.0f) << "padding";
  EXPECT_EQ(mask.added(2, 2), 2.5f) << "a cell that was not painted";
  EXPECT_FALSE(mask.allowed(0, 1));
}

TEST(Mask, PaintKeepsTheOrderAndTheLastStrokeWins) {
  Random random(5);
  std::vector<PaintedCell> painted;
  Eigen::MatrixXi last = Eigen::MatrixXi::Constant(7, 7, -1);
  for (int stroke = 0; stroke < 300; ++stroke) {
    const PaintedCell cell{draw(random, 0, 6), draw(random, 0, 6), draw(random, 0, 1) == 1};
    paint(painted, cell);
    last(cell.query, cell.key) = cell.allowed;
  }
  EXPECT_TRUE(std::is_sorted(painted.begin(), painted.end()));
  EXPECT_EQ(static_cast<Index>(painted.size()), (last.array() >= 0).count());
  for (const auto& cell : painted) EXPECT_EQ(last(cell.query, cell.key), static_cast<int>(cell.allowed));
}

TEST(Mask, PaintingTheOtherWayRoundReplacesTheCell) {
  std::vector<PaintedCell> painted;
  paint(painted, {2, 1, true});
  paint(painted, {0, 3, false});
  paint(painted, {2, 1, false});
  EXPECT_EQ(painted, (std::vector<PaintedCell>{{0, 3, false}, {2, 1, false}}));
}

TEST(Mask, CellsOutsideTheSentenceAreIgnored) {
  const MaskSpec spec{
      .painted = {
          {-1, 0, false}, {0, -2, false}, {0, 1, false}, {0, 3, false}, {1, -3, false}, {2, 7, false}, {3, 0, false}}};
  const Mask mask = resolved(spec, counted(3));
  Matrix scores = Matrix::Zero(3, 3);
  mask.add_to(scores, 0);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(mask.allowed(i, j), !(i == 0 && j == 1));
      EXPECT_EQ(scores(i, j) == 0.0f, mask.allowed(i, j));
    }
  }
}

TEST(Mask, PaintedCellsComeBackWhenTheSentenceGrows) {
  const MaskSpec spec{.painted = {{0, 3, false}}};
  EXPECT_TRUE(resolved(spec, counted(2)).allowed(0, 1));
  EXPECT_FALSE(resolved(spec, counted(4)).allowed(0, 3));
}

MaskSpec random_spec(Random& random, Index queries, Index keys) {
  MaskSpec spec{.causal = draw(random, 0, 1) == 1, .padding = draw(random, 0, 3) > 0};
  if (draw(random, 0, 1) == 1) {
    Matrix matrix(draw(random, 0, 2) ? queries : 1, draw(random, 0, 2) ? keys : 1);
    for (Index i = 0; i < matrix.size(); ++i) {
      const Index what = draw(random, 0, 3);
      matrix.data()[i] = what == 0 ? -kFloatInfinity : what == 1 ? random.symmetric(3.0f) : 0.0f;
    }
    spec.given = given_mask(std::move(matrix));
  }
  for (Index strokes = draw(random, 0, 12); strokes > 0; --strokes)
    paint(spec.painted, {draw(random, 0, queries + 2), draw(random, 0, keys + 2), draw(random, 0, 1) == 1});
  return spec;
}

TEST(Mask, AddToAgreesWithAddedAndWithThePlainRules) {
  Random random(17);
  for (int round = 0; round < 400; ++round) {
    const Index queries = draw(random, 1, 12), keys = draw(random, 1, 12);
    Tokens key_tokens = counted(keys);
    for (auto& token : key_tokens.tokens) token.pad = draw(random, 0, 4) == 0;
    const MaskSpec spec = random_spec(random, queries, keys);
    const Mask mask = resolved(spec, counted(queries), key_tokens);
    const Index first = draw(random, 0, queries - 1), rows = draw(random, 1, queries - first);
    const Matrix before = reference::random_matrix(random, rows, keys, 4.0f);
    Matrix after = before;
    mask.add_to(after, first);
    for (Index r = 0; r < rows; ++r) {
      for (Index key = 0; key < keys; ++key) {
        const double expected = reference::added(spec, key_tokens, first + r, key);
        ASSERT_EQ(static_cast<double>(mask.added(first + r, key)), expected) << round;
        ASSERT_EQ(mask.allowed(first + r, key), expected != reference::kBlocked) << round;
        ASSERT_EQ(after(r, key), before(r, key) + static_cast<float>(expected)) << round;
      }
    }
  }
}

TEST(MaskSpec, IsComparedByValue) {
  const MaskSpec spec{
      .causal = true, .given = given_mask(Matrix::Constant(2, 2, -kFloatInfinity)), .painted = {{0, 1, true}}};
  MaskSpec other = spec;
  other.given = given_mask(Matrix(*spec.given));
  EXPECT_NE(spec.given, other.given);
  EXPECT_EQ(spec, other);
  other.given = given_mask(Matrix::Zero(2, 2));
  EXPECT_NE(spec, other);
  other.given = given_mask(Matrix::Constant(1, 4, -kFloatInfinity));
  EXPECT_NE(spec, other);
  other.given = nullptr;
  EXPECT_NE(spec, other);
  EXPECT_NE(other, spec);
}

TEST(MaskSpec, DiffersInEachOfItsFields) {
  const MaskSpec spec;
  EXPECT_EQ(spec, MaskSpec{});
  EXPECT_NE(spec, MaskSpec{.causal = true});
  EXPECT_NE(spec, MaskSpec{.padding = false});
  EXPECT_NE(spec, (MaskSpec{.painted = {{0, 0, true}}}));
  EXPECT_NE((MaskSpec{.painted = {{0, 0, false}}}), (MaskSpec{.painted = {{0, 0, true}}}));
}

}  // namespace
}  // namespace headlight
