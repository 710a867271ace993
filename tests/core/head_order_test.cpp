// Heads found by the words they look at.
#include <algorithm>

#include "drawn.h"
#include "heads/head_measures.h"
#include "heads/head_search.h"

namespace headlight {
namespace {

using reference::ask;
using reference::pattern;
using reference::sentence;

TEST(HeadFind, AWordNamesItsTokensAndTheTokensOfItsPieces) {
  Tokens tokens = sentence({"the", "cat", "saw", "the", "cats"});
  EXPECT_EQ(positions_of(tokens, "the"), (std::vector<Index>{0, 3}));
  EXPECT_EQ(positions_of(tokens, " cat "), (std::vector<Index>{1}));
  EXPECT_TRUE(positions_of(tokens, "dog").empty());
  EXPECT_EQ(positions_of(tokens, "").size(), 5u);
  tokens.tokens[3].pad = true;
  EXPECT_EQ(positions_of(tokens, "the"), (std::vector<Index>{0}));
  EXPECT_EQ(positions_of(tokens, "").size(), 4u);

  Tokens pieces{.text = "unhappy cat", .tokens = {}};
  const auto piece = [&](std::size_t begin, std::size_t end) {
    const std::string raw = pieces.text.substr(begin, end - begin);
    pieces.tokens.push_back({.id = 0, .text = raw, .raw = raw, .begin = begin, .end = end});
  };
  piece(0, 2);
  piece(2, 7);
  piece(7, 11);
  EXPECT_EQ(positions_of(pieces, "unhappy"), (std::vector<Index>{0, 1}));
  EXPECT_EQ(positions_of(pieces, "happy"), (std::vector<Index>{1}));
  EXPECT_EQ(positions_of(pieces, "cat"), (std::vector<Index>{2}));
}

TEST(HeadFind, AWordThatIsThereAgainIsNotFoundByItself) {
  Request request{.config = {.arch = Arch::encoder, .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 0},
                  .tokens = sentence({"he", "says", "he", "goes"})};
  const auto trace = ask(request);
  Progress progress;
  const auto cells = strongest_cells(*trace, {"he", "he"}, progress, 1);
  for (const StrongestCell& one : *cells) {
    const Matrix weights = pattern(*trace, one.head);
    ASSERT_TRUE(one.cell);
    EXPECT_NE(one.cell->query, one.cell->key);
    EXPECT_EQ(one.weight, std::max(weights(0, 2), weights(2, 0)));
  }
  Progress again;
  const auto alone = strongest_cells(*trace, {"says", "says"}, again, 1);
  for (const StrongestCell& one : *alone) {
    ASSERT_TRUE(one.cell) << "it is there once";
    EXPECT_EQ(one.weight, pattern(*trace, one.head)(1, 1));
  }
}

TEST(HeadFind, TheStrongestCellIsTheLargestOfThoseNamed) {
  Random random(75);
  std::vector<std::string> words;
  for (int i = 0; i < 150; ++i) words.push_back("w" + std::to_string(reference::draw(random, 0, 20)));
  Request request{.config = {.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 0},
                  .tokens = sentence(words),
                  .target = sentence({"w3", "x", "w5", "w5"})};
  const auto trace = ask(request);
  const WordPair asked{"w5", "w3"};
  Progress progress;
  const auto cells = strongest_cells(*trace, asked, progress, 1);
  ASSERT_TRUE(cells);
  Progress again;
  EXPECT_EQ(strongest_cells(*trace, asked, again, 3), cells);
  ASSERT_EQ(cells->size(), heads_of(*trace).size());
  for (const StrongestCell& one : *cells) {
    const Matrix weights = pattern(*trace, one.head);
    float largest = -1;
    for (Index i = 0; i < weights.rows(); ++i)
      for (Index j = 0; j < weights.cols(); ++j)
        if (trace->query_tokens(one.head.stack).tokens[static_cast<std::size_t>(i)].text == "w5" &&
            trace->key_tokens(one.head.stack).tokens[static_cast<std::size_t>(j)].text == "w3")
          largest = std::max(largest, weights(i, j));
    ASSERT_TRUE(one.cell);
    EXPECT_EQ(one.weight, largest);
    EXPECT_EQ(weights(one.cell->query, one.cell->key), largest);
  }
  Progress third;
  const auto none = strongest_cells(*trace, {"x", "nobody"}, third, 1);
  for (const StrongestCell& one : *none) EXPECT_FALSE(one.cell);
}

}  // namespace
}  // namespace headlight
