// The bundled translator: what its cross heads show, and what it predicts.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "app/shipped.h"
#include "math/attention.h"
#include "models/bundled_models.h"
#include "question/tokenizers.h"
#include "session/loop/startup.h"
#include "session/update.h"
#include "train/measure/relations.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

using fixture::lexicon;

const BundledModel& translator() {
  for (const BundledModel& one : *fixture::shipped())
    if (one.source == "shipped:translator") return one;
  ADD_FAILURE() << "there is no translator";
  return fixture::shipped()->front();
}

/// The window after encoder-decoder was chosen.
AppState translating() {
  const auto& shipped = fixture::shipped();
  AppState state = initial_state(lexicon(), default_document(shipped.get()), Settings{}, {}, shipped);
  Config config = state.document.config;
  config.arch = Arch::encoder_decoder;
  update(state, SetConfig{config});
  return state;
}

TEST(Translator, AlignsWordsItNeverSawTogether) {
  const auto grammar = read_grammar();
  ASSERT_TRUE(grammar);
  Progress progress;
  const auto report =
      measure_relations(translator().model, **grammar, {.test_seed = 77, .sentences = 150, .threads = 2}, progress);
  ASSERT_TRUE(report && *report);
  EXPECT_EQ((*report)->unknown_words, 0);
  const RelationScore& best = (*report)->relations.front();
  for (const RelationScore& one : (*report)->relations) {
    EXPECT_GE(one.score.accuracy, 0.9) << one.relation;
    EXPECT_GE(one.score.hard, 0.9) << "where no distance is right";
    EXPECT_LT(one.kind_offset, 0.4);
    EXPECT_LT(one.random, 0.3);
  }
  EXPECT_GE((*report)->next_word.accuracy, 0.95);
  ASSERT_GE((*report)->alignment.literals.size(), 2u);
  for (const int ticket : {0, 1}) {
    const LiteralAlignment& one = (*report)->alignment.literals[static_cast<std::size_t>(ticket)];
    EXPECT_EQ(one.right, one.words) << one.english;
  }

  // The card has the same scores for the sentences of its seed, and the layer and head of each.
  ASSERT_TRUE(translator().card && translator().card->scores);
  const RelationScore& said = translator().card->scores->relations.front();
  EXPECT_EQ(said.relation, best.relation);
  EXPECT_EQ(said.chosen, best.chosen);
  EXPECT_NEAR(said.score.accuracy, best.score.accuracy, 0.05);
  EXPECT_EQ(translator().card->plan.task, Task::translation);
}

TEST(Translator, IsWhatTheWindowTakesForAnEncoderDecoder) {
  const AppState state = translating();
  EXPECT_EQ(state.document.model_path, "shipped:translator");
  EXPECT_EQ(message_of(state.problem), "");
  EXPECT_EQ(state.document.target.text, kDefaultTarget);
  ASSERT_EQ(state.requests.size(), 1u);
  for (const Tokens* tokens : {&state.requests[0].tokens, &state.requests[0].target})
    for (const Token& token : tokens->tokens) EXPECT_TRUE(token.known) << token.text;
  EXPECT_EQ(state.requests[0].target.size(), 12u) << "<s> before the words";

  // The heads that were measured carry it.
  const RelationScore& best = state.document.card->scores->relations.front();
  const auto labels = relations_of(state.document, {best.chosen.layer, best.chosen.head, Stack::cross});
  ASSERT_FALSE(labels.empty());
  EXPECT_EQ(labels.front()->relation, best.relation);

  AppState back = translating();
  Config config = back.document.config;
  config.arch = Arch::encoder;
  update(back, SetConfig{config});
  ASSERT_TRUE(is_shipped(back.document));
  EXPECT_EQ(back.document.config.arch, Arch::encoder);
}

TEST(Translator, ShowsWhereTheWordsOfTheDefaultSentenceComeFrom) {
  const AppState state = translating();
  const auto trace = forward(state.requests[0]);
  ASSERT_TRUE(trace);
  for (const RelationScore& relation : state.document.card->scores->relations) {
    const HeadRef head{relation.chosen.layer, relation.chosen.head, Stack::cross};
    const Matrix weights = attention_rows(**trace, head, 0, 12);
    const Index before = relation.relation == "OWN" ? 0 : 1;
    const std::pair<Index, Index> known[] = {{3, 2}, {6, 5}, {11, 7}};  // Li, book, Beijing
    for (const auto& [row, source] : known) {
      Index strongest = 0;
      weights.row(row - before).maxCoeff(&strongest);
      EXPECT_EQ(strongest, source) << relation.relation << " "
                                   << state.requests[0].target.tokens[static_cast<std::size_t>(row)].text;
    }
  }
}

TEST(Translator, SaysTheDefaultSentenceInEnglishAndStops) {
  AppState state = translating();
  update(state, SetTarget{""});
  EXPECT_EQ(message_of(state.problem), "");
  ASSERT_EQ(state.requests.size(), 1u);
  EXPECT_EQ(state.requests[0].target.size(), 1u) << "<s> alone";
  Loop loop([] {}, "");
  Commands commands{Generate{40, {}}};
  loop.step(state, commands, 0);
  loop.settle(state);
  EXPECT_EQ(state.document.target.text, kDefaultTarget);
  EXPECT_FALSE(state.generation);
  EXPECT_TRUE(state.document.target.ids.empty());
}

TEST(Translator, ReadsSeveralSentencesOfWhichNothingIsSaidYet) {
  AppState state = translating();
  update(state, SetText{"我请李雷帮我订了去北京的机票\n他请韩梅梅帮他订了去上海的机票"});
  update(state, SetTarget{""});
  EXPECT_EQ(message_of(state.problem), "");
  ASSERT_EQ(state.requests.size(), 2u);
  EXPECT_EQ(state.requests[1].target.size(), 1u);
  update(state, SetTarget{"I asked"});
  EXPECT_NE(message_of(state.problem), "") << "one line for two sentences";
}

}  // namespace
}  // namespace headlight
