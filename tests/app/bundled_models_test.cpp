// The trained models that come along: which of them answers which shape, and how sessions name them.
#include "document/bundled_models.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "core/grammars.h"
#include "document/model_choice.h"
#include "document/open_model.h"
#include "document/tokenizers.h"
#include "session/session_file.h"
#include "session/update.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

using fixture::Folder;
using fixture::lexicon;
using fixture::Variable;

Config shape(Index d_model, Index heads, Index layers, Arch arch = Arch::encoder) {
  return {.arch = arch,
          .d_model = d_model,
          .num_heads = heads,
          .num_layers = layers,
          .ffn = 16,
          .norm = Norm::pre,
          .activation = Activation::gelu};
}

/// A model of the default sentence's words, and of more, in a folder of its own.
void write_model(const fixture::fs::path& folder, Config config, const std::vector<std::string>& more = {}) {
  std::vector<std::vector<std::string>> text = {{"我", "请", "李雷", "帮", "订了", "去", "北京", "的", "机票"}};
  if (!more.empty()) text.push_back(more);
  const Corpus corpus = *corpus_of("text", text, 100, 20);
  config.seed = 4;
  const TrainingPlan plan = grammars::small_plan(config, 3);
  TrainingCard card{.plan = plan, .corpus = "grammar", .command = "", .step = 3};
  card.scores.emplace();
  for (const char* relation : {"VO", "SP"}) {
    RelationScore& score = card.scores->relations.emplace_back();
    score.relation = relation;
    score.chosen = {0, 1, true};
  }
  ASSERT_TRUE(save_checkpoint(folder, *trained_model(grammars::trained(plan, corpus, 3), corpus, "shipped"), card));
}

/// The program's data with four models in them.
class Shipped : public testing::Test {
 protected:
  Shipped() : data_("HEADLIGHT_DATA", folder_.path().c_str()) {
    const auto models = folder_.path() / "assets" / "models";
    fixture::fs::create_directories(folder_.path() / "shaders");
    fixture::fs::create_directories(models);
    write_model(models / "encoder", shape(16, 4, 2));
    write_model(models / "d-32", shape(32, 4, 2));
    write_model(models / "heads-2", shape(16, 2, 2));
    write_model(models / "decoder", shape(16, 4, 2, Arch::decoder));
  }

  std::shared_ptr<const BundledModels> models() const {
    const auto read = read_shipped_models();
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *read : nullptr;
  }
  AppState state() const {
    const auto shipped = models();
    return initial_state(lexicon(), default_document(shipped.get()), Settings{}, {}, shipped);
  }

  Folder folder_;
  Variable data_;
};

TEST_F(Shipped, AreReadWithTheirTokenizersAndCardsTheDefaultFirst) {
  const auto all = models();
  std::vector<std::string> names;
  for (const BundledModel& one : *all) {
    names.push_back(one.source);
    ASSERT_NE(one.model, nullptr);
    ASSERT_NE(one.tokenizers, nullptr);
    EXPECT_NE(one.tokenizers->source, nullptr) << one.tokenizers->problem;
    ASSERT_NE(one.card, nullptr);
    EXPECT_EQ(one.card->step, 3);
    ASSERT_NE(one.model->vocabulary, nullptr);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"shipped:encoder", "shipped:d-32", "shipped:decoder", "shipped:heads-2"}));
}

TEST_F(Shipped, ThatCannotBeReadAreNamed) {
  folder_.with("assets/models/d-32/config.json", "{}");
  const auto read = read_shipped_models();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("d-32"), std::string::npos) << read.error().message;
}

/// The same with a model that knows 小猫 besides, and is wider than the default.
class ChosenBySentence : public Shipped {
 protected:
  ChosenBySentence() { write_model(any(), shape(24, 3, 3), {"小猫", "不", "认识"}); }
  fixture::fs::path any() const { return folder_.path() / "assets" / "models" / "any-sentence"; }
};

TEST_F(ChosenBySentence, AWordThatTheDefaultDoesNotKnowIsAnsweredByTheOther) {
  AppState state = this->state();
  update(state, SetText{"我请小猫"});
  EXPECT_EQ(state.document.model_path, kAnySentence);
  EXPECT_TRUE(state.document.trained);
  EXPECT_TRUE(is_any_sentence(state.document));
  EXPECT_EQ(state.document.config.num_layers, 3);
  ASSERT_EQ(state.requests.size(), 1u);
  EXPECT_EQ(state.requests[0].model, state.document.model);
  for (const Token& token : state.requests[0].tokens.tokens) EXPECT_TRUE(token.known) << token.text;
  const auto model = state.document.model;
  update(state, EndGesture{});
  update(state, SetText{"我请李雷"});
  EXPECT_EQ(state.document.model_path, kDefaultModel) << "it knows all of that";
  EXPECT_EQ(state.document.model, state.shipped->front().model) << "one model, one identity";
  update(state, EndGesture{});
  update(state, Undo{});
  EXPECT_EQ(state.document.model, model) << "the sentence and its model are one step";
  update(state, Redo{});
  update(state, SetText{"小猫"});
  EXPECT_EQ(state.document.model, model) << "it is not read again";
  update(state, SetText{""});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "nothing says anything";
  update(state, SetText{"我"});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
}

TEST_F(ChosenBySentence, EditsOfAnotherModelsHeadsGo) {
  AppState state = this->state();
  update(state, SetScale{0.5f});
  update(state, SwitchHead{{1, 3}, true});
  update(state, SetWeight{{0, 0}, {0, 1}, 0.5f});
  update(state, SetText{"我请"});
  EXPECT_EQ(state.document.edits.off.size(), 1u) << "the model is the same";
  EXPECT_EQ(state.document.edits.weights.size(), 1u);
  const Edits before = state.document.edits;
  update(state, EndGesture{});
  update(state, SetText{"我请小猫"});
  ASSERT_EQ(state.document.model_path, kAnySentence);
  EXPECT_TRUE(state.document.edits.off.empty());
  EXPECT_TRUE(state.document.edits.weights.empty());
  EXPECT_EQ(state.document.edits.scale, 0.5f) << "which is of no head";
  update(state, EndGesture{});
  update(state, Undo{});
  EXPECT_EQ(state.document.edits, before);
}

TEST_F(ChosenBySentence, AWordThatIsBeingTypedIsNotUnknownYet) {
  AppState state = this->state();
  update(state, SetText{"我 请 李"});
  EXPECT_EQ(state.document.model_path, kDefaultModel) << "李雷 begins so";
  update(state, SetText{"李 我 请"});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "a word is typed only at the end";
  update(state, SetText{"我 请 李"});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "not known yet";
  update(state, SetText{"我 请 李雷"});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
}

TEST_F(ChosenBySentence, OtherModelsStay) {
  AppState state = this->state();
  update(state, SetConfig{shape(32, 4, 2)});
  update(state, SetText{"我请小猫"});
  EXPECT_EQ(state.document.model_path, "shipped:d-32");
  update(state, UseTrained{false});
  update(state, SetText{"小猫"});
  EXPECT_EQ(state.document.model, nullptr);
  update(state, SetConfig{shape(16, 4, 2)});
  update(state, UseTrained{true});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "trained weights for this sentence";
}

TEST_F(ChosenBySentence, OfACommandTheWholeSentenceChooses) {
  auto opened = open_model(kDefaultModel);
  ASSERT_TRUE(opened);
  Document document = opened->document;
  document.source.text = "我请李";
  ASSERT_TRUE(choose_model(document, nullptr));
  EXPECT_EQ(document.model_path, kAnySentence) << "李 is a word of its own";
  const Document any_document = document;
  document.source.text = "我请李雷";
  ASSERT_TRUE(choose_model(document, nullptr, {&opened->document}));
  EXPECT_EQ(document.model, opened->document.model) << "not read again";
  document.source.text = "小猫";
  ASSERT_TRUE(choose_model(document, nullptr, {&any_document}));
  EXPECT_EQ(document.model, any_document.model);
  document = opened->document;
  document.source.text = "小猫";
  fixture::fs::remove_all(any());
  ASSERT_TRUE(choose_model(document, nullptr)) << "it did not come along";
  EXPECT_EQ(document.model_path, kDefaultModel);
}

TEST_F(ChosenBySentence, AModelThatCannotBeReadLeavesTheOneThatAnswers) {
  folder_.with("assets/models/any-sentence/config.json", "{}");
  AppState state = this->state();
  EXPECT_FALSE(state.notice) << "nothing has asked for it";
  update(state, SetText{"小猫"});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
  ASSERT_TRUE(state.notice);
  EXPECT_NE(state.notice->text.find("any-sentence"), std::string::npos) << state.notice->text;
}

TEST_F(ChosenBySentence, TheFamilyDoesNotHoldIt) {
  const auto all = models();
  for (const BundledModel& one : *all) EXPECT_NE(one.source, kAnySentence);
  EXPECT_EQ(find_model(*all, shape(24, 3, 3)), nullptr);
}

TEST(MeasuredRelations, AreThoseOfTheSentencesLanguage) {
  TrainingCard card;
  card.scores.emplace();
  for (const char* relation : {"nsubj", "zh:nsubj"}) {
    RelationScore& one = card.scores->relations.emplace_back();
    one.relation = relation;
    one.chosen = {3, 1};
  }
  Document document;
  document.card = std::make_shared<const TrainingCard>(card);
  const auto relation = [&](const char* text) {
    document.source.text = text;
    const auto found = relations_of(document, {.layer = 3, .head = 1});
    return found.size() == 1 ? found.front()->relation : "";
  };
  EXPECT_EQ(relation("The cat sat."), "nsubj");
  EXPECT_EQ(relation("A cat, 猫, sat."), "zh:nsubj");
  card.scores->relations.pop_back();
  document.card = std::make_shared<const TrainingCard>(card);
  EXPECT_EQ(relation("猫"), "nsubj") << "there are no others";
}

TEST(BundledModels, MayBeNone) {
  const Folder folder;
  fixture::fs::create_directories(folder / "shaders");
  fixture::fs::create_directories(folder / "assets");
  const Variable data("HEADLIGHT_DATA", folder.path().c_str());
  const auto read = read_shipped_models();
  ASSERT_TRUE(read);
  EXPECT_TRUE((*read)->empty());
  EXPECT_EQ(nearest_model(**read, Config{}), nullptr);
  EXPECT_EQ(default_document(read->get()), Document{});
  EXPECT_EQ(default_document(nullptr), Document{});
}

TEST_F(Shipped, NamesAreFoldersAmongTheAssetsAndNothingElse) {
  EXPECT_EQ(resolved_source("shipped:encoder")->string(), (folder_.path() / "assets" / "models" / "encoder").string());
  EXPECT_EQ(resolved_source("/some/model")->string(), "/some/model");
  EXPECT_EQ(resolved_source("")->string(), "");
  for (const char* name : {"shipped:", "shipped:..", "shipped:../samples", "shipped:a/b", "shipped:/etc", "shipped:.",
                           "shipped:Encoder", "shipped:a b", "shipped:\xe5"}) {
    const auto path = resolved_source(name);
    ASSERT_FALSE(path) << name;
    EXPECT_NE(path.error().message.find("expected the name of a shipped model"), std::string::npos);
  }
}

TEST_F(Shipped, AreFoundByShapeAndByNearness) {
  const auto all = models();
  const auto source = [](const BundledModel* model) { return model ? model->source : std::string(); };
  Config wanted = shape(16, 4, 2);
  wanted.seed = 99;
  wanted.tied = false;
  EXPECT_EQ(source(find_model(*all, wanted)), "shipped:encoder") << "whatever else it says";
  EXPECT_EQ(source(find_model(*all, shape(16, 4, 2, Arch::decoder))), "shipped:decoder");
  EXPECT_EQ(source(find_model(*all, shape(16, 2, 2))), "shipped:heads-2");
  wanted.head_dim = 4;
  EXPECT_EQ(source(find_model(*all, wanted)), "shipped:encoder") << "d_k as it is anyway";
  for (const auto change :
       {+[](Config& c) { c.num_layers = 3; }, +[](Config& c) { c.ffn = 17; }, +[](Config& c) { c.head_dim = 5; },
        +[](Config& c) { c.norm = Norm::post; }, +[](Config& c) { c.num_kv_heads = 2; },
        +[](Config& c) { c.gated = true; }, +[](Config& c) { c.position = Position::none; },
        +[](Config& c) { c.activation = Activation::relu; }, +[](Config& c) { c.norm_kind = NormKind::rms_norm; },
        +[](Config& c) { c.arch = Arch::encoder_decoder; }}) {
    Config other = shape(16, 4, 2);
    change(other);
    EXPECT_EQ(find_model(*all, other), nullptr);
  }

  EXPECT_EQ(source(nearest_model(*all, shape(16, 4, 2))), "shipped:encoder");
  EXPECT_EQ(source(nearest_model(*all, shape(512, 4, 2))), "shipped:d-32");
  EXPECT_EQ(source(nearest_model(*all, shape(16, 1, 2))), "shipped:heads-2");
  EXPECT_EQ(source(nearest_model(*all, shape(512, 8, 6, Arch::decoder))), "shipped:decoder");
  EXPECT_NE(nearest_model(*all, shape(16, 4, 2, Arch::encoder_decoder)), nullptr) << "none of its architecture";
}

TEST_F(Shipped, DefaultDocumentIsTheDefaultSentenceOfTheDefaultModel) {
  const AppState state = this->state();
  EXPECT_EQ(state.document.model_path, kDefaultModel);
  EXPECT_TRUE(state.document.trained);
  EXPECT_TRUE(is_shipped(state.document));
  EXPECT_EQ(state.document.source.text, kDefaultSentence);
  EXPECT_EQ(state.problem, "");
  ASSERT_EQ(state.requests.size(), 1u);
  EXPECT_EQ(state.requests[0].tokens.size(), 10u);
  EXPECT_EQ(state.requests[0].model, state.document.model);
  for (const Token& token : state.requests[0].tokens.tokens) EXPECT_TRUE(token.known) << token.text;
  EXPECT_FALSE(has_unsaved_changes(state));
}

TEST_F(Shipped, SlidersFindTheModelOfAShapeOrFreshWeights) {
  AppState state = this->state();
  const auto asked = [&] { return wanted(state) ? wanted(state)->tokens.size() : 0; };
  update(state, SetConfig{shape(32, 4, 2)});
  EXPECT_EQ(state.document.model_path, "shipped:d-32");
  EXPECT_EQ(state.document.config.d_model, 32);
  EXPECT_EQ(asked(), 10u);

  update(state, SetConfig{shape(64, 4, 2)});
  EXPECT_EQ(state.document.model, nullptr);
  EXPECT_EQ(state.document.tokenizers, nullptr);
  EXPECT_EQ(state.document.card, nullptr);
  EXPECT_EQ(state.document.model_path, "");
  EXPECT_TRUE(state.document.trained) << "would rather be trained";
  EXPECT_EQ(state.document.config.d_model, 64);
  EXPECT_EQ(asked(), 10u);

  update(state, SetConfig{shape(16, 2, 2)});
  EXPECT_EQ(state.document.model_path, "shipped:heads-2");

  update(state, SetConfig{shape(16, 4, 2, Arch::decoder)});
  EXPECT_EQ(state.document.model_path, "shipped:decoder");
  EXPECT_TRUE(state.document.mask.causal) << "a decoder begins so";
  EXPECT_EQ(asked(), 11u) << "<s> before the words";
  update(state, EndGesture{});
  update(state, Undo{});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
  EXPECT_FALSE(state.document.mask.causal);
}

TEST_F(Shipped, AnotherArchitectureIsItsNearestModelWhateverTheShape) {
  AppState state = this->state();
  Config other = state.document.config;
  other.arch = Arch::encoder_decoder;
  update(state, SetConfig{other});
  EXPECT_EQ(state.document.model, nullptr) << "none of this architecture";
  EXPECT_EQ(state.document.config.arch, Arch::encoder_decoder);
  EXPECT_TRUE(state.document.trained);
  other = state.document.config;
  other.d_model = 24;
  other.num_layers = 1;
  other.arch = Arch::decoder;
  update(state, SetConfig{other});
  EXPECT_EQ(state.document.model_path, "shipped:decoder");
  EXPECT_EQ(state.document.config.d_model, 16) << "as it was trained";
  EXPECT_TRUE(state.document.mask.causal);
  other = state.document.config;
  other.d_model = 30;
  other.arch = Arch::encoder;
  update(state, SetConfig{other});
  EXPECT_EQ(state.document.model_path, "shipped:d-32");
  EXPECT_FALSE(state.document.mask.causal);
  update(state, UseTrained{false});
  other = state.document.config;
  other.arch = Arch::decoder;
  update(state, SetConfig{other});
  EXPECT_EQ(state.document.model, nullptr) << "fresh weights were asked for";
}

TEST_F(Shipped, TrainedWeightsAreAChoice) {
  AppState state = this->state();
  update(state, UseTrained{false});
  EXPECT_EQ(state.document.model, nullptr);
  EXPECT_FALSE(state.document.trained);
  EXPECT_EQ(state.document.config, find_model(*state.shipped, shape(16, 4, 2))->model->config) << "the shape stays";
  update(state, SetConfig{shape(32, 4, 2)});
  EXPECT_EQ(state.document.model, nullptr) << "fresh weights were asked for";
  update(state, SetConfig{shape(48, 4, 2)});
  update(state, UseTrained{true});
  EXPECT_EQ(state.document.model_path, "shipped:d-32") << "the nearest";
  EXPECT_TRUE(state.document.trained);

  AppState alone = initial_state(lexicon(), fixture::small_document(), Settings{});
  const Document before = alone.document;
  update(alone, UseTrained{true});
  EXPECT_EQ(alone.document, before) << "none came along";

  // A user's checkpoint has a shape of its own.
  AppState own = this->state();
  own.document.model_path = "/some/folder";
  own.document.trained = false;
  const Document kept = own.document;
  update(own, SetConfig{shape(32, 4, 2)});
  update(own, UseTrained{false});
  EXPECT_EQ(own.document, kept);
}

TEST_F(Shipped, ResetGoesBackToTheDefaultModel) {
  AppState state = this->state();
  const Document before = state.document;
  update(state, SetText{"我爱北京"});
  update(state, UseTrained{false});
  update(state, SetConfig{shape(64, 8, 1)});
  update(state, Reset{});
  EXPECT_EQ(state.document, before);
  EXPECT_EQ(wanted(state)->tokens.size(), 10u);
  update(state, Undo{});
  EXPECT_EQ(state.document.config.d_model, 64);
}

TEST_F(Shipped, SessionsNameTheModelAndNoPath) {
  const AppState state = this->state();
  const std::string text = to_json(Session{state.document, state.view});
  EXPECT_NE(text.find("\"shipped:encoder\""), std::string::npos) << text;
  EXPECT_EQ(text.find(folder_.path().string()), std::string::npos) << text;
  const auto read = session_from_json("s.headlight.json", text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->document.model_path, kDefaultModel);
  EXPECT_TRUE(read->document.trained);
  EXPECT_TRUE(is_shipped(read->document));
  EXPECT_EQ(read->document.source.text, state.document.source.text);
  ASSERT_NE(read->document.card, nullptr);
  ASSERT_NE(read->document.tokenizers, nullptr);

  AppState fresh = this->state();
  update(fresh, SetConfig{shape(64, 4, 2)});
  const auto again = session_from_json("s.headlight.json", to_json(Session{fresh.document, fresh.view}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->document, fresh.document) << "`trained` is kept for shapes that have fresh weights";
  EXPECT_TRUE(again->document.trained);

  for (const char* name : {"shipped:gone", "shipped:../../etc"}) {
    std::string other = text;
    other.replace(other.find("shipped:encoder"), std::string("shipped:encoder").size(), name);
    const auto refused = session_from_json("s.headlight.json", other);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(Shipped, HeadsSayWhatTheyWereChosenFor) {
  const Document document = this->state().document;
  const auto relations = relations_of(document, {0, 1});
  ASSERT_EQ(relations.size(), 2u);
  EXPECT_EQ(relations[0]->relation, "VO");
  EXPECT_EQ(relations[1]->relation, "SP");
  EXPECT_TRUE(relations_of(document, {0, 0}).empty());
  Document both = document;
  TrainingCard turned = *document.card;
  turned.scores->opposite = {turned.scores->relations[0]};
  turned.scores->opposite[0].chosen = {0, 0, false};
  both.card = std::make_shared<const TrainingCard>(turned);
  ASSERT_EQ(opposites_of(both, {0, 0}).size(), 1u);
  EXPECT_EQ(opposites_of(both, {0, 0})[0]->relation, "VO");
  EXPECT_TRUE(opposites_of(both, {0, 1}).empty());
  EXPECT_TRUE(opposites_of(Document{}, {0, 0}).empty());
  EXPECT_TRUE(relations_of(document, {0, 1, Stack::encoder}).empty());
  Document translating = document;
  TrainingCard card = *document.card;
  card.scores->relations[0].stack = Stack::cross;
  translating.card = std::make_shared<const TrainingCard>(card);
  ASSERT_EQ(relations_of(translating, {0, 1, Stack::cross}).size(), 1u);
  EXPECT_EQ(relations_of(translating, {0, 1, Stack::cross})[0]->relation, "VO");
  EXPECT_EQ(relations_of(translating, {0, 1}).size(), 1u);
  EXPECT_TRUE(relations_of(Document{}, {0, 1}).empty());
}

}  // namespace
}  // namespace headlight
