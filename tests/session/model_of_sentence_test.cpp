// The model that a sentence chooses: the default, or the one of any words; the relations of its language.
#include "models/bundled_models.h"

#include "app/shipped_models.h"
#include "models/model_choice.h"
#include "models/open_model.h"

namespace headlight {
namespace {

using fixture::shape;
using fixture::Shipped;
using fixture::write_model;

/// The same with a model that knows 小猫 besides, and is wider than the default.
class ChosenBySentence : public Shipped {
 protected:
  ChosenBySentence() { write_model(any(), shape(24, 3, 3), {"小猫", "不", "认识"}); }
  fixture::fs::path any() const { return folder_.path() / "assets" / "models" / "any-sentence"; }
};

TEST_F(ChosenBySentence, AWordThatTheDefaultDoesNotKnowIsAnsweredByTheOther) {
  AppState state = this->state();
  update(state, SetText{"我请小猫"});
  update(state, EndGesture{});
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
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kDefaultModel) << "it knows all of that";
  EXPECT_EQ(state.document.model, state.shipped->front().model) << "one model, one identity";
  update(state, EndGesture{});
  update(state, Undo{});
  EXPECT_EQ(state.document.model, model) << "the sentence and its model are one step";
  update(state, Redo{});
  update(state, SetText{"小猫"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model, model) << "it is not read again";
  update(state, SetText{""});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "nothing says anything";
  update(state, SetText{"我"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
}

TEST_F(ChosenBySentence, EditsOfAnotherModelsHeadsGo) {
  AppState state = this->state();
  update(state, SetScale{0.5f});
  update(state, SwitchHead{{1, 3}, true});
  update(state, SetWeight{{0, 0}, {0, 1}, 0.5f});
  update(state, SetText{"我请"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.edits.off.size(), 1u) << "the model is the same";
  EXPECT_EQ(state.document.edits.weights.size(), 1u);
  const Edits before = state.document.edits;
  update(state, EndGesture{});
  update(state, SetText{"我请小猫"});
  update(state, EndGesture{});
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
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kDefaultModel) << "李雷 begins so";
  update(state, SetText{"李 我 请"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "a word is typed only at the end";
  update(state, SetText{"我 请 李"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kAnySentence) << "not known yet";
  update(state, SetText{"我 请 李雷"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, kDefaultModel);
}

TEST_F(ChosenBySentence, OtherModelsStay) {
  AppState state = this->state();
  update(state, SetConfig{shape(32, 4, 2)});
  update(state, SetText{"我请小猫"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model_path, "shipped:d-32");
  update(state, UseTrained{false});
  update(state, SetText{"小猫"});
  update(state, EndGesture{});
  EXPECT_EQ(state.document.model, nullptr);
  update(state, SetConfig{shape(16, 4, 2)});
  AppState forgetful = state;
  update(state, UseTrained{true});
  EXPECT_EQ(state.document.model_path, "shipped:d-32") << "the one that was there before";
  state = std::move(forgetful);
  state.undo.clear();
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
  update(state, EndGesture{});
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

}  // namespace
}  // namespace headlight
