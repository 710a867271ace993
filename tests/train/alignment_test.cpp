// What cross heads show of where English words come from, measured on models whose answers are known.
#include "train/measure/relations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "read/json/json_fields.h"
#include "train/corpus/corpus.h"
#include "train/grammars.h"
#include "train/measure/relations_json.h"

namespace headlight {
namespace {

using grammars::parsed;
using grammars::translated_toy;
using nlohmann::json;

/// Three words in reverse order: word i of the English comes from word 2 − i.
json backwards() {
  json toy = translated_toy();
  toy["kinds"].erase(1);
  toy["kinds"][0]["variants"][0]["english"] = "{o} {v} {w} now";
  toy["literals"] = {
      {{"words", "naa reads bookaa"}, {"english", "opentomeaa:2 didreads:1 Naa:1"}, {"relations", json::object()}}};
  return toy;
}

/// One layer of two cross heads that know positions only: head 0 looks from row r at position 3 − r, head 1 at 2 − r.
std::shared_ptr<const Model> mirror(const Grammar& grammar, Index start_rows = 1) {
  constexpr Index kPlaces = 16;
  const Config config{.arch = Arch::encoder_decoder,
                      .d_model = kPlaces,
                      .num_heads = 2,
                      .head_dim = kPlaces,
                      .num_layers = 1,
                      .ffn = 0,
                      .position = Position::learned};
  Model model = *random_model(config);
  Vocabulary vocabulary{.words = {"<s>"}, .ids = {}};
  for (const auto* words : {&grammar.words, &grammar.dictionary.words})
    vocabulary.words.insert(vocabulary.words.end(), words->begin(), words->end());
  const auto rows = static_cast<Index>(vocabulary.words.size());
  model.vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  const auto nothing = table_of(Matrix::Zero(rows, kPlaces));
  for (StackWeights* stack : {static_cast<StackWeights*>(&model), &*model.encoder}) {
    stack->embeddings.tokens = nothing;
    stack->embeddings.positions = Matrix::Identity(kPlaces, kPlaces);
    stack->blocks.front().self.output.weight.setZero();
    stack->blocks.front().self.output.bias.setZero();
  }
  model.output.emplace().weight = nothing;
  AttentionWeights& cross = *model.blocks.front().cross;
  cross.query.weight = cross.key.weight = Matrix::Zero(2 * kPlaces, kPlaces);
  cross.query.bias = cross.key.bias = Vector::Zero(2 * kPlaces);
  for (Index place = 0; place < 3; ++place) {
    cross.key.weight(place, place) = cross.key.weight(kPlaces + place, place) = 1;
    cross.query.weight(place, 2 + start_rows - place) = cross.query.weight(kPlaces + place, 2 - place) = 40;
  }
  return std::make_shared<const Model>(std::move(model));
}

RelationReport measured(const std::shared_ptr<const Model>& model, const Grammar& grammar, int threads = 2) {
  Progress progress;
  const auto report = measure_relations(model, grammar, {.sentences = 100, .threads = threads}, progress);
  EXPECT_TRUE(report) << (report ? "" : report.error().message());
  EXPECT_NEAR(progress.done, 1, 0.15f);
  return report && *report ? **report : RelationReport{};
}

TEST(Alignment, OfAModelThatKnowsPlacesIsKnown) {
  const auto grammar = parsed(backwards());
  const RelationReport report = measured(mirror(*grammar), *grammar);
  EXPECT_EQ(report.unknown_words, 0);
  ASSERT_EQ(report.relations.size(), 2u);
  const RelationScore &own = report.relations[0], &next = report.relations[1];
  EXPECT_EQ(own.relation, "OWN");
  EXPECT_EQ(next.relation, "NEXT");
  EXPECT_EQ(own.chosen, (DirectedHead{0, 0, false}));
  EXPECT_EQ(next.chosen, (DirectedHead{0, 1, false}));
  for (const RelationScore* one : {&own, &next}) {
    EXPECT_EQ(one->stack, Stack::cross);
    EXPECT_EQ(one->score.accuracy, 1);
    EXPECT_GT(one->score.weight, 0.99);
    EXPECT_NEAR(one->offset, 1.0 / 3, 1e-9) << "one place of three is where it was";
    EXPECT_NEAR(one->kind_offset, 1.0 / 3, 1e-9);
    EXPECT_LT(one->random, 0.9);
    EXPECT_EQ(one->sentences, 100);
    EXPECT_EQ(one->score.hard_count, 200);
    EXPECT_EQ(one->score.hard, 1);
  }
  EXPECT_EQ(report.alignment.words, 300) << "what comes from no word is not asked for";
  EXPECT_NEAR(report.alignment.diagonal, 1.0 / 3, 1e-9);
  ASSERT_EQ(report.alignment.heads.size(), 2u);
  EXPECT_EQ(report.alignment.heads[0].own.accuracy, 1);
  EXPECT_LT(report.alignment.heads[0].next.accuracy, 0.5);
  EXPECT_EQ(report.alignment.heads[1].next.accuracy, 1);
  ASSERT_EQ(report.alignment.literals.size(), 1u);
  EXPECT_EQ(report.alignment.literals[0].english, "opentomeaa didreads Naa");
  EXPECT_EQ(report.alignment.literals[0].words, 3);
  EXPECT_EQ(report.alignment.literals[0].right, 2) << "its last word is said to come from elsewhere";

  EXPECT_EQ(report.next_word.words, 400);
  EXPECT_EQ(report.next_word.accuracy, 0) << "all words are equally probable";
  EXPECT_NEAR(report.next_word.perplexity, static_cast<double>(mirror(*grammar)->vocabulary->words.size()), 0.01);
}

TEST(Alignment, ChoosesTheRowsByValidation) {
  const auto grammar = parsed(backwards());
  const RelationReport report = measured(mirror(*grammar, 4), *grammar);  // head 0 looks from beyond the end
  EXPECT_EQ(report.relations[0].relation, "NEXT");
  EXPECT_EQ(report.relations[0].score.accuracy, 1);
  EXPECT_EQ(report.relations[1].relation, "OWN");
  EXPECT_LT(report.relations[1].score.accuracy, 1);
  EXPECT_EQ(report.alignment.literals[0].right, 2) << "by the rows that were chosen";
}

TEST(Alignment, IsTheSameWithAnyNumberOfThreads) {
  const auto grammar = parsed(backwards());
  const auto model = mirror(*grammar);
  EXPECT_EQ(relations_json(measured(model, *grammar, 1)), relations_json(measured(model, *grammar, 3)));
}

TEST(Alignment, NeedsEnglishInTheGrammar) {
  const auto grammar = parsed(backwards()), plain = parsed(grammars::toy());
  Progress progress;
  const auto report = measure_relations(mirror(*grammar), *plain, {}, progress);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message(), "alignment: grammar: expected sentences with English, found none");
  progress.stop = true;
  const auto stopped = measure_relations(mirror(*grammar), *grammar, {.sentences = 20}, progress);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(*stopped);
}

TEST(Alignment, IsReadBackFromJson) {
  const auto grammar = parsed(backwards());
  const RelationReport report = measured(mirror(*grammar), *grammar);
  const json written = json::parse(relations_json(report).dump());
  JsonProblems problems{"scores"};
  const RelationReport read = relations_from(JsonField(written, "", problems));
  ASSERT_FALSE(problems.first) << problems.first->message();
  EXPECT_EQ(json::parse(relations_json(read).dump()), written);
  EXPECT_EQ(read.relations[0].stack, Stack::cross);
  EXPECT_EQ(read.alignment.heads[0].own.accuracy, 1);
  EXPECT_EQ(read.next_word.words, 400);
  for (const char* pointer : {"/alignment/words", "/alignment/heads/0/own/accuracy", "/alignment/literals/0/right",
                              "/next_word/perplexity", "/next_word/accuracy"}) {
    json broken = written;
    broken[json::json_pointer(pointer)] = "much";
    JsonProblems found{"scores"};
    relations_from(JsonField(broken, "", found));
    EXPECT_TRUE(found.first) << pointer;
  }
}

// Each word predicts the one that follows it in "n? reads book?".
TEST(NextWords, OfADecoderAreScoredToo) {
  const auto grammar = parsed(grammars::toy());
  const Corpus corpus = corpus_of(grammar, Task::causal);
  Config config{.arch = Arch::decoder,
                .d_model = 16,
                .num_heads = 2,
                .num_layers = 1,
                .ffn = 16,
                .norm = Norm::pre,
                .activation = Activation::gelu,
                .seed = 5};
  const auto plan = grammars::small_plan(config, 300);
  const auto model = trained_model(grammars::trained(plan, corpus, 300), corpus, "");
  Progress progress;
  const auto report = measure_relations(model, *grammar, {.sentences = 50, .pairs = 0, .threads = 2}, progress);
  ASSERT_TRUE(report && *report);
  EXPECT_TRUE((*report)->alignment.heads.empty());
  EXPECT_GT((*report)->next_word.words, 150);
  EXPECT_GT((*report)->next_word.perplexity, 1);
  EXPECT_LT((*report)->next_word.perplexity, static_cast<double>(corpus.rows())) << "it has learned something";
  EXPECT_EQ(next_word_text((*report)->next_word).back(), '\n');
}

}  // namespace
}  // namespace headlight
