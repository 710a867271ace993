#include "math/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/asking.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::counted_words;
using reference::draw;
using reference::pattern;

using TracePtr = std::shared_ptr<const Trace>;

Request speaking(Arch arch, Index words = 40) {
  Request request{.config = {.arch = arch, .d_model = 24, .num_heads = 3, .num_layers = 2, .ffn = 32},
                  .vocabulary = counted_words(words),
                  .tokens = counted(7),
                  .mask = {.causal = true}};
  if (arch == Arch::encoder_decoder) request.target = counted(2);
  return request;
}

std::string sampling_refusal(const Trace& trace, const Sampling& sampling = {}) {
  const auto word = next_word(trace, sampling);
  return word ? "" : word.error().message();
}

Candidate next(const Trace& trace, const Sampling& sampling = {}) {
  const auto word = next_word(trace, sampling);
  EXPECT_TRUE(word);
  return word ? *word : Candidate{};
}

/// `count` words on, each answer lending to the next.
std::vector<std::string> written(Request request, int count, const Sampling& sampling) {
  std::vector<std::string> words;
  TracePtr trace;
  for (int i = 0; i < count; ++i) {
    trace = ask(request, trace.get());
    const Candidate word = next(*trace, sampling);
    words.push_back(word.text);
    request = extended(request, word);
  }
  return words;
}

TEST(NextWord, AtTemperatureZeroIsTheMostProbable) {
  for (const Arch arch : {Arch::decoder, Arch::encoder_decoder}) {
    const auto trace = ask(speaking(arch));
    ASSERT_TRUE(trace);
    const Candidate best = most_probable(*trace->model, probabilities(trace->logits), 1)[0];
    for (const std::uint64_t seed : {0, 1, 2}) {
      const Candidate word = next(*trace, {.seed = seed});
      EXPECT_EQ(word.row, best.row);
      EXPECT_EQ(word.probability, 1.0f);
    }
  }
}

TEST(NextWord, IsDrawnFromTheProbabilities) {
  const auto trace = ask(speaking(Arch::decoder, 6));
  ASSERT_TRUE(trace);
  const Vector chances = probabilities(trace->logits, 2.0f);
  std::vector<int> counts(6, 0);
  constexpr int kDraws = 6000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Candidate word = next(*trace, {.temperature = 2.0f, .seed = seed});
    ASSERT_EQ(word.probability, chances(word.row));
    ++counts[static_cast<std::size_t>(word.row)];
  }
  for (Index row = 0; row < 6; ++row) {
    const double p = double(chances(row));
    EXPECT_NEAR(counts[static_cast<std::size_t>(row)] / double(kDraws), p, 4 * std::sqrt(p * (1 - p) / kDraws)) << row;
  }
}

TEST(NextWord, IsTheSameForTheSameSentenceAndSeed) {
  const Sampling sampling{.temperature = 1.5f, .seed = 5};
  for (const Arch arch : {Arch::decoder, Arch::encoder_decoder}) {
    const auto once = written(speaking(arch), 12, sampling);
    EXPECT_EQ(once, written(speaking(arch), 12, sampling));
    EXPECT_NE(once, written(speaking(arch), 12, {.temperature = 1.5f, .seed = 6}));
    // Stopped half way and gone on with: the same words.
    Request request = speaking(arch);
    for (int i = 0; i < 5; ++i) request = extended(request, next(*ask(request), sampling));
    EXPECT_EQ(written(request, 7, sampling), std::vector<std::string>(once.begin() + 5, once.end()));
  }
}

TEST(NextWord, DoesNotDependOnPaddingAfterTheSentence) {
  const Sampling sampling{.temperature = 1.0f, .seed = 9};
  Request request = speaking(Arch::decoder);
  const Candidate word = next(*ask(request), sampling);
  request.tokens = padded(request.tokens, 12);
  const Candidate other = next(*ask(request), sampling);
  EXPECT_EQ(word.row, other.row);
  EXPECT_NEAR(word.probability, other.probability, 1e-6f);
}

TEST(NextWord, DrawsAnewAtEachPlace) {
  Request request = speaking(Arch::decoder, 40);
  std::set<std::string> different;
  for (const std::string& word : written(request, 20, {.temperature = 1e30f})) different.insert(word);
  EXPECT_GT(different.size(), 5u) << "at a boundless temperature all words are as probable; one draw is not another";
}

TEST(NextWord, RefusesModelsThatCannotWriteOn) {
  Request request = speaking(Arch::encoder);
  EXPECT_EQ(sampling_refusal(*ask(request)),
            "model: arch: expected a decoder or an encoder-decoder, which can write on, found an encoder");
  request = speaking(Arch::decoder);
  request.vocabulary = nullptr;
  EXPECT_EQ(sampling_refusal(*ask(request)), "model: output layer: expected one over a vocabulary, found none");
  const auto given = reference::given_model(Matrix::Ones(2, 2), Matrix::Ones(2, 2), Matrix::Ones(2, 2), 1);
  EXPECT_EQ(sampling_refusal(*ask(reference::request_for(given))),
            "model: arch: expected a decoder or an encoder-decoder, which can write on, found attention alone");
}

TEST(NextWord, RefusesATemperatureBelowZero) {
  const auto trace = ask(speaking(Arch::decoder));
  EXPECT_EQ(sampling_refusal(*trace, {.temperature = -1.0f}),
            "temperature: expected 0 or more, found a negative number");
  EXPECT_EQ(sampling_refusal(*trace, {.temperature = std::numeric_limits<float>::quiet_NaN()}),
            "temperature: expected 0 or more, found nan");
  EXPECT_EQ(sampling_refusal(*trace, {.temperature = 0.0f}), "");
}

// ---- the sentence that goes on

const Candidate kWord{.id = 31, .text = "吗", .probability = 1, .row = 31};

/// Ranges in order, none overlapping, each the bytes of its token's text, the last ending with the sentence.
void expect_whole(const Tokens& tokens) {
  std::size_t end = 0;
  for (const Token& token : tokens.tokens) {
    ASSERT_GE(token.begin, end);
    ASSERT_LE(token.end, tokens.text.size());
    const std::string bytes = tokens.text.substr(token.begin, token.end - token.begin);
    EXPECT_EQ(bytes, token.special ? "" : token.raw);
    end = token.end;
  }
  EXPECT_EQ(end, tokens.text.size());
}

TEST(Extended, AppendsToWhatTheDecoderReads) {
  const Request request = speaking(Arch::decoder), longer = extended(request, kWord);
  ASSERT_EQ(longer.tokens.size(), 8u);
  EXPECT_EQ(longer.tokens.tokens[7], (Token{.id = 31,
                                            .text = "吗",
                                            .raw = "吗",
                                            .begin = request.tokens.text.size(),
                                            .end = request.tokens.text.size() + 3}));
  EXPECT_EQ(longer.tokens.text, request.tokens.text + "吗");
  EXPECT_EQ(longer.target, request.target);
  expect_whole(longer.tokens);
  const Request both = speaking(Arch::encoder_decoder), grown = extended(both, kWord);
  EXPECT_EQ(grown.tokens, both.tokens);
  EXPECT_EQ(grown.target.size(), 3u);
  expect_whole(grown.target);
}

TEST(Extended, AppendsBeforePaddingHoweverItIsMade) {
  Request request = speaking(Arch::decoder);
  request.tokens = padded(counted(3), 5);
  const Tokens added = extended(request, kWord).tokens;
  ASSERT_EQ(added.size(), 6u);
  EXPECT_EQ(added.tokens[3].text, "吗");
  EXPECT_TRUE(added.tokens[4].pad && added.tokens[5].pad);
  expect_whole(added);

  request.tokens = with_padding_marked(counted(5), 2);
  const Tokens marked = extended(request, kWord).tokens;
  EXPECT_EQ(marked.tokens[3].text, "吗");
  EXPECT_EQ(marked.text, "w0 w1 w2 吗w3 w4");
  expect_whole(marked);

  request.tokens = with_padding_marked(counted(2), 2);
  const Tokens empty = extended(request, kWord).tokens;
  EXPECT_EQ(empty.tokens[0].text, "吗");
  expect_whole(empty);

  request.tokens = {};
  const Tokens first = extended(request, kWord).tokens;
  ASSERT_EQ(first.size(), 1u);
  expect_whole(first);
}

TEST(Extended, AppendsAfterTheSentenceWherePaddingStandsBeforeIt) {
  Request request = speaking(Arch::decoder);
  request.tokens.tokens[0].pad = request.tokens.tokens[1].pad = true;
  const Tokens longer = extended(request, kWord).tokens;
  EXPECT_EQ(longer.tokens.back().text, "吗");
  expect_whole(longer);
}

TEST(Extended, TilesTheTextInAnyOrderOfWordsAndPadding) {
  Random random(95);
  for (int round = 0; round < 100; ++round) {
    Request request = speaking(Arch::decoder);
    request.tokens = padded(counted(draw(random, 0, 5)), static_cast<std::size_t>(draw(random, 0, 8)));
    for (Token& token : request.tokens.tokens) token.pad = token.pad || draw(random, 0, 3) == 0;
    for (Index words = draw(random, 1, 4); words > 0; --words) {
      request = extended(request, kWord);
      ASSERT_NO_FATAL_FAILURE(expect_whole(request.tokens));
      const auto answering = static_cast<std::size_t>(answering_query(request));
      ASSERT_EQ(request.tokens.tokens[answering].text, "吗") << round;
    }
  }
}

// ---- step by step

float apart(const Matrix& longer, const Matrix& before) {
  return (longer.topLeftCorner(before.rows(), before.cols()) - before).cwiseAbs().maxCoeff();
}

TEST(Generation, OfAnEncoderDecoderGrowsByARowAndLeavesTheEarlierOnes) {
  Request request = speaking(Arch::encoder_decoder);
  auto trace = ask(request);
  for (Index length = 3; length <= 20; ++length) {
    request = extended(request, next(*trace, {.temperature = 1.0f}));
    const auto longer = ask(request, trace.get());
    ASSERT_TRUE(longer);
    ASSERT_EQ(longer->encoder, trace->encoder) << "the source is read once";
    ASSERT_EQ(longer->queries(Stack::cross), length);
    ASSERT_EQ(longer->keys(Stack::cross), 7);
    ASSERT_EQ(longer->answering, length - 1);
    reference::for_each_head(
        *trace, [&](const HeadRef& head) { EXPECT_LE(apart(pattern(*longer, head), pattern(*trace, head)), 1e-6f); });
    EXPECT_LE(apart(longer->last_hidden_state(), trace->last_hidden_state()), 1e-5f);
    trace = longer;
  }
}

TEST(Generation, OfADecoderLeavesTheEarlierRows) {
  Request request = speaking(Arch::decoder);
  request.tokens = padded(request.tokens, 10);
  auto trace = ask(request);
  for (int step = 0; step < 8; ++step) {
    request = extended(request, next(*trace));
    const auto longer = ask(request, trace.get());
    ASSERT_TRUE(longer);
    const Index real = trace->answering + 1;
    reference::for_each_head(*trace, [&](const HeadRef& head) {
      EXPECT_LE(apart(pattern(*longer, head), pattern(*trace, head).topLeftCorner(real, real)), 1e-6f);
    });
    trace = longer;
  }
}

}  // namespace
}  // namespace headlight
