// Heads beside those that do alike, and heads found by the words they look at.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "drawn.h"
#include "heads/head_measures.h"
#include "heads/head_search.h"
#include "heads/head_similarity.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::pattern;
using reference::sentence;

Matrix divergence_of(const Trace& trace, Stack stack = Stack::self, int threads = 1) {
  Progress progress;
  const auto divergence = head_divergence(trace, stack, progress, threads);
  EXPECT_TRUE(divergence);
  return divergence.value_or(Matrix{});
}

double entropy(const Eigen::RowVectorXd& p) {
  double sum = 0;
  for (Index j = 0; j < p.size(); ++j)
    if (p(j) > 0) sum -= p(j) * std::log(p(j));
  return sum;
}

TEST(HeadDivergence, IsTheMeanJensenShannonDivergenceOfTheRows) {
  Random random(73);
  for (int round = 0; round < 15; ++round) {
    const Request request = reference::drawn_request(random, {.longest = kThumbnail});
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    for (const Stack stack : kStacks) {
      if (!trace->has(stack)) continue;
      const std::vector<HeadRef> heads = heads_of(*trace, stack);
      const Matrix apart = divergence_of(*trace, stack);
      ASSERT_EQ(apart.rows(), static_cast<Index>(heads.size()));
      for (const int threads : {2, 3}) ASSERT_TRUE(same(apart, divergence_of(*trace, stack, threads)));
      const Index a = 0, b = apart.rows() - 1;
      const Matrix p = pattern(*trace, heads[0]), q = pattern(*trace, heads[static_cast<std::size_t>(b)]);
      double sum = 0;
      int count = 0;
      for (Index i = 0; i < p.rows(); ++i) {
        Eigen::RowVectorXd x = p.row(i).cast<double>(), y = q.row(i).cast<double>();
        if (trace->query_tokens(stack).tokens[static_cast<std::size_t>(i)].pad || x.sum() == 0 || y.sum() == 0)
          continue;
        x /= x.sum();
        y /= y.sum();
        sum += entropy((x + y) / 2) - (entropy(x) + entropy(y)) / 2;
        ++count;
      }
      EXPECT_NEAR(apart(a, b), count > 0 ? sum / count : 0, 1e-6) << round;
      EXPECT_EQ(apart(a, b), apart(b, a));
      EXPECT_GE(apart.minCoeff(), 0.0f);
      EXPECT_LE(apart.maxCoeff(), std::log(2.0f) + 1e-6f);
      EXPECT_EQ(apart.diagonal().cwiseAbs().maxCoeff(), 0.0f);
    }
  }
}

TEST(HeadDivergence, LongSentencesAreComparedByTheirThumbnails) {
  Request request{.config = {.d_model = 6, .num_heads = 3, .num_layers = 2, .ffn = 0}, .tokens = counted(300)};
  const Matrix apart = divergence_of(*ask(request));
  EXPECT_GT(apart(0, 4), 0.0f);
  EXPECT_LE(apart.maxCoeff(), std::log(2.0f) + 1e-6f);
}

TEST(HeadDivergence, AStoppedQuestionHasNoAnswer) {
  Progress progress;
  progress.stop = true;
  EXPECT_FALSE(head_divergence(*ask(Request{.tokens = counted(5)}), Stack::self, progress));
}

/// Points on a line as far apart as they are.
Matrix on_a_line(const std::vector<float>& points) {
  const auto count = static_cast<Index>(points.size());
  Matrix apart(count, count);
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < count; ++j)
      apart(i, j) = std::abs(points[static_cast<std::size_t>(i)] - points[static_cast<std::size_t>(j)]);
  return apart;
}

TEST(LikeBesideLike, PointsOfALineStandInTheirOrder) {
  EXPECT_EQ(like_beside_like(on_a_line({1.0f, 9.0f, 1.1f, 9.2f, 5.0f, 1.3f})), (std::vector<Index>{0, 2, 5, 4, 1, 3}));
  EXPECT_EQ(like_beside_like(on_a_line({3.0f})), (std::vector<Index>{0}));
  EXPECT_EQ(like_beside_like(on_a_line({3.0f, 1.0f})), (std::vector<Index>{0, 1}));
  EXPECT_TRUE(like_beside_like(Matrix(0, 0)).empty());
}

TEST(LikeBesideLike, EqualOnesEndAndEveryHeadIsThereOnce) {
  Random random(74);
  for (Index count = 1; count < 40; ++count) {
    Matrix apart = Matrix::Zero(count, count);
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < i; ++j) apart(i, j) = apart(j, i) = static_cast<float>(reference::draw(random, 0, 3));
    std::vector<Index> order = like_beside_like(apart), all(static_cast<std::size_t>(count));
    EXPECT_EQ(order, like_beside_like(apart));
    std::iota(all.begin(), all.end(), Index{0});
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all);
  }
}

// Two kinds of heads, shuffled: the groups come together.
TEST(LikeBesideLike, GroupsStayTogether) {
  std::vector<float> points;
  for (int i = 0; i < 20; ++i) points.push_back(i % 3 == 0 ? 100.0f + static_cast<float>(i) : static_cast<float>(i));
  const auto order = like_beside_like(on_a_line(points));
  int changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i) changes += (order[i] % 3 == 0) != (order[i - 1] % 3 == 0);
  EXPECT_EQ(changes, 1);
}

TEST(HeadFind, AWordNamesItsTokensAndTheTokensOfItsPieces) {
  Tokens tokens = sentence({"the", "cat", "saw", "the", "cats"});
  EXPECT_EQ(places_of(tokens, "the"), (std::vector<Index>{0, 3}));
  EXPECT_EQ(places_of(tokens, " cat "), (std::vector<Index>{1}));
  EXPECT_TRUE(places_of(tokens, "dog").empty());
  EXPECT_EQ(places_of(tokens, "").size(), 5u);
  tokens.tokens[3].pad = true;
  EXPECT_EQ(places_of(tokens, "the"), (std::vector<Index>{0}));
  EXPECT_EQ(places_of(tokens, "").size(), 4u);

  Tokens pieces{.text = "unhappy cat", .tokens = {}};
  const auto piece = [&](std::size_t begin, std::size_t end) {
    const std::string raw = pieces.text.substr(begin, end - begin);
    pieces.tokens.push_back({.id = 0, .text = raw, .raw = raw, .begin = begin, .end = end});
  };
  piece(0, 2);
  piece(2, 7);
  piece(7, 11);
  EXPECT_EQ(places_of(pieces, "unhappy"), (std::vector<Index>{0, 1}));
  EXPECT_EQ(places_of(pieces, "happy"), (std::vector<Index>{1}));
  EXPECT_EQ(places_of(pieces, "cat"), (std::vector<Index>{2}));
}

TEST(HeadFind, AWordIsNotFoundByItself) {
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
  for (const StrongestCell& one : *alone) EXPECT_FALSE(one.cell);
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
