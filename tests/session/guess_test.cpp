// What the model guesses: a hidden word or the next one, before and after a change.
#include "derived/guess.h"
#include "app/shipped.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "models/bundled_models.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

Document shipped_document(const std::string& source) {
  Document document = default_document(fixture::shipped().get());
  for (const BundledModel& one : *fixture::shipped())
    if (one.source == source) take_model(document, one);
  document.mask.causal = is_causal_by_default(config_of(document).arch);
  return document;
}

std::shared_ptr<const Trace> traced(const Document& document) {
  return *forward(requests_of(document, fixture::lexicon())->front());
}

Guess guess_of(const std::shared_ptr<const Trace>& trace, std::optional<Index> hidden = {}) {
  Progress progress;
  return *make_guess({trace, hidden}, progress);
}

TEST(Guess, AHiddenWordIsGuessedAsIfItWereTypedAsAMask) {
  Document document = shipped_document("shipped:encoder");
  const auto trace = traced(document);
  const Guess guess = guess_of(trace, 4);
  EXPECT_EQ(guess.token, "我");
  ASSERT_TRUE(guess.right);
  EXPECT_EQ(guess.right->word.text, "我");
  EXPECT_FALSE(guess.right->before) << "nothing was changed";
  set_text(document, TextSide::source, "我请李雷帮<mask>订了去北京的机票", fixture::lexicon());
  const auto typed = traced(document);
  const Vector shares = probabilities(typed->logits);
  const auto best = most_probable(*typed->model, shares, 1).front();
  EXPECT_EQ(guess.words.front().word.text, best.text);
  EXPECT_EQ(guess.words.front().word.probability, best.probability);
  EXPECT_EQ(guess.right->word.probability, shares(guess.right->word.row));
}

TEST(Guess, AHeadSwitchedOffHasABeforeAndAnAfter) {
  Document document = shipped_document("shipped:encoder");
  const Guess plain = guess_of(traced(document), 4);
  switch_off(document.edits, {1, 5}, true);
  const Guess without = guess_of(traced(document), 4);
  ASSERT_TRUE(without.right && without.right->before);
  EXPECT_EQ(*without.right->before, plain.right->word.probability);
  EXPECT_LT(without.right->word.probability, *without.right->before - 0.2f) << "this head knows the same person";
}

TEST(Guess, AMaskAndASingleWeightHaveABeforeToo) {
  for (const bool by_mask : {true, false}) {
    Document document = shipped_document("shipped:encoder");
    const Guess plain = guess_of(traced(document), 4);
    if (by_mask) document.mask.causal = true;
    else set_weight(document.edits, {1, 5}, {4, 0}, 0.0f);
    const Guess changed = guess_of(traced(document), 4);
    ASSERT_TRUE(changed.right->before);
    EXPECT_EQ(*changed.right->before, plain.right->word.probability);
    EXPECT_NE(changed.right->word.probability, *changed.right->before);
  }
}

TEST(Guess, ADecoderSaysTheNextWordOfTheAnswerItself) {
  Document document = shipped_document("shipped:decoder");
  const auto trace = traced(document);
  const Guess guess = guess_of(trace);
  EXPECT_FALSE(guess.right);
  const auto best = most_probable(*trace->model, probabilities(trace->logits), kGuessedWords);
  ASSERT_EQ(guess.words.size(), best.size());
  for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(guess.words[i].word, best[i]);
  switch_off(document.edits, {0, 0}, true);
  const Guess without = guess_of(traced(document));
  for (const GuessedWord& word : without.words) EXPECT_TRUE(word.before);
}

TEST(Guess, TheLargestLossIsNamedBehindTheWinner) {
  Document document = shipped_document("shipped:decoder");
  const auto plain = traced(document);
  const Vector before = probabilities(plain->logits);
  for (const HeadRef& head : heads_of(*plain)) switch_off(document.edits, head, true);
  const auto changed = traced(document);
  const Vector now = probabilities(changed->logits);
  const Guess guess = guess_of(changed);
  const auto most = most_changed(*changed->model, before, now, 200);
  const auto lost = std::find_if(most.begin(), most.end(), [&](Index row) { return now(row) < before(row); });
  ASSERT_NE(lost, most.end());
  EXPECT_EQ(guess.words.front().word.row, most_probable(*changed->model, now, 1).front().row);
  const auto found = std::find_if(guess.words.begin(), guess.words.end(),
                                  [&](const GuessedWord& one) { return one.word.row == *lost; });
  ASSERT_NE(found, guess.words.end()) << "what fell is said, not only what rose";
  EXPECT_EQ(*found->before, before(*lost));
  for (std::size_t i = 1; i < most.size(); ++i)
    EXPECT_GE(std::abs(now(most[i - 1]) - before(most[i - 1])), std::abs(now(most[i]) - before(most[i])));
  EXPECT_TRUE(most_changed(*changed->model, now, now, 5).empty());
}

TEST(Guess, FreshWeightsGuessAsIfTheMaskWereTyped) {
  Document document;
  document.config = {.d_model = 32, .num_heads = 2, .num_layers = 1, .ffn = 32, .seed = 1};
  const auto read = read_lexicon();
  ASSERT_TRUE(read) << read.error().message();
  const Lexicon& lexicon = *read;
  const auto trace = *forward(requests_of(document, lexicon)->front());
  ASSERT_TRUE(can_hide(*trace, 4));
  const Guess guess = guess_of(trace, 4);
  set_text(document, TextSide::source, "我请李雷帮<mask>订了去北京的机票", lexicon);
  const auto typed = *forward(requests_of(document, lexicon)->front());
  const auto best = most_probable(*typed->model, probabilities(typed->logits), 1).front();
  EXPECT_EQ(guess.words.front().word, best);
  EXPECT_TRUE(guess.model == WeakRef<Model>(trace->model));
}

TEST(Guess, WhatCannotBeHiddenIsNotGuessed) {
  const auto encoder = traced(shipped_document("shipped:encoder"));
  EXPECT_TRUE(can_hide(*encoder, 0));
  EXPECT_FALSE(can_hide(*encoder, -1));
  EXPECT_FALSE(can_hide(*encoder, encoder->queries()));
  const auto decoder = traced(shipped_document("shipped:decoder"));
  EXPECT_FALSE(can_hide(*decoder, 1));
  Document alone = shipped_document("shipped:encoder");
  alone.source.text = "The";
  EXPECT_FALSE(can_hide(*traced(alone), 0)) << "from nothing nothing can be guessed";
  Progress progress;
  EXPECT_TRUE(make_guess({decoder, 1}, progress)->words.empty());
}

TEST(Guess, AStoppedOneIsNone) {
  Progress progress;
  progress.stop = true;
  EXPECT_EQ(make_guess({traced(shipped_document("shipped:encoder")), 4}, progress), nullptr);
}

}  // namespace
}  // namespace headlight
