// The trained models that come along keep what is said of them: measured anew, on sentences of a seed of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "document/assets.h"
#include "document/bundled_models.h"
#include "document/tokenizers.h"
#include "session/startup.h"
#include "train/trained_checkpoint.h"
#include "training/training_files.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

const BundledModels& models() {
  static const auto read = read_shipped_models();
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return **read;
}

const RelationReport& measured_default() {
  static const RelationReport report = [] {
    const auto grammar = read_grammar();
    EXPECT_TRUE(grammar) << (grammar ? "" : grammar.error().message);
    Progress progress;
    const auto measured = measure_relations(models().front().model, **grammar,
                                            {.test_seed = 20261121, .sentences = 400, .pairs = 80}, progress);
    EXPECT_TRUE(measured) << (measured ? "" : measured.error().message);
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

TEST(BundledModels, TheDefaultKnowsWhatAPronounStandsFor) {
  EXPECT_GE(of("IT").score.accuracy, 0.95);
  EXPECT_EQ(measured_default().pairs, 80);
  EXPECT_GE(static_cast<double>(measured_default().pairs_right), 0.95 * 80);
}

TEST(BundledModels, TheTutorialsOwnSentencesAreShown) {
  EXPECT_GE(measured_default().literals.size(), 10u);
  for (const LiteralScore& literal : measured_default().literals) {
    SCOPED_TRACE(literal.text + ": " + literal.query + " → " + literal.key);
    EXPECT_TRUE(literal.shown);
    EXPECT_GE(literal.weight, 0.5);
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

}  // namespace
}  // namespace headlight
