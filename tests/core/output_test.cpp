#include "math/output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "drawn.h"
#include "reference.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::counted_words;
using reference::draw;
using reference::random_matrix;
using reference::sentence;

/// A model that predicts words; ids only where `vocabulary` is null.
Model speaking(Index words, std::shared_ptr<const Vocabulary> vocabulary) {
  Model model;
  model.output = OutputWeights{.weight = table_of(Matrix::Zero(words, 4))};
  model.vocabulary = std::move(vocabulary);
  return model;
}

Model with_ids() {
  Vocabulary vocabulary{.words = {"a", "b", "7"}, .ids = {100, 7, 300}};
  return speaking(3, std::make_shared<const Vocabulary>(std::move(vocabulary)));
}

TEST(Logits, AgreeWithTheFormulasInEveryRow) {
  Random random(90);
  for (int round = 0; round < 40;) {
    const Request request = reference::drawn_request(random, {.least_width = 4, .longest = 20});
    const auto trace = ask(request);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->logits.size() > 0, trace->model->output.has_value());
    if (!trace->model->output) continue;
    ++round;
    const auto expected = reference::answer(request, *trace->model).logits;
    EXPECT_LE(reference::difference(logit_rows(*trace, 0, trace->queries()), expected), 1e-4) << round;
    EXPECT_TRUE(same(logit_rows(*trace, trace->answering, 1), trace->logits)) << round;
  }
}

TEST(Logits, OfFreshWeightsAreOverTheVocabulary) {
  for (const bool tied : {true, false}) {
    const Config config{.d_model = 64, .tied = tied};
    const auto trace = ask({.config = config, .vocabulary = counted_words(50), .tokens = counted(6)});
    ASSERT_TRUE(trace && trace->model->output);
    EXPECT_EQ(trace->logits.size(), 50);
    EXPECT_EQ(same(weight_rows(*trace->model->output->weight, 3, 1), random_embedding(config, "w3")), tied);
    EXPECT_EQ(trace->model->output->scale, 0.125f);
    EXPECT_LT(trace->logits.cwiseAbs().maxCoeff(), 10.0f) << "a few units";
    EXPECT_GT(trace->logits.cwiseAbs().maxCoeff(), 0.1f);
  }
  EXPECT_FALSE(random_model({}, counted_words(0))->output) << "there is nothing to say";
  EXPECT_FALSE(ask({.tokens = counted(6)})->model->output);
}

TEST(Words, NoRowIsOneBeyondTheVocabularyOrWithoutAText) {
  const Model model = speaking(6, std::make_shared<const Vocabulary>(Vocabulary{.words = {"a", "", "c"}, .ids = {}}));
  const Vector chances{{0.1f, 0.2f, 0.05f, 0.3f, 0.25f, 0.1f}};
  const auto best = most_probable(model, chances, 5);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].text + best[1].text, "ac");
  EXPECT_EQ(best[0].probability, 0.1f) << "of all rows";
  EXPECT_EQ(most_changed(model, chances, Vector{{0, 0, 1, 0, 0, 0}}, 9), (std::vector<Index>{2, 0}));
  EXPECT_EQ(most_probable(speaking(6, nullptr), chances, 5).size(), 5u) << "ids";
  for (const Index row : {0, 2}) EXPECT_TRUE(is_word(model, row));
  for (const Index row : {1, 3, 5}) EXPECT_FALSE(is_word(model, row));
}

TEST(Probabilities, SumToOneAtAnyTemperature) {
  Random random(91);
  for (const float temperature : {1e-30f, 0.01f, 0.5f, 1.0f, 7.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
    for (const float spread : {0.0f, 1.0f, 100.0f, 1e30f}) {
      const Vector chances = probabilities(random_matrix(random, 1, 700, spread), temperature);
      ASSERT_TRUE(chances.allFinite()) << temperature << " " << spread;
      EXPECT_NEAR(chances.cast<double>().sum(), 1.0, 1e-6) << temperature << " " << spread;
      EXPECT_GE(chances.minCoeff(), 0.0f);
    }
  }
  EXPECT_EQ(probabilities({}, 1.0f).size(), 0);
}

TEST(Probabilities, AreTheSoftmaxOfTheScoresOverTheTemperature) {
  Random random(92);
  const Matrix logits = random_matrix(random, 1, 90, 8.0f);
  for (const float temperature : {0.3f, 1.0f, 2.0f}) {
    const reference::Grid expected = reference::softmax(reference::grid(logits) / double(temperature));
    EXPECT_LE(reference::difference(probabilities(logits, temperature), expected), 1e-7) << temperature;
  }
}

TEST(Probabilities, AtTemperatureZeroAreAllForTheFirstOfTheLargest) {
  EXPECT_TRUE(same(probabilities(Vector{{1, 5, 2, 5}}, 0.0f), Vector{{0, 1, 0, 0}}));
  EXPECT_TRUE(same(probabilities(Vector{{-3}}, 0.0f), Vector{{1}}));
}

TEST(MostProbable, AreInOrderAndOfEqualOnesTheLowerRowComesFirst) {
  const Model model = speaking(6, counted_words(6));
  const auto best = most_probable(model, Vector{{0.1f, 0.3f, 0.1f, 0.3f, 0.15f, 0.05f}}, 5);
  ASSERT_EQ(best.size(), 5u);
  constexpr Index kOrder[] = {1, 3, 4, 0, 2};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(best[i].row, kOrder[i]);
  EXPECT_EQ(best[0], (Candidate{.id = 1, .text = "w1", .probability = 0.3f, .row = 1}));
}

TEST(MostProbable, AreAllOfThemWhereThereAreFewer) {
  const Model model = speaking(3, nullptr);
  EXPECT_EQ(most_probable(model, Vector{{0.2f, 0.5f, 0.3f}}, 10).size(), 3u);
  EXPECT_TRUE(most_probable(model, Vector{{0.2f, 0.5f, 0.3f}}, 0).empty());
  EXPECT_EQ(most_probable(model, Vector{{0.2f, 0.5f, 0.3f}}, 1)[0].text, "1") << "an id where there are no words";
}

TEST(MostProbable, AgreesWithSortingThemAll) {
  Random random(93);
  const Model model = speaking(400, nullptr);
  const Vector chances = probabilities(random_matrix(random, 1, 400, 6.0f));
  const auto best = most_probable(model, chances, 400);
  for (std::size_t i = 1; i < best.size(); ++i) ASSERT_GE(best[i - 1].probability, best[i].probability);
  const auto few = most_probable(model, chances, 10);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), best.begin()));
}

TEST(Candidates, CarryTheIdsOfTheVocabulary) {
  const Candidate word = candidate(with_ids(), Vector{{0.25f, 0.5f, 0.25f}}, 1);
  EXPECT_EQ(word, (Candidate{.id = 7, .text = "b", .probability = 0.5f, .row = 1}));
}

TEST(FindWord, ByItsTextThenByItsId) {
  const Model model = with_ids();
  EXPECT_EQ(find_word(model, "b"), Index{1});
  EXPECT_EQ(find_word(model, "7"), Index{2}) << "a word that is spelled so, before the id";
  EXPECT_EQ(find_word(model, "100"), Index{0});
  for (const char* unknown : {"c", "", "1", "B", " b", "7 ", "300x", "-1", "99999999999999999999"})
    EXPECT_FALSE(find_word(model, unknown)) << unknown;
}

TEST(FindWord, WithoutAVocabularyIsTheRow) {
  const Model model = speaking(5, nullptr);
  EXPECT_EQ(find_word(model, "0"), Index{0});
  EXPECT_EQ(find_word(model, "4"), Index{4});
  for (const char* unknown : {"5", "-1", "a", ""}) EXPECT_FALSE(find_word(model, unknown)) << unknown;
}

TEST(FindWord, FindsNoWordThatTheModelCannotSay) {
  const Model model = speaking(3, counted_words(5));
  EXPECT_EQ(find_word(model, "w2"), Index{2});
  EXPECT_FALSE(find_word(model, "w3")) << "beyond the rows of the output layer";
  Model mute = speaking(3, counted_words(5));
  mute.output.reset();
  EXPECT_FALSE(find_word(mute, "w0"));
}

TEST(Sample, FollowsTheProbabilities) {
  Random random(94);
  const Vector chances = probabilities(random_matrix(random, 1, 12, 2.0f));
  std::vector<int> counts(12, 0);
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(sample(chances, random.uniform()))];
  double chi = 0;  // of 11 degrees of freedom: above 31.3 once in a thousand
  for (Index row = 0; row < 12; ++row) {
    const double expected = kDraws * double(chances(row));
    chi += std::pow(counts[static_cast<std::size_t>(row)] - expected, 2) / expected;
  }
  EXPECT_LT(chi, 31.3);
}

TEST(Sample, HasItsEdges) {
  const float last = std::nextafter(1.0f, 0.0f);
  EXPECT_EQ(sample(Vector{{0, 0.5f, 0.5f, 0}}, 0.0f), 1) << "never what is impossible";
  EXPECT_EQ(sample(Vector{{0, 0.5f, 0.5f, 0}}, std::nextafter(0.5f, 0.0f)), 1);
  EXPECT_EQ(sample(Vector{{0, 0.5f, 0.5f, 0}}, 0.5f), 2);
  EXPECT_EQ(sample(Vector{{0, 0.5f, 0.5f, 0}}, last), 2);
  EXPECT_EQ(sample(Vector{{1}}, last), 0);
  EXPECT_EQ(sample(Vector{{0, 0, 1}}, 0.0f), 2);
  // 0.1f ten times is a little more than 1, 1/3 three times a little less: the draw is a share of the sum.
  EXPECT_EQ(sample(Vector::Constant(10, 0.1f), last), 9);
  EXPECT_EQ(sample(Vector::Constant(3, 0.3f), last), 2);
}

TEST(Sample, GoesByTheLimitsOfEveryRow) {
  const Vector chances{{0.125f, 0.25f, 0.0f, 0.5f, 0.125f}};
  for (int i = 0; i < 1000; ++i) {
    const float at = static_cast<float>(i) / 1000.0f;
    EXPECT_EQ(sample(chances, at), at < 0.125f ? 0 : at < 0.375f ? 1 : at < 0.875f ? 3 : 4) << at;
  }
}

TEST(AnsweringQuery, IsTheLastTokenThatIsNotPadding) {
  Request request{.config = {.arch = Arch::decoder}, .tokens = counted(5)};
  EXPECT_EQ(answering_query(request), 4);
  request.tokens = with_padding_marked(counted(5), 2);
  EXPECT_EQ(answering_query(request), 2);
  request.tokens = with_padding_marked(counted(5), 5);
  EXPECT_EQ(answering_query(request), 0);
  request.tokens = counted(5);
  request.tokens.tokens[0].pad = true;
  EXPECT_EQ(answering_query(request), 4);
  request.tokens = padded(counted(2), 7);
  EXPECT_EQ(answering_query(request), 1);
}

TEST(AnsweringQuery, OfAnEncoderIsTheFirstMask) {
  for (const char* mask : {"[MASK]", "<mask>"}) {
    Request request{.tokens = sentence({"the", mask, "sat", mask, "."})};
    EXPECT_EQ(answering_query(request), 1) << mask;
    request.config.arch = Arch::decoder;
    EXPECT_EQ(answering_query(request), 4) << mask;
  }
  EXPECT_EQ(answering_query({.tokens = sentence({"the", "mask"})}), 1);
}

TEST(AnsweringQuery, OfAnEncoderDecoderIsOfTheTarget) {
  const Config config{.arch = Arch::encoder_decoder};
  EXPECT_EQ(answering_query({.config = config, .tokens = counted(9), .target = counted(3)}), 2);
}

}  // namespace
}  // namespace headlight
