// The bundled trained models: which of them answers which shape, and how sessions name them.
#include "models/bundled_models.h"

#include "app/shipped_models.h"
#include "models/model_choice.h"
#include "question/tokenizers.h"
#include "session/file/session_file.h"

namespace headlight {
namespace {

using fixture::Folder;
using fixture::lexicon;
using fixture::shape;
using fixture::Shipped;
using fixture::Variable;

TEST_F(Shipped, AreReadWithTheirTokenizersAndCardsTheDefaultFirst) {
  const auto all = models();
  std::vector<std::string> names;
  for (const BundledModel& one : *all) {
    names.push_back(one.source);
    ASSERT_NE(one.model, nullptr);
    ASSERT_NE(one.tokenizers, nullptr);
    EXPECT_NE(one.tokenizers->source, nullptr) << message_of(one.tokenizers->problem);
    ASSERT_NE(one.card, nullptr);
    EXPECT_EQ(one.card->step, 3);
    ASSERT_NE(one.model->vocabulary, nullptr);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"shipped:encoder", "shipped:d-32", "shipped:decoder", "shipped:heads-2"}));
}

TEST(BundledModels, HaveTheShapesThatAreReadWithoutThem) {
  const auto models = read_shipped_models();
  const auto shapes = read_shipped_shapes();
  ASSERT_TRUE(models && shapes);
  ASSERT_EQ((*models)->size(), shapes->size());
  for (std::size_t i = 0; i < shapes->size(); ++i) {
    EXPECT_EQ((*models)->at(i).source, shapes->at(i).source);
    EXPECT_EQ((*models)->at(i).model->config, shapes->at(i).config) << shapes->at(i).source;
  }
  Config wide = shapes->front().config;
  wide.d_model = 1000;
  EXPECT_EQ(find_model(*shapes, wide), nullptr);
  EXPECT_EQ(nearest_model(*shapes, wide)->source, nearest_model(**models, wide)->source);
  for (const BundledModel& one : **models)
    EXPECT_EQ(find_model(*shapes, one.model->config)->source, find_model(**models, one.model->config)->source);
}

TEST_F(Shipped, ThatCannotBeReadAreNamed) {
  folder_.with("assets/models/d-32/config.json", "{}");
  const auto read = read_shipped_models();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("d-32"), std::string::npos) << read.error().message();
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
    EXPECT_NE(path.error().message().find("expected the name of a shipped model"), std::string::npos);
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
  EXPECT_EQ(message_of(state.problem), "");
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
  EXPECT_EQ(state.document.model_path, "shipped:encoder") << "the one that answered before";
  EXPECT_TRUE(state.document.trained);

  AppState alone = initial_state(lexicon(), fixture::small_document(), Settings{});
  const Document before = alone.document;
  update(alone, UseTrained{true});
  EXPECT_EQ(alone.document, before) << "none came along";

  // A user's checkpoint has a fixed shape.
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
  state.settings.language = Language::zh;
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
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->document.model_path, kDefaultModel);
  EXPECT_TRUE(read->document.trained);
  EXPECT_TRUE(is_shipped(read->document));
  EXPECT_EQ(read->document.source.text, state.document.source.text);
  ASSERT_NE(read->document.card, nullptr);
  ASSERT_NE(read->document.tokenizers, nullptr);

  AppState fresh = this->state();
  update(fresh, SetConfig{shape(64, 4, 2)});
  const auto again = session_from_json("s.headlight.json", to_json(Session{fresh.document, fresh.view}));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->document, fresh.document) << "`trained` is kept for shapes that have fresh weights";
  EXPECT_TRUE(again->document.trained);

  for (const char* name : {"shipped:gone", "shipped:../../etc"}) {
    std::string other = text;
    other.replace(other.find("shipped:encoder"), std::string("shipped:encoder").size(), name);
    const auto refused = session_from_json("s.headlight.json", other);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message().find('\n'), std::string::npos);
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
