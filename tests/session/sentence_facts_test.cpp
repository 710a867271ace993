// What is known of a sentence by its words alone: its kind, its unknown words, its nearest neighbour that is known.
#include "names/sentence_facts.h"
#include "app/shipped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/session_fixture.h"
#include "base/random.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/bundled_models.h"
#include "question/samples.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

const Document& shipped_document() {
  static const Document document = default_document(fixture::shipped().get());
  return document;
}

Tokens tokens_of(const std::string& text) {
  Document document = shipped_document();
  set_text(document, TextSide::source, text, fixture::lexicon());
  return requests_of(document, fixture::lexicon())->front().tokens;
}

SentenceFacts facts_of_text(const std::string& text) { return sentence_facts(tokens_of(text), shipped_grammar()); }

const RelatedWords* find(const SentenceFacts& facts, const std::string& relation) {
  const auto found = std::find_if(facts.relations.begin(), facts.relations.end(),
                                  [&](const RelatedWords& one) { return one.relation == relation; });
  return found == facts.relations.end() ? nullptr : &*found;
}

TEST(SentenceFacts, ASentenceOfTheGrammarHasItsRelations) {
  ASSERT_NE(shipped_grammar(), nullptr);
  const SentenceFacts facts = facts_of_text(std::string(kDefaultSentence));
  EXPECT_TRUE(facts.of_grammar);
  EXPECT_EQ(facts.words, 10);
  EXPECT_EQ(facts.unknown, 0);
  const std::pair<const char*, std::pair<Index, Index>> all[] = {
      {"CO", {4, 0}}, {"VO", {5, 9}}, {"DP", {6, 7}}, {"SP", {0, 1}}};
  for (const auto& [relation, places] : all) {
    const RelatedWords* found = find(facts, relation);
    ASSERT_NE(found, nullptr) << relation;
    EXPECT_EQ(std::pair(found->query, found->key), places) << relation;
  }
  EXPECT_EQ(find(facts, "IT"), nullptr);
}

TEST(SentenceFacts, AFullStopMayBeMissing) {
  for (const auto& [text, noun] : {std::pair("The animal didn't cross the street because it was too tired.", 1),
                                   std::pair("The animal didn't cross the street because it was too wide", 5),
                                   std::pair("The street didn't cross the animal because it was too tired", 5)}) {
    const SentenceFacts facts = facts_of_text(text);
    ASSERT_TRUE(facts.of_grammar) << text;
    ASSERT_NE(find(facts, "IT"), nullptr) << text;
    EXPECT_EQ(find(facts, "IT")->query, 7) << text;
    EXPECT_EQ(find(facts, "IT")->key, noun) << text;
    EXPECT_EQ(find(facts, "CO"), nullptr) << text;
  }
}

TEST(SentenceFacts, APronounThatNoClassDecidesStandsForNothingKnown) {
  const SentenceFacts facts = facts_of_text("The animal didn't cross the street because it was too spicy");
  EXPECT_TRUE(facts.of_grammar);
  EXPECT_EQ(find(facts, "IT"), nullptr);
  EXPECT_NE(find(facts, "ST"), nullptr) << "other relations are those of the pattern";
}

/// The scores for pronouns in the card are measured on sentences with *too*; they hold without.
TEST(SentenceFacts, PronounsAreFoundAsOftenWithoutToo) {
  const Grammar& grammar = *shipped_grammar();
  const TrainingCard& card = *shipped_document().card;
  const auto score = std::find_if(card.scores->relations.begin(), card.scores->relations.end(),
                                  [](const RelationScore& one) { return one.relation == "IT"; });
  ASSERT_NE(score, card.scores->relations.end());
  Random random(7);
  int all = 0, right = 0;
  while (all < 300) {
    Sentence sentence = draw_sentence(grammar, CorpusPart::held_out, random);
    const auto is_too = [&](std::int32_t word) {
      const std::string& text = grammar.words[static_cast<std::size_t>(word)];
      return text == "too" || text == "太";
    };
    const auto too = std::find_if(sentence.words.begin(), sentence.words.end(), is_too);
    const auto gold = std::find_if(sentence.gold.begin(), sentence.gold.end(), [&](const Gold& one) {
      return grammar.relations[static_cast<std::size_t>(one.relation)].name == "IT";
    });
    if (too == sentence.words.end() || gold == sentence.gold.end()) continue;
    const auto token_of = [at = too - sentence.words.begin()](int place) { return Index{place} - (place > at); };
    const Index query = token_of(gold->query), noun = token_of(gold->key);
    sentence.words.erase(too);
    Document document = shipped_document();
    set_text(document, TextSide::source, text_of(grammar, sentence), fixture::lexicon());
    const auto trace = forward(requests_of(document, fixture::lexicon())->front());
    ASSERT_TRUE(trace);
    ++all;
    const SentenceFacts facts = sentence_facts((*trace)->query_tokens(), &grammar);
    const RelatedWords* found = find(facts, "IT");
    ASSERT_NE(found, nullptr) << document.source.text;
    EXPECT_EQ(std::pair(found->query, found->key), std::pair(query, noun)) << document.source.text;
    Index key = 0;
    attention_rows(**trace, {score->chosen.layer, score->chosen.head}, query, 1).row(0).maxCoeff(&key);
    right += key == noun;
  }
  EXPECT_GE(right, (score->score.accuracy - 0.01) * all);
}

TEST(SentenceFacts, AnotherOrderOfKnownWordsIsNoSentenceOfIt) {
  const SentenceFacts facts = facts_of_text("机票请我");
  EXPECT_EQ(facts.unknown, 0);
  EXPECT_FALSE(facts.of_grammar);
  EXPECT_TRUE(facts.relations.empty());
}

TEST(SentenceFacts, UnknownWordsAreCounted) {
  const SentenceFacts facts = facts_of_text("I am a student");
  EXPECT_EQ(facts.words, 4);
  EXPECT_EQ(facts.unknown, 4);
  EXPECT_FALSE(facts.of_grammar);
}

TEST(SentenceFacts, TheNearestSentenceIsKnownAndAlwaysTheSame) {
  const Vocabulary& vocabulary = *shipped_document().model->vocabulary;
  const auto samples = words_of_samples(lexicon_of(shipped_document(), TextSide::source, fixture::lexicon()));
  const auto nearest = [&](const std::vector<std::string>& words) {
    return nearest_known_sentence(words, vocabulary, *shipped_grammar(), samples);
  };
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"I", "am", "a", "student"}, {"我", "是", "一个", "学生"}}) {
    const std::string text = nearest(words);
    ASSERT_FALSE(text.empty());
    const SentenceFacts facts = facts_of_text(text);
    EXPECT_EQ(facts.unknown, 0) << text;
    EXPECT_EQ(static_cast<unsigned char>(text.front()) < 0x80, words.front() == "I") << text;
    EXPECT_EQ(nearest(words), text);
  }
  EXPECT_EQ(nearest({"The", "animal", "didn't", "cross", "the", "avenue", "because", "it", "was", "too", "tired", "."}),
            "The animal didn't cross the street because it was too tired.");
}

TEST(SentenceFacts, FamiliesHoldKnownWordsAlone) {
  const Vocabulary& vocabulary = *shipped_document().model->vocabulary;
  const std::set<std::string> known(vocabulary.words.begin(), vocabulary.words.end());
  const auto families = known_families(*shipped_grammar(), vocabulary);
  EXPECT_GT(families.size(), 20u);
  for (const WordFamily& family : families) {
    EXPECT_FALSE(family.words.empty());
    for (const std::string& word : family.words) EXPECT_TRUE(known.contains(word)) << family.name << ": " << word;
  }
}

}  // namespace
}  // namespace headlight
