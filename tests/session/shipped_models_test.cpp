// The scores in the cards of the trained models hold: measured anew, on sentences of another seed.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "app/shipped.h"
#include "assets/assets.h"
#include "models/bundled_models.h"
#include "models/model_choice.h"
#include "models/open_model.h"
#include "question/tokenizers.h"
#include "session/loop/startup.h"
#include "train/measure/treebank_scores.h"
#include "train/run/training_files.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

const BundledModels& models() { return *fixture::shipped(); }

const RelationReport& measured_default() {
  static const RelationReport report = [] {
    const auto grammar = read_grammar();
    EXPECT_TRUE(grammar) << (grammar ? "" : grammar.error().message());
    Progress progress;
    const auto measured = measure_relations(models().front().model, **grammar,
                                            {.test_seed = 20261121, .sentences = 400, .pairs = 80}, progress);
    EXPECT_TRUE(measured) << (measured ? "" : measured.error().message());
    return **measured;
  }();
  return report;
}

const RelationScore& of(const char* relation) {
  for (const RelationScore& one : measured_default().relations)
    if (one.relation == relation) return one;
  ADD_FAILURE() << relation;
  return measured_default().relations.front();
}

std::uintmax_t bytes_of(const BundledModel& shipped) {
  std::uintmax_t sum = 0;
  for (const auto& file : fs::directory_iterator(*resolved_source(shipped.source))) sum += file.file_size();
  return sum;
}

TEST(BundledModels, TheDefaultsHeadsShowFourRelationsOnFourHeads) {
  std::set<Index> heads;
  double sum = 0;
  for (const char* relation : {"SP", "VO", "DP", "CO"}) {
    SCOPED_TRACE(relation);
    const RelationScore& one = of(relation);
    EXPECT_EQ(one.chosen.layer, models().front().model->config.num_layers - 1);
    heads.insert(one.chosen.head);
    sum += one.score.accuracy;
    EXPECT_GE(one.score.accuracy, 0.90);
    EXPECT_GE(one.score.weight, 0.5);
    EXPECT_GE(one.score.accuracy, one.kind_offset + 0.15) << "more than position alone";
    EXPECT_GE(one.score.hard, 0.85);
    EXPECT_GT(one.score.hard_count, 20);
  }
  EXPECT_EQ(heads.size(), 4u);
  EXPECT_GE(sum / 4, 0.95);
}

TEST(BundledModels, TheDefaultsHeadsShowATimeButNoStateOrPlaceOfAnAction) {
  for (const char* relation : {"ST", "PA", "MN"}) {
    SCOPED_TRACE(relation);
    EXPECT_GT(of(relation).sentences, 10);
    EXPECT_FALSE(is_worn(of(relation))) << "hardly more than position alone";
  }
  EXPECT_GE(of("ST").score.accuracy, 0.7);
  EXPECT_GE(of("ST").score.hard, 0.95) << "where every fixed distance is wrong, the head is right";
  EXPECT_TRUE(is_worn(of("TA")));
  EXPECT_LT(of("TA").score.accuracy, 0.75) << "of most actions, not of all";
  EXPECT_LT(opposite_of(measured_default(), of("TA"))->score.accuracy, 0.3);
}

TEST(BundledModels, BothDirectionsOfAPairAreMeasured) {
  ASSERT_EQ(measured_default().opposite.size(), measured_default().relations.size());
  for (const RelationScore& one : measured_default().relations) {
    SCOPED_TRACE(one.relation);
    const RelationScore* other = opposite_of(measured_default(), one);
    ASSERT_NE(other, nullptr);
    EXPECT_NE(other->chosen.reversed, one.chosen.reversed);
    EXPECT_EQ(other->sentences, one.sentences);
  }
}

TEST(BundledModels, TheDefaultKnowsWhatAPronounStandsFor) {
  EXPECT_GE(of("IT").score.accuracy, 0.95);
  EXPECT_EQ(measured_default().pairs, 80);
  EXPECT_GE(static_cast<double>(measured_default().pairs_right), 0.95 * 80);
}

TEST(BundledModels, TheTutorialsOwnSentencesAreShown) {
  EXPECT_GE(measured_default().literals.size(), 10u);
  for (const LiteralScore& literal : measured_default().literals) {
    SCOPED_TRACE(literal.text + ": " + literal.query + " → " + literal.key);
    EXPECT_TRUE(literal.best.shown);
    // Nothing asked for the time of an action: it has the largest weight of its row, but no more than a quarter.
    if (literal.relation == "TA") EXPECT_LT(literal.best.weight, 0.25);
    else EXPECT_GE(literal.best.weight, 0.5);
    EXPECT_GE(literal.best.weight, literal.other.weight);
    EXPECT_NE(literal.best.head.reversed, literal.other.head.reversed);
  }
}

TEST(BundledModels, TheFamilyIsWholeAndSmall) {
  std::uintmax_t family = 0;
  for (const Index d_model : {32, 64, 128})
    for (const Index heads : {1, 2, 4, 8}) {
      SCOPED_TRACE(std::to_string(d_model) + " " + std::to_string(heads));
      Config config = models().front().model->config;
      config.d_model = d_model;
      config.num_heads = heads;
      const BundledModel* shipped = find_model(models(), config);
      ASSERT_NE(shipped, nullptr);
      ASSERT_TRUE(shipped->card);
      EXPECT_TRUE(shipped->card->scores) << "its heads say what was measured";
      EXPECT_EQ(shipped->card->step, shipped->card->plan.steps());
      EXPECT_EQ(shipped->card->plan.corruption, models().front().card->plan.corruption) << "trained the same way";
      family += bytes_of(*shipped);
    }
  EXPECT_LE(family, 6'000'000u);
}

TEST(BundledModels, EachIsSmallAndReadsText) {
  for (const BundledModel& shipped : models()) {
    SCOPED_TRACE(shipped.source);
    EXPECT_LE(bytes_of(shipped), 1'000'000u);
    EXPECT_TRUE(shipped.tokenizers && shipped.tokenizers->source);
    EXPECT_TRUE(shipped.card);
  }
}

/// The model that reads any sentence.
const Document& any_sentence() {
  static const auto opened = open_model(std::string(kAnySentence));
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message());
  return opened->document;
}

Tokens read_by_any(const std::string& text) {
  const auto tokens = encode(*any_sentence().tokenizers->source, text, true);
  EXPECT_TRUE(tokens);
  return *tokens;
}

std::string words_by_any(const std::string& text) {
  const Tokens tokens = read_by_any(text);
  std::string words;
  for (const Token& token : tokens.tokens)
    if (!token.special) words += (words.empty() || token.continues ? "" : "|") + token.text;
  return words;
}

TEST(AnySentence, IsSmallEnoughAndNamesWhatItWasTaughtBy) {
  const auto folder = resolved_source(std::string(kAnySentence));
  ASSERT_TRUE(folder);
  EXPECT_LE(fs::file_size(*folder / "model.safetensors"), 8'000'000u);
  EXPECT_LE(fs::file_size(*folder / "tokenizer.json"), 1'000'000u);
  const auto& card = any_sentence().card;
  ASSERT_TRUE(card);
  EXPECT_EQ(card->step, card->plan.steps());
  const std::vector<TaughtHead>& taught = card->plan.teaching.heads;
  EXPECT_EQ(taught.size(), 16u);
  std::string sources = card->corpus;
  for (const std::string& treebank : card->treebanks) sources += "\n" + treebank;
  for (const char* part : {"UD_English-EWT", "UD_Chinese-PUD", "UD_Chinese-HK", "UD_Chinese-CFL", "CC BY-SA 4.0",
                           "cataclysm-dda-data", "CC-BY-SA-3.0", "jieba"})
    EXPECT_NE(sources.find(part), std::string::npos) << part << " in " << sources;
  ASSERT_TRUE(card->scores);
  std::set<Index> heads;
  for (const RelationScore& one : card->scores->relations) {
    EXPECT_TRUE(is_universal(one)) << one.relation;
    if (was_taught(taught, one) && one.score.accuracy >= one.offset + 0.1 && !is_of_chinese(one))
      heads.insert(9 * one.chosen.layer + one.chosen.head);
  }
  EXPECT_GE(heads.size(), 6u) << "heads that are ten points better than the best distance";
}

TEST(AnySentence, CutsTheTutorialsSentencesIntoTheirWords) {
  EXPECT_EQ(words_by_any("我请李雷帮我订了去北京的机票"), "我|请|李雷|帮|我|订了|去|北京|的|机票");
  EXPECT_EQ(words_by_any("他告诉我，他要走了。"), "他|告诉|我|，|他|要|走了|。");
  EXPECT_EQ(words_by_any("我是一个学生"), "我|是|一个|学生");
  EXPECT_EQ(words_by_any("图书馆里的小猫"), "图书馆|里|的|小猫");
  EXPECT_EQ(words_by_any("The animal didn't cross the street."), "The|animal|did|n't|cross|the|street|.");
}

TEST(AnySentence, SpellsEveryLatinAndChineseWord) {
  for (const char* text : {"The cat sat on the mat.", "Attention is all you need!", "Schrödinger's naïve Übermensch",
                           "Zażółć gęślą jaźń", "Đặng Thái Sơn", "supercalifragilisticexpialidocious",
                           "COVID-19 @ 37.5 %", "龘龘靐齉", "他在微信上发了个红包", "𠀀𠮷"})
    for (const Token& token : read_by_any(text).tokens) EXPECT_TRUE(token.known) << text << ": " << token.text;
  std::size_t unknown = 0;
  for (const Token& token : read_by_any("привет cat").tokens) unknown += !token.known;
  EXPECT_EQ(unknown, 1u) << "letters of another script";
}

}  // namespace
}  // namespace headlight
