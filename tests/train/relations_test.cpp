#include "train/measure/relations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "train/grammars.h"
#include "train/measure/relations_json.h"

namespace headlight {
namespace {

using grammars::parsed;
using grammars::shipped;
using grammars::toy;
using nlohmann::json;

/// The toy grammar with so many people that hardly a sentence is drawn twice.
json many() {
  json grammar = toy();
  grammar["lists"]["who"] = grammars::words("n", 600);
  return grammar;
}

/// One layer of two heads that knows positions only: head 0 looks at the next word, head 1 at the one before (the first
/// word at the third).
std::shared_ptr<const Model> neighbours(const Grammar& grammar, Arch arch = Arch::encoder) {
  constexpr Index kPlaces = 16;
  const Config config{.arch = arch,
                      .d_model = kPlaces,
                      .num_heads = 2,
                      .head_dim = kPlaces,
                      .num_layers = 1,
                      .ffn = 0,
                      .position = Position::learned};
  Model model = *random_model(config);
  Vocabulary vocabulary{.words = grammar.words, .ids = {}};
  vocabulary.words.insert(vocabulary.words.begin(), "<s>");
  model.embeddings.tokens = table_of(Matrix::Zero(static_cast<Index>(vocabulary.words.size()), kPlaces));
  model.embeddings.positions = Matrix::Identity(kPlaces, kPlaces);
  model.vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  AttentionWeights& attention = model.blocks.front().self;
  attention.query.weight = Matrix::Zero(2 * kPlaces, kPlaces);
  attention.key.weight = Matrix::Zero(2 * kPlaces, kPlaces);
  attention.query.bias = attention.key.bias = Vector::Zero(2 * kPlaces);
  for (Index place = 0; place < kPlaces; ++place) {
    attention.query.weight(place, place) = attention.query.weight(kPlaces + place, place) = 40;
    if (place > 0) attention.key.weight(place - 1, place) = 1;
    if (place + 1 < kPlaces) attention.key.weight(kPlaces + place + 1, place) = 1;
  }
  attention.key.weight(kPlaces, 2) = 1;
  return std::make_shared<const Model>(std::move(model));
}

RelationReport measured_with(const std::shared_ptr<const Model>& model, const Grammar& grammar,
                             RelationOptions options) {
  Progress progress;
  const auto report = measure_relations(model, grammar, options, progress);
  EXPECT_TRUE(report) << (report ? "" : report.error().message());
  return report && *report ? **report : RelationReport{};
}

const RelationScore& of(const RelationReport& report, const std::string& relation) {
  for (const RelationScore& one : report.relations)
    if (one.relation == relation) return one;
  ADD_FAILURE() << relation;
  return report.relations.front();
}

// Three of four sentences are "who verb object", the others have a word in between.
TEST(Relations, OfAModelThatKnowsNeighboursAreThoseOfPlaces) {
  json said = many();
  const std::string first = grammars::words("n", 1);
  said["literals"] = {{{"words", first + " reads bookaa"}, {"relations", {{"VO", {1, 2}}}}},
                      {{"words", first + " reads paa bookaa"}, {"relations", {{"VO", {1, 3}}}}}};
  const auto grammar = parsed(said);
  const RelationReport report =
      measured_with(neighbours(*grammar), *grammar, {.sentences = 400, .apart = {"SP", "VO"}, .threads = 2});
  EXPECT_EQ(report.unknown_words, 0);
  EXPECT_EQ(report.test_seed, 2u);
  ASSERT_EQ(report.relations.size(), 2u);
  EXPECT_EQ(report.pairs, 0) << "the grammar has none";

  const RelationScore& subject = of(report, "SP");
  EXPECT_EQ(subject.sentences, 400);
  EXPECT_EQ(subject.offset, 1) << "always the next word";
  EXPECT_EQ(subject.kind_offset, 1);
  EXPECT_EQ(subject.score.hard_count, 0);
  EXPECT_EQ(subject.score.hard, 0);
  EXPECT_EQ(subject.score.accuracy, 1);
  EXPECT_GT(subject.score.weight, 0.99);
  EXPECT_LT(subject.random, 1);

  const RelationScore& object = of(report, "VO");
  EXPECT_NEAR(object.offset, 0.75, 0.08);
  EXPECT_EQ(object.kind_offset, 1) << "each kind has a distance of its own";
  EXPECT_EQ(object.score.accuracy, object.offset) << "the head is as good as the distance";
  EXPECT_NEAR(object.score.weight, object.score.accuracy, 0.01);

  // Both heads show both relations, from the one word or from the other.
  ASSERT_EQ(subject.directed.size(), 2u);
  EXPECT_EQ(subject.directed[0], (DirectedHead{0, 0, false}));
  EXPECT_EQ(subject.directed[1], (DirectedHead{0, 1, true}));
  EXPECT_EQ(subject.heads[1].accuracy, 1) << "the verb looks back at who";
  EXPECT_FALSE(subject.chosen == object.chosen) << "apart";
  ASSERT_EQ(report.opposite.size(), 2u);
  const RelationScore* back = opposite_of(report, subject);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->chosen, (DirectedHead{0, subject.chosen.reversed ? 0 : 1, !subject.chosen.reversed}))
      << "one head looks at the next word, the other at the one before";
  EXPECT_EQ(back->score.accuracy, 1);
  EXPECT_EQ(back->sentences, 400);
  const RelationReport together =
      measured_with(neighbours(*grammar), *grammar, {.sentences = 50, .apart = {}, .threads = 2});
  EXPECT_EQ(of(together, "SP").chosen, of(together, "VO").chosen) << "the first of equally good ones";

  ASSERT_EQ(report.literals.size(), 2u);
  EXPECT_EQ(report.literals[0].text, "naa reads bookaa");
  EXPECT_EQ(report.literals[0].query, "reads");
  EXPECT_EQ(report.literals[0].key, "bookaa");
  EXPECT_TRUE(report.literals[0].best.shown && report.literals[0].by_chosen);
  EXPECT_GT(report.literals[0].best.weight, 0.99);
  EXPECT_FALSE(report.literals[1].by_chosen) << "the object is two words away";
}

// Three of ten sentences have a word in between, of one kind: no distance is right for more.
TEST(Relations, AreHardWhereNoDistanceIsRight) {
  json said = many();
  said["kinds"].erase(1);
  said["kinds"][0]["variants"][0]["words"] = "{w:who} {v:a.verb} [.3 {place}] {o:a.object}";
  const auto grammar = parsed(said);
  const RelationReport report = measured_with(neighbours(*grammar), *grammar, {.sentences = 400, .threads = 2});
  const RelationScore& object = of(report, "VO");
  EXPECT_NEAR(object.offset, 0.7, 0.08);
  EXPECT_EQ(object.kind_offset, object.offset);
  EXPECT_EQ(object.score.hard_count, static_cast<Index>(std::lround((1 - object.offset) * 400)));
  EXPECT_EQ(object.score.hard, 0) << "a head that knows neighbours only finds none of these";
}

TEST(Relations, LeaveOutTheWordItself) {
  json said = toy();
  said["kinds"].erase(1);
  const auto grammar = parsed(said);
  Model model = *neighbours(*grammar);
  for (Index place = 0; place < 16; ++place) model.blocks.front().self.key.weight(place, place) = 1.05f;
  const RelationReport report =
      measured_with(std::make_shared<const Model>(model), *grammar, {.sentences = 50, .apart = {}, .threads = 1});
  for (const RelationScore& one : report.relations) {
    EXPECT_EQ(one.heads[0].accuracy, 1) << "the next word comes second to the word itself";
    EXPECT_LT(one.heads[0].weight, 0.5);
  }
}

TEST(Relations, OfADecoderAreLookedAtBackwards) {
  json said = toy();
  said["kinds"].erase(1);
  const auto grammar = parsed(said);
  const RelationReport report =
      measured_with(neighbours(*grammar, Arch::decoder), *grammar, {.sentences = 50, .threads = 1});
  for (const RelationScore& one : report.relations) {
    EXPECT_EQ(one.score.accuracy, 1) << one.relation;
    EXPECT_TRUE(one.chosen.reversed) << one.relation << ": no head looks ahead";
  }
  EXPECT_EQ(of(report, "VO").chosen.head, 1);
  EXPECT_GT(of(report, "VO").score.weight, 0.99);
}

class TinyModel : public testing::Test {
 protected:
  static std::shared_ptr<const Model> model() {
    static const std::shared_ptr<const Model> trained = [] {
      const Corpus corpus = corpus_of(shipped());
      const TrainingPlan plan =
          grammars::small_plan({.d_model = 32, .num_heads = 4, .num_layers = 1, .ffn = 32, .norm = Norm::pre}, 150);
      return trained_model(grammars::trained(plan, corpus, 150), corpus, "tiny");
    }();
    return trained;
  }
  static RelationOptions few(int threads) { return {.sentences = 160, .pairs = 30, .threads = threads}; }
};

TEST_F(TinyModel, TheBestOfALayerIsOneOfItsHeads) {
  Config config{.d_model = 16, .num_heads = 3, .head_dim = 5, .num_layers = 3, .ffn = 8};
  Model fresh = *random_model(config);
  fresh.vocabulary = model()->vocabulary;
  const auto words = static_cast<Index>(fresh.vocabulary->words.size());
  fresh.embeddings.tokens = table_of(
      Matrix::NullaryExpr(words, 16, [](Index r, Index c) { return std::sin(static_cast<float>(31 * r + 17 * c)); }));
  const RelationReport report =
      measured_with(std::make_shared<const Model>(std::move(fresh)), *shipped(), {.sentences = 400, .pairs = 0});
  ASSERT_FALSE(report.relations.empty());
  const json written = layers_json(report);
  for (std::size_t r = 0; r < report.relations.size(); ++r) {
    const RelationScore& one = report.relations[r];
    SCOPED_TRACE(one.relation);
    ASSERT_EQ(one.best_of_layer.size(), 3u);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const std::size_t best = one.best_of_layer[layer];
      EXPECT_EQ(best / 3, layer);
      double most = 0;
      for (std::size_t head = 3 * layer; head < 3 * layer + 3; ++head) most = std::max(most, one.heads[head].accuracy);
      if (one.sentences >= 100) {
        EXPECT_NEAR(one.heads[best].accuracy, most, 0.15) << "the best on other sentences is hardly worse on these";
      }
      const json& cell = written["relations"][r]["layers"][layer];
      EXPECT_EQ(cell["layer"], layer);
      EXPECT_EQ(cell["head"], one.directed[best].head);
      EXPECT_EQ(cell["direction"], one.directed[best].reversed ? "key→query" : "query→key");
      EXPECT_NEAR(cell["accuracy"].get<double>(), one.heads[best].accuracy, 1e-4);
    }
    const bool apart = one.relation == "SP" || one.relation == "VO" || one.relation == "DP" || one.relation == "CO";
    if (apart) continue;
    EXPECT_EQ(one.directed[one.best_of_layer.back()], one.chosen);
  }
  EXPECT_TRUE(report.opposite.front().best_of_layer.empty());
}

TEST_F(TinyModel, IsMeasuredTheSameWithAnyNumberOfThreads) {
  const RelationReport one = measured_with(model(), *shipped(), few(1)),
                       three = measured_with(model(), *shipped(), few(3));
  EXPECT_EQ(relations_json(one), relations_json(three));
  ASSERT_EQ(one.relations.size(), 9u);
  const std::set<std::string> apart{"SP", "VO", "DP", "CO"};
  std::set<Index> heads;
  for (std::size_t r = 0; r < 9; ++r) {
    const RelationScore& score = one.relations[r];
    EXPECT_EQ(score.directed, three.relations[r].directed);
    EXPECT_EQ(score.directed.size(), 4u);
    for (std::size_t h = 0; h < 4; ++h) {
      EXPECT_EQ(score.heads[h].accuracy, three.relations[r].heads[h].accuracy);
      EXPECT_EQ(score.heads[h].weight, three.relations[r].heads[h].weight);
      EXPECT_GE(score.heads[h].weight, 0);
      EXPECT_LE(score.heads[h].accuracy, 1);
    }
    EXPECT_EQ(score.score.accuracy, score.heads[static_cast<std::size_t>(score.chosen.head)].accuracy);
    EXPECT_GT(score.sentences, 5) << score.relation;
    if (apart.contains(score.relation)) heads.insert(score.chosen.head);
  }
  EXPECT_EQ(heads.size(), 4u) << "SP, VO, DP and CO want heads of their own";
  EXPECT_EQ(one.pairs, 30);
  EXPECT_LE(one.pairs_right, 30);
  EXPECT_EQ(one.literals.size(), 21u);
}

TEST_F(TinyModel, AnswersOtherSeedsAndScrambledWordsOtherwise) {
  const RelationReport plain = measured_with(model(), *shipped(), few(2));
  RelationOptions other = few(2), scrambled = few(2);
  other.test_seed = 9;
  scrambled.scrambled = true;
  EXPECT_EQ(measured_with(model(), *shipped(), other).test_seed, 9u);
  EXPECT_NE(relations_json(measured_with(model(), *shipped(), other))["relations"], relations_json(plain)["relations"]);
  const RelationReport cut = measured_with(model(), *shipped(), scrambled);
  EXPECT_NE(relations_json(cut)["relations"], relations_json(plain)["relations"]);
  for (std::size_t r = 0; r < 9; ++r)
    EXPECT_EQ(cut.relations[r].offset, plain.relations[r].offset) << "words change, places do not";
}

TEST_F(TinyModel, IsNotMeasuredOnceStopped) {
  Progress progress;
  progress.stop = true;
  const auto report = measure_relations(model(), *shipped(), few(2), progress);
  ASSERT_TRUE(report);
  EXPECT_FALSE(*report);
}

TEST_F(TinyModel, CountsWordsThatItDoesNotKnow) {
  json said = toy();
  said["lists"]["who"] = said["lists"]["who"].get<std::string>() + " 我 老师";
  const RelationReport report = measured_with(model(), *parsed(said), few(2));
  EXPECT_EQ(report.unknown_words, static_cast<Index>(parsed(said)->words.size()) - 2);
}

TEST_F(TinyModel, ProgressReachesItsEnd) {
  Progress progress;
  ASSERT_TRUE(measure_relations(model(), *shipped(), few(2), progress));
  EXPECT_NEAR(progress.done, 1, 1e-4);
}

TEST(Relations, RefuseModelsThatHaveNoneOfTheWords) {
  const auto grammar = parsed(toy());
  const auto refusal = [&](Model model) {
    Progress progress;
    const auto report = measure_relations(std::make_shared<const Model>(std::move(model)), *grammar, {}, progress);
    EXPECT_FALSE(report);
    return report ? std::string() : report.error().message();
  };
  const std::shared_ptr<const Model> whole = neighbours(*grammar);
  Model model = *whole;
  model.vocabulary = nullptr;
  EXPECT_EQ(refusal(model), "relations: model: expected a trained model with a vocabulary, found no vocabulary");
  model = *whole;
  model.embeddings.tokens = nullptr;
  EXPECT_EQ(refusal(model), "relations: model: expected a trained model with a vocabulary, found fresh weights");
  model = *whole;
  model.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{.words = {"<s>", "nothing"}, .ids = {}});
  EXPECT_EQ(refusal(model), "relations: vocabulary: expected words of the grammar, found none of them");
}

TEST(RelationsJson, IsReadBack) {
  RelationReport report{.test_seed = 7, .pairs = 8, .pairs_right = 3};
  RelationScore& score = report.relations.emplace_back();
  score = {.relation = "VO",
           .en = "verb → object",
           .zh = "动词 → 宾语",
           .chosen = {1, 3, true},
           .score = {0.5, 0.25, 0.125, 40},
           .random = 0.1,
           .offset = 0.2,
           .kind_offset = 0.3,
           .sentences = 99};
  report.literals.push_back({.text = "我爱北京",
                             .relation = "VO",
                             .query = "爱",
                             .key = "北京",
                             .best = {{0, 2, true}, true, 0.75},
                             .other = {{1, 0, false}, true, 0.5}});
  const json written = json::parse(relations_json(report).dump());
  JsonProblems problems{"scores"};
  const RelationReport read = relations_from(JsonField(written, "", problems));
  ASSERT_FALSE(problems.first) << problems.first->message();
  EXPECT_EQ(relations_json(read), relations_json(report));
  ASSERT_EQ(read.relations.size(), 1u);
  EXPECT_EQ(read.relations[0].chosen, score.chosen);
  EXPECT_EQ(read.relations[0].score.hard_count, 40);
  EXPECT_EQ(read.relations[0].kind_offset, 0.3);
  EXPECT_EQ(read.relations[0].zh, score.zh);
  EXPECT_EQ(read.pairs_right, 3);
  EXPECT_EQ(read.literals[0].best, report.literals[0].best);
  EXPECT_EQ(read.literals[0].other, report.literals[0].other);

  for (const char* pointer : {"/relations/0/accuracy", "/pairs/count", "/literals/0/weight", "/relations/0/layer"}) {
    json broken = written;
    broken[json::json_pointer(pointer)] = "much";
    JsonProblems found{"scores"};
    relations_from(JsonField(broken, "", found));
    ASSERT_TRUE(found.first) << pointer;
    EXPECT_TRUE(found.first->message().starts_with("scores: ")) << found.first->message();
  }
}

}  // namespace
}  // namespace headlight
