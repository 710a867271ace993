#include "heads/head_measures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "drawn.h"

// The measures against their formulas written out once more over whole patterns, and against patterns with known
// measures.

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::drawn_request;
using reference::for_each_head;
using reference::pattern;
using reference::sentence;

std::vector<HeadMeasures> measured(const std::vector<std::shared_ptr<const Trace>>& traces, int threads = 1) {
  MeasureSums sums;
  for (const auto& trace : traces) {
    Progress progress;
    EXPECT_TRUE(add_sentence(sums, *trace, progress, threads));
    EXPECT_NEAR(progress.done, 1.0f, 1e-4f);
  }
  return measures_of(sums);
}

/// Patterns of one layer, over the given tokens.
std::shared_ptr<const Trace> given(std::vector<Matrix> patterns, Tokens queries, Tokens keys, MaskSpec mask = {}) {
  auto model = std::make_shared<Model>();
  ExternalStack stack;
  stack.query_tokens = std::move(queries);
  stack.key_tokens = std::move(keys);
  stack.patterns = {std::move(patterns)};
  model->given = ExternalInputs{{{Stack::self, std::move(stack)}}};
  return ask(reference::request_for(std::move(model), std::move(mask)));
}

std::shared_ptr<const Trace> given(Matrix weights, const Tokens& tokens) {
  return given(std::vector<Matrix>{std::move(weights)}, tokens, tokens);
}

/// The measures of the only head.
HeadMeasures of(const std::shared_ptr<const Trace>& trace) { return measured({trace}).at(0); }

TEST(HeadMeasures, UniformRowsHaveTheEntropyOfTheirLength) {
  const HeadMeasures open = of(given(Matrix::Constant(8, 8, 0.125f), counted(8)));
  EXPECT_NEAR(*open[Measure::entropy], std::log(8.0), 1e-6);
  EXPECT_NEAR(*open[Measure::normalized], 1, 1e-6);
  EXPECT_EQ(open[Measure::confidence], 0.125f);
  EXPECT_EQ(open[Measure::same], 0.125f);
  EXPECT_EQ(open[Measure::first], 0.125f);
  EXPECT_EQ(open[Measure::largest], 0.125f);
  EXPECT_NEAR(*open[Measure::distance], 21.0 / 8.0, 1e-6) << "(n² − 1) / 3n";

  // A softmax over equal scores behind a causal mask: row i is uniform over its i + 1 keys.
  Request request{.config = {.d_model = 4, .num_heads = 1, .num_layers = 1, .ffn = 0},
                  .tokens = counted(100),
                  .mask = {.causal = true}};
  request.edits.scale = 0.0f;
  const HeadMeasures causal = of(ask(request));
  double entropy = 0, confidence = 0, distance = 0;
  for (int i = 1; i <= 100; ++i) {
    entropy += std::log(i) / 100;
    confidence += 1.0 / i / 100;
    distance += (i - 1) / 2.0 / 100;
  }
  EXPECT_NEAR(*causal[Measure::entropy], entropy, 1e-5);
  EXPECT_NEAR(*causal[Measure::normalized], 1, 1e-6) << "the first row has nothing to choose";
  EXPECT_NEAR(*causal[Measure::confidence], confidence, 1e-6);
  EXPECT_NEAR(*causal[Measure::first], confidence, 1e-6);
  EXPECT_NEAR(*causal[Measure::distance], distance, 1e-4);
  EXPECT_EQ(causal[Measure::largest], 1.0f);
}

TEST(HeadMeasures, AHeadThatLooksAtOnePlaceHasThatMeasureOne) {
  const Index count = 6;
  Matrix previous = Matrix::Zero(count, count), next = previous, first = previous;
  previous(0, 0) = next(count - 1, count - 1) = 1;
  for (Index i = 1; i < count; ++i) previous(i, i - 1) = next(i - 1, i) = 1;
  first.col(0).setOnes();
  const auto all =
      measured({given({previous, next, Matrix::Identity(count, count), first}, counted(count), counted(count))});
  EXPECT_EQ(all[0][Measure::previous], 1.0f);
  EXPECT_EQ(all[0][Measure::next], 0.0f);
  EXPECT_EQ(all[1][Measure::next], 1.0f);
  EXPECT_EQ(all[1][Measure::previous], 0.0f);
  EXPECT_EQ(all[2][Measure::same], 1.0f);
  EXPECT_EQ(all[2][Measure::distance], 0.0f);
  EXPECT_EQ(all[3][Measure::first], 1.0f);
  for (const HeadMeasures& one : all) {
    EXPECT_EQ(one[Measure::entropy], 0.0f);
    EXPECT_EQ(one[Measure::confidence], 1.0f);
    EXPECT_FALSE(one[Measure::special]) << "there are no special tokens";
    EXPECT_FALSE(one[Measure::duplicate]) << "no token comes twice";
    EXPECT_FALSE(one[Measure::induction]);
  }
}

TEST(HeadMeasures, RandomHeadsRestOnNothing) {
  Random random(1);
  int resting = 0;
  for (int i = 0; i < 1000; ++i) {
    Matrix weights(6, 6);
    for (Index row = 0; row < 6; ++row) {
      for (Index key = 0; key < 6; ++key) {
        float normal = -6;  // of variance 1, but for its tails
        for (int j = 0; j < 12; ++j) normal += random.uniform();
        weights(row, key) = std::exp(normal);
      }
      weights.row(row) /= weights.row(row).sum();
    }
    resting += rests_on_one(of(given(weights, sentence({"a", "b", "c", "d", "e", "f"}))));
  }
  EXPECT_LE(resting, 2);
}

TEST(HeadMeasures, ASinkIsTheColumnThatAllRowsLookAtMost) {
  Matrix weights = Matrix::Constant(6, 6, 0.08f);
  weights.col(4).setConstant(0.6f);
  const HeadMeasures one = of(given(weights, sentence({"a", "b", "c", "d", "e", "f"})));
  EXPECT_NEAR(*one[Measure::sink], 0.6, 1e-6);
  EXPECT_EQ(one.sink.key, 4);
  EXPECT_EQ(one.sink.text, "e");
  EXPECT_NEAR(one.sink.even, 1.0 / 6, 1e-6);
  EXPECT_FALSE(one.sink.value) << "no values were given";
  EXPECT_TRUE(rests_on_one(one));
  // A causal mask gives the first key 1, 1/2, … 1/6 of even rows: its share of .41 says nothing.
  Matrix causal = Matrix::Zero(6, 6);
  for (Index row = 0; row < 6; ++row) causal.row(row).head(row + 1).setConstant(1.0f / static_cast<float>(row + 1));
  const HeadMeasures even = of(given({causal}, counted(6), counted(6), {.causal = true}));
  EXPECT_GT(*even[Measure::sink], 0.4f);
  EXPECT_NEAR(even.sink.even, *even[Measure::sink], 1e-6);
  EXPECT_FALSE(rests_on_one(even));

  const auto trace = ask(Request{.config = {.d_model = 8, .num_heads = 2, .num_layers = 1}, .tokens = counted(5)});
  const HeadMeasures head = measured({trace}).at(1);
  const Matrix values = head_columns(trace->attention(Stack::self, 0).value, 1, 2);
  EXPECT_NEAR(*head.sink.value, values.row(*head.sink.key).norm(), 1e-6);
  const float all = values.rowwise().norm().sum();
  EXPECT_NEAR(*head.sink.other_values, (all - *head.sink.value) / 4, 1e-6);
}

TEST(HeadMeasures, DuplicateAndInductionFollowEarlierOccurrences) {
  const Tokens tokens = sentence({"a", "b", "c", "a", "b", "a", "a"});
  Matrix duplicate = Matrix::Zero(7, 7), induction = duplicate;
  const std::vector<std::pair<Index, std::vector<Index>>> earlier{{3, {0}}, {4, {1}}, {5, {0, 3}}, {6, {0, 3, 5}}};
  for (Matrix* each : {&duplicate, &induction}) each->diagonal().setOnes();
  for (const auto& [query, places] : earlier) {
    duplicate.row(query).setZero();
    induction.row(query).setZero();
    for (const Index place : places) {
      duplicate(query, place) = 1.0f / static_cast<float>(places.size());
      induction(query, place + 1) = 1.0f / static_cast<float>(places.size());
    }
  }
  const auto all = measured({given({duplicate, induction}, tokens, tokens)});
  EXPECT_NEAR(*all[0][Measure::duplicate], 1, 1e-6);
  EXPECT_NEAR(*all[1][Measure::induction], 1, 1e-6);
  EXPECT_EQ(all[0][Measure::induction], 0.0f);
  EXPECT_EQ(all[1][Measure::duplicate], 0.0f);
}

TEST(HeadMeasures, PaddingAndEmptyRowsAreLeftOut) {
  Tokens tokens = with_padding_marked(counted(5), 2);
  tokens.tokens[0].pad = true;
  tokens.tokens[1].special = tokens.tokens[4].special = true;
  Matrix weights = Matrix::Zero(5, 5);
  weights.row(0).setConstant(0.2f);
  weights.row(1) << 0, 0.5f, 0.5f, 0, 0;
  weights.row(3).setConstant(0.2f);  // row 2 looks at nothing
  const HeadMeasures one = of(given({weights}, tokens, tokens, {.padding = false}));
  EXPECT_NEAR(*one[Measure::entropy], std::log(2.0), 1e-6);
  EXPECT_NEAR(*one[Measure::normalized], std::log(2.0) / std::log(5.0), 1e-6);
  EXPECT_EQ(one[Measure::first], 0.5f) << "the first that is not padding";
  EXPECT_EQ(one[Measure::special], 0.5f) << "padding is not special";
  EXPECT_EQ(one[Measure::same], 0.5f);
  EXPECT_EQ(one[Measure::largest], 0.5f);

  const HeadMeasures nothing = of(given(Matrix::Zero(3, 3), counted(3)));
  for (const Measure measure : kMeasures) EXPECT_FALSE(nothing[measure]) << name(measure);
}

TEST(HeadMeasures, OfWordsAreThoseOfTheMergedPatternInTheRowsOfWords) {
  const auto tokens_of = [](std::vector<std::pair<std::size_t, std::size_t>> ranges) {
    Tokens tokens;
    tokens.text = "unhappy cats";
    tokens.tokens.push_back({.id = 1, .text = "<s>", .raw = "<s>", .special = true});
    for (const auto& [begin, end] : ranges) {
      const std::string piece = tokens.text.substr(begin, end - begin);
      tokens.tokens.push_back({.id = hashed_id(piece), .text = piece, .raw = piece, .begin = begin, .end = end});
    }
    return tokens;
  };
  Matrix pieces(4, 4), words(3, 3);
  pieces << .7f, .1f, .1f, .1f, .1f, .2f, .3f, .4f, .3f, .4f, .1f, .2f, .5f, .1f, .3f, .1f;
  words << .7f, .2f, .1f, .2f, .5f, .3f, .5f, .4f, .1f;  // un|happy: of rows the mean, of columns the sum
  const HeadMeasures one = of(given(pieces, tokens_of({{0, 2}, {2, 7}, {8, 12}})));
  const HeadMeasures merged = of(given(words, tokens_of({{0, 7}, {8, 12}})));
  for (const Measure measure : kMeasures) {
    ASSERT_EQ(one.of_word(measure).has_value(), merged.of_word(measure).has_value()) << name(measure);
    EXPECT_NEAR(one.of_word(measure).value_or(0), merged.of_word(measure).value_or(0), 1e-6) << name(measure);
  }
  EXPECT_NEAR(*one.of_word(Measure::same), (.5 + .1) / 2, 1e-6);
  EXPECT_NEAR(*one.of_word(Measure::previous), .4, 1e-6) << "of the second word alone: <s> is none";
  EXPECT_NEAR(*one.of_word(Measure::next), .3, 1e-6) << "of the first word alone: <s> is none";
  EXPECT_NEAR(*one.of_word(Measure::special), (.2 + .5) / 2, 1e-6);
  EXPECT_NEAR(*one[Measure::next], (.1 + .3 + .2) / 3, 1e-6);
  // Of four rows one has an earlier same word: that is not what the head does.
  EXPECT_FALSE(of(given(Matrix::Constant(4, 4, .25f), sentence({"a", "b", "c", "a"}))).of_word(Measure::duplicate));
  EXPECT_TRUE(of(given(Matrix::Constant(4, 4, .25f), sentence({"a", "b", "a", "b"}))).of_word(Measure::duplicate));
  const Tokens special = sentence({"[CLS]", "[SEP]"});
  Tokens marks = special;
  for (Token& token : marks.tokens) token.special = true;
  EXPECT_FALSE(of(given(Matrix::Constant(2, 2, .5f), marks)).of_word(Measure::confidence));
}

TEST(HeadMeasures, WordsOfOnePieceHaveTheSameMeasures) {
  Random random(72);
  int same = 0;
  for (int round = 0; round < 40; ++round) {
    const auto trace = ask(drawn_request(random));
    ASSERT_TRUE(trace);
    bool words = true;
    for (const Tokens* tokens : {&trace->request.tokens, &trace->request.target})
      for (const Token& token : tokens->tokens) words &= !token.pad && !token.special;
    if (!words) continue;
    for (const HeadMeasures& one : measured({trace}))
      for (const Measure measure : kMeasures) {
        if (!one.of_word(measure)) continue;
        ++same;
        EXPECT_EQ(one.of_word(measure), one[measure]) << round << name(measure);
      }
  }
  EXPECT_GT(same, 30);
}

TEST(HeadMeasures, AnAttentionBetweenTwoSequencesHasNoPlacesToCompare) {
  const HeadMeasures cross = of(given({Matrix::Constant(3, 3, 1.0f / 3)}, counted(3), sentence({"x", "y", "z"})));
  for (const Measure measure :
       {Measure::distance, Measure::previous, Measure::next, Measure::same, Measure::duplicate, Measure::induction})
    EXPECT_FALSE(cross[measure]) << name(measure);
  for (const Measure measure :
       {Measure::entropy, Measure::normalized, Measure::confidence, Measure::first, Measure::largest})
    EXPECT_TRUE(cross[measure]) << name(measure);
}

/// One head's measures from its whole pattern, straight from the formulas.
std::map<Measure, double> by_formula(const Trace& trace, const HeadRef& head) {
  const Matrix a = pattern(trace, head);
  const auto& queries = trace.query_tokens(head.stack).tokens;
  const auto& keys = trace.key_tokens(head.stack).tokens;
  const Mask& mask = trace.mask_of(head);
  const bool self = head.stack != Stack::cross;
  std::map<Measure, std::pair<double, int>> sums;
  const auto add = [&](Measure measure, double value) { sums[measure].first += value, ++sums[measure].second; };
  double largest = -1;
  for (Index i = 0; i < a.rows(); ++i) {
    const double total = a.row(i).cast<double>().sum();
    if (queries[static_cast<std::size_t>(i)].pad || total <= 0) continue;
    double entropy = 0, distance = 0, special = 0, duplicate = 0, induction = 0;
    Index allowed = 0, weighted = 0, first = -1;
    bool any_special = false, twice = false;
    for (Index j = 0; j < a.cols(); ++j) {
      const double w = static_cast<double>(a(i, j));
      const Token& key = keys[static_cast<std::size_t>(j)];
      if (w > 0) entropy -= w / total * std::log(w / total), ++weighted;
      allowed += mask.allowed(i, j);
      distance += w / total * static_cast<double>(std::abs(i - j));
      if (key.pad) continue;
      if (first < 0) first = j;
      if (key.special) special += w, any_special = true;
      if (!self || j >= i || key.id != queries[static_cast<std::size_t>(i)].id ||
          key.text != queries[static_cast<std::size_t>(i)].text)
        continue;
      twice = true;
      duplicate += w;
      induction += static_cast<double>(a(i, j + 1));
    }
    add(Measure::entropy, entropy);
    if (std::max(allowed, weighted) > 1)
      add(Measure::normalized, entropy / std::log(static_cast<double>(std::max(allowed, weighted))));
    add(Measure::confidence, static_cast<double>(a.row(i).maxCoeff()));
    largest = std::max(largest, static_cast<double>(a.row(i).maxCoeff()));
    if (first >= 0) add(Measure::first, static_cast<double>(a(i, first)));
    if (any_special) add(Measure::special, special);
    if (!self) continue;
    add(Measure::distance, distance);
    if (i > 0) add(Measure::previous, static_cast<double>(a(i, i - 1)));
    if (i + 1 < a.cols()) add(Measure::next, static_cast<double>(a(i, i + 1)));
    add(Measure::same, static_cast<double>(a(i, i)));
    if (twice) add(Measure::duplicate, duplicate), add(Measure::induction, induction);
  }
  std::map<Measure, double> means;
  if (const auto rows = sums[Measure::confidence].second) {
    double most = 0;
    for (Index j = 0; j < a.cols(); ++j) {
      double column = 0;
      for (Index i = 0; i < a.rows(); ++i)
        if (!queries[static_cast<std::size_t>(i)].pad) column += static_cast<double>(a(i, j));
      most = std::max(most, column);
    }
    means[Measure::sink] = most / rows;
  } else {
    sums.clear();
  }
  for (const auto& [measure, sum] : sums) means[measure] = sum.first / sum.second;
  if (largest >= 0) means[Measure::largest] = largest;
  return means;
}

TEST(HeadMeasures, AreTheirFormulasInAnySetting) {
  Random random(71);
  int with_special = 0;
  for (int round = 0; round < 30; ++round) {
    Request request = drawn_request(random);
    for (Tokens* tokens : {&request.tokens, &request.target})
      for (Token& token : tokens->tokens) token.special = reference::once_in(random, 5);
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    const auto measures = measured({trace});
    std::size_t at = 0;
    for_each_head(*trace, [&](const HeadRef& head) {
      const HeadMeasures& one = measures.at(at++);
      ASSERT_EQ(one.head, head);
      const auto expected = by_formula(*trace, head);
      for (const Measure measure : kMeasures) {
        ASSERT_EQ(one[measure].has_value(), expected.contains(measure)) << round << " " << name(measure);
        if (!one[measure]) continue;
        const double value = expected.at(measure);
        ASSERT_NEAR(*one[measure], value, 1e-5 * std::max(1.0, value)) << round << " " << name(measure);
      }
      with_special += one[Measure::special].has_value();
    });
    EXPECT_EQ(at, measures.size());
    for (const int threads : {2, 3})
      ASSERT_EQ(measured({trace}, threads), measures) << round << ": " << threads << " threads";
  }
  EXPECT_GT(with_special, 10);
}

TEST(HeadMeasures, RowsOfAllSentencesCountAlike) {
  const auto trace_of = [](Index count) {
    Request request{.config = {.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 0}, .tokens = counted(count)};
    return ask(request);
  };
  const auto a = trace_of(3), b = trace_of(9);
  const auto both = measured({a, b}), first = measured({a}), second = measured({b});
  for (std::size_t head = 0; head < 2; ++head) {
    EXPECT_NEAR(*both[head][Measure::confidence],
                (3 * *first[head][Measure::confidence] + 9 * *second[head][Measure::confidence]) / 12, 1e-6);
    EXPECT_NEAR(*both[head][Measure::previous],
                (2 * *first[head][Measure::previous] + 8 * *second[head][Measure::previous]) / 10, 1e-6);
    EXPECT_NEAR(*both[head][Measure::sink], (3 * *first[head][Measure::sink] + 9 * *second[head][Measure::sink]) / 12,
                1e-6);
    EXPECT_FALSE(both[head].sink.key) << "each sentence has its own";
    EXPECT_EQ(both[head][Measure::largest], std::max(first[head][Measure::largest], second[head][Measure::largest]));
  }
}

TEST(HeadMeasures, PermutedHeadsHavePermutedMeasures) {
  Random random(72);
  std::vector<Matrix> patterns;
  for (int head = 0; head < 4; ++head) {
    Matrix weights = (reference::random_matrix(random, 9, 9).array() + 1.01f).matrix();
    weights.array().colwise() /= weights.rowwise().sum().array().eval();
    patterns.push_back(weights);
  }
  const auto straight = measured({given(patterns, counted(9), counted(9))});
  const auto turned = measured({given({patterns[2], patterns[0], patterns[3], patterns[1]}, counted(9), counted(9))});
  const std::size_t from[] = {2, 0, 3, 1};
  for (std::size_t head = 0; head < 4; ++head) EXPECT_EQ(turned[head].values, straight[from[head]].values);
}

TEST(HeadMeasures, AStoppedQuestionHasNoAnswer) {
  Progress progress;
  progress.stop = true;
  EXPECT_FALSE(measure_heads(*ask(Request{.tokens = counted(5)}), progress));
}

TEST(HeadMeasures, RankingPutsAbsentOnesLastAndKeepsTies) {
  const std::vector<std::optional<float>> values{0.5f, std::nullopt, 0.9f, 0.5f, -1.0f};
  EXPECT_EQ(ranking(values, false), (std::vector<std::size_t>{2, 0, 3, 4, 1}));
  EXPECT_EQ(ranking(values, true), (std::vector<std::size_t>{4, 0, 3, 2, 1}));
}

}  // namespace
}  // namespace headlight
