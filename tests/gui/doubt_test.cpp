// The warnings about maps that mean little, with remedies: unknown words, random weights. And how a window begins.
#include <set>

#include "app/shipped.h"
#include "gui/harness.h"
#include "models/bundled_models.h"
#include "session/loop/startup.h"
#include "view/settings.h"
#include "words/answer_words.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

/// The window with the models that come along.
class DoubtTest : public GuiTest {
 protected:
  void SetUp() override { begin({1600, 1000}); }
  void begin(ImVec2 size, Settings settings = {}) {
    start(default_document(fixture::shipped().get()), size, std::move(settings));
    harness->state.shipped = fixture::shipped();
    harness->settle();
  }
  /// A sentence that a model of the family does not know; no sentence exchanges that model for another.
  void ask_unknown_words() {
    Config config = document().config;
    config.d_model = 64;
    harness->push(SetConfig{config}, EndGesture{}, SetText{"I am a student"}, EndGesture{});
    harness->settle();
  }
  const Document& document() const { return harness->state.document; }
  const ViewState& view() const { return harness->state.view; }
};

TEST_F(DoubtTest, WhereTheSentenceHasNoRoomItsLastPartsAreLeftOut) {
  begin({1440, 900});
  Harness& h = *harness;
  h.push(ChooseHead{{1, 5}}, Pin{CellRef{4, 0}});
  h.settle();
  ASSERT_TRUE(h.says("same person, right in")) << h.words_on_screen();
  h.resize({960, 600});
  h.settle();
  EXPECT_TRUE(h.says("“我” looks at “我”"));
  h.point_at("stage sentence");
  EXPECT_TRUE(h.says("same person, right in")) << "the whole stands under the pointer";
}

TEST_F(DoubtTest, OfALongSentenceNoCellIsCalledTheStrongest) {
  Harness& h = *harness;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "The teacher gave the students a difficult test. ";
  h.push(SetText{text}, EndGesture{});
  h.settle();
  ASSERT_GT(h.state.trace->queries(Stack::self), 500);
  h.push(Pin{});
  h.settle();
  EXPECT_FALSE(h.says("Strongest between words")) << "its thumbnails have the largest weight of several cells";
}

TEST_F(DoubtTest, ASentenceThatIsKnownIsNotDoubted) {
  EXPECT_FALSE(harness->has("unknown words"));
  EXPECT_FALSE(harness->has("random weights"));
}

TEST_F(DoubtTest, UnknownWordsAreCountedWithWaysOut) {
  Harness& h = *harness;
  ask_unknown_words();
  EXPECT_TRUE(h.has("unknown words"));
  EXPECT_TRUE(h.drew(h.colours().caution, h.box("chip 0"))) << "amber, as all doubt is";
  const ImU32 hatch = (h.colours().caution & ~IM_COL32_A_MASK) | IM_COL32(0, 0, 0, 0x50);
  for (const char* map : {"stage map", "head 0.0"}) EXPECT_TRUE(h.drew(hatch, h.box(map))) << map;
  ASSERT_TRUE(h.has("nearest sentence"));
  const std::string nearest = *h.state.nearest;
  h.click("nearest sentence");
  h.settle();
  EXPECT_EQ(document().source.text, nearest);
  EXPECT_FALSE(h.has("unknown words"));
  ASSERT_TRUE(h.has("undo change"));
  h.click("undo change");
  EXPECT_EQ(document().source.text, "I am a student");
}

TEST_F(DoubtTest, ARelationIsSaidOfThePinnedCellAloneAndNeverAfterAnEdit) {
  Harness& h = *harness;
  h.push(SetText{"The teacher gave the students a difficult test."}, EndGesture{});
  h.settle();
  h.push(ChooseHead{{2, 0}}, Pin{CellRef{1, 2}});
  h.settle();
  EXPECT_TRUE(h.says("“The” looks at “teacher”")) << h.words_on_screen();
  EXPECT_TRUE(h.says("determiner → its noun, right in")) << h.words_on_screen();
  h.hover("stage map", {3, 4});
  ASSERT_TRUE(h.state.view.hovered);
  ASSERT_NE(h.state.view.hovered, h.state.view.pinned);
  EXPECT_FALSE(h.says(", right in")) << "a hovered cell has the bare line";
  h.point_away();
  h.push(Pin{CellRef{2, 0}});
  h.settle();
  EXPECT_TRUE(h.says("“teacher” rests on")) << h.words_on_screen();
  EXPECT_FALSE(h.says(", right in"));
  h.push(Pin{CellRef{1, 2}}, SetWeight{{2, 0}, {1, 2}, 0.9f}, EndGesture{});
  h.settle();
  EXPECT_TRUE(h.says("90 %, set by hand")) << h.words_on_screen();
  EXPECT_FALSE(h.says(", right in"));
}

/// Where the whole line has no room, the relation is what stays the longest.
TEST_F(DoubtTest, TheRelationOfAPinnedCellIsOnTheScreenInBothLanguages) {
  const std::pair<Language, const char*> sentences[] = {
      {Language::en, "The teacher gave the students a difficult test."},
      {Language::en, "My neighbours recommended the restaurant because it was cheap."},
      {Language::en, "The animal didn't cross the street because it was too wide."},
      {Language::zh, "我昨天在超市买了三斤苹果。"},
      {Language::zh, "我请李雷帮我订了去北京的机票"}};
  for (const ImVec2& size : {ImVec2{1440, 900}, ImVec2{1280, 800}})
    for (const auto& [language, text] : sentences) {
      Settings settings;
      settings.language = language;
      settings.ui_scale = fitting_ui_scale(size.x, size.y);
      begin(size, settings);
      Harness& h = *harness;
      h.push(SetText{text}, EndGesture{});
      h.settle();
      const std::vector<NamedArc> named = arcs_of(h.state).named;
      EXPECT_FALSE(named.empty()) << text;
      for (const NamedArc& arc : named) {
        h.push(ChooseHead{arc.head}, Pin{arc.cell});
        h.frame(2);
        EXPECT_TRUE(h.says(relation_in_words(language, arc.relation, arc.reversed)))
            << text << " " << arc.relation << " " << size.x << ": " << h.words_on_screen();
      }
    }
}

TEST_F(DoubtTest, AWindowOpensOnNoNameOfWhichHeadsAreUnsure) {
  for (const char* text : {"人人为我，我为人人。", "妈妈做的饭很好吃。", "The book that you lent me was boring.",
                           "The children were eating ice cream in the park."}) {
    harness->push(SetText{text}, EndGesture{});
    harness->settle();
    const NamedArc* arc = view().pinned ? arcs_of(harness->state).at(view().chosen, *view().pinned) : nullptr;
    if (arc) { EXPECT_GE(arc->weight, 0.9f) << text; }
    for (const char* wrong : {"“为” looks at", "“的” looks at “妈妈”", "“you” looks at “boring”", "“park” looks at"})
      EXPECT_FALSE(harness->says(wrong)) << text;
  }
}

TEST_F(DoubtTest, ALineStatesWhyNoCellHasANameAndMovesNothing) {
  for (const Language language : {Language::en, Language::zh})
    for (const ImVec2& size : {ImVec2{1024, 700}, ImVec2{1440, 900}}) {
      Settings settings;
      settings.language = language;
      begin(size, settings);
      Harness& h = *harness;
      const auto asked = [&](const char* text) {
        h.push(SetText{text}, EndGesture{});
        h.settle();
        return arcs_of(h.state).unnamed;
      };
      EXPECT_EQ(asked("The teacher gave the students a difficult test."), Unnamed::no_relation);
      EXPECT_FALSE(h.has("unnamed cells"));
      const Box line = h.box("model line"), causal = h.box("causal");
      EXPECT_EQ(asked("to the went store milk my teacher of"), Unnamed::order);
      EXPECT_TRUE(h.says(language == Language::en ? "unlike measured sentences" : "不像测量过的句子"))
          << h.words_on_screen();
      EXPECT_EQ(h.box("unnamed cells").y, line.y);
      EXPECT_EQ(h.box("causal"), causal);
      EXPECT_EQ(asked("for i in range(10): print(i)"), Unnamed::kind);
      EXPECT_TRUE(h.says(language == Language::en ? "of no measured kind" : "没有测量过")) << h.words_on_screen();
      EXPECT_FALSE(h.drew(h.colours().caution, h.box("unnamed cells"))) << "no doubt: nothing is wrong";
      std::string text;
      while (text.size() < 2200) text += "The old woman had waited for it all week. ";  // 10 tokens
      EXPECT_EQ(asked(text.c_str()), Unnamed::length);
      EXPECT_TRUE(h.says(std::to_string(kMostArcTokens))) << h.words_on_screen();
      h.point_at("unnamed cells");
      EXPECT_TRUE(h.says(language == Language::en ? "simplified Chinese" : "简体中文"));
    }
}

TEST_F(DoubtTest, RandomWeightsShowTheirOwnGuess) {
  Harness& h = *harness;
  h.push(ChooseHead{{1, 5}}, Pin{CellRef{4, 0}});
  h.settle();
  const Guess trained = *h.state.guess;
  const auto is_its_own = [&] {
    EXPECT_TRUE(h.says("by chance")) << h.words_on_screen();
    EXPECT_TRUE(h.state.guess->model == WeakRef<Model>(h.state.trace->model));
    EXPECT_NE(h.state.guess->words.front().word.probability, trained.words.front().word.probability);
    EXPECT_TRUE(h.has("word " + h.state.guess->words.front().word.text));
    return h.state.guess->words.front().word.probability;
  };
  h.push(UseTrained{false});
  h.frame();
  EXPECT_FALSE(h.has("word " + trained.words.front().word.text) && h.says("by chance")) << "not under another's name";
  h.settle();
  const float first = is_its_own();
  Config config = document().config;
  config.seed = 7;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  EXPECT_NE(is_its_own(), first) << "another seed";
  h.push(UseTrained{true});
  config = document().config;
  config.d_model = 296;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  is_its_own();
}

TEST_F(DoubtTest, ItsWordsStandUnderTheirKinds) {
  Harness& h = *harness;
  ask_unknown_words();
  h.click("its words");
  h.frame(2);
  EXPECT_TRUE(h.says(kWordKindWords.people.en));
  EXPECT_TRUE(h.says(kWordKindWords.times.en));
  ASSERT_TRUE(h.has("known word 李雷"));
  h.click("known word 李雷");
  h.settle();
  EXPECT_EQ(document().source.text, "I am a student李雷");
}

TEST_F(DoubtTest, RandomWeightsLeadBackToTheTrainedOnes) {
  Harness& h = *harness;
  Config config = document().config;
  config.d_model = 236;
  config.num_heads = 4;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  ASSERT_TRUE(h.has("random weights"));
  EXPECT_TRUE(h.says("Back to trained weights"));
  EXPECT_TRUE(h.has("train this shape"));
  h.click("back to trained");
  h.settle();
  EXPECT_TRUE(document().model);
  EXPECT_EQ(document().config.d_model, 128);
  EXPECT_FALSE(h.has("random weights"));
}

TEST_F(DoubtTest, WhatARandomDecoderSaysIsSaidToBeChance) {
  Harness& h = *harness;
  Config config = document().config;
  config.arch = Arch::decoder;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  ASSERT_FALSE(h.has("random weights")) << "the nearest trained decoder";
  config = document().config;
  config.d_model = 236;
  config.num_heads = 4;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  EXPECT_TRUE(h.has("random weights"));
  EXPECT_TRUE(h.says("by chance")) << h.words_on_screen();
}

TEST_F(DoubtTest, ARowThatMayLookAtNothingIsAWarningInAmber) {
  Harness& h = *harness;
  ASSERT_FALSE(h.drew(h.colours().caution, h.box("atlas")));
  for (Index key = 0; key < h.state.trace->keys(Stack::self); ++key)
    h.push(PaintCell{{0, key}, false, Stack::self, std::nullopt});
  h.push(EndGesture{});
  h.settle();
  ASSERT_FALSE(h.state.trace->warnings.empty());
  EXPECT_TRUE(h.drew(h.colours().caution, h.box("atlas")));
}

TEST_F(DoubtTest, TheTrainedTickIsOffWhereWeightsAreRandom) {
  Harness& h = *harness;
  Config config = document().config;
  config.num_heads = 16;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  ASSERT_TRUE(document().trained) << "trained weights are wanted, but this shape has none";
  h.click("trained");
  h.settle();
  EXPECT_TRUE(document().model) << "the tick was off: a click sets it";
}

TEST_F(DoubtTest, ADragOverTheTrainedWidthsStopsAtThem) {
  Harness& h = *harness;
  std::set<Index> widths;
  h.after_frame = [&] { widths.insert(document().config.d_model); };
  h.slide("d_model", 0.24f, 0.02f);
  h.after_frame = nullptr;
  EXPECT_EQ(widths, (std::set<Index>{32, 64, 128}));
  h.slide("d_model", 0.05f, 0.9f);
  EXPECT_GT(document().config.d_model, 400);
  EXPECT_FALSE(document().model);
}

TEST_F(DoubtTest, EveryChangeOffersToUndoIt) {
  Harness& h = *harness;
  const Document before = document();
  for (const char* control : {"causal", "padding", "trained", "tied", "gated"}) {
    SCOPED_TRACE(control);
    h.click(control);
    h.settle();
    EXPECT_FALSE(document() == before);
    ASSERT_TRUE(h.has("undo change"));
    h.click("undo change");
    h.settle();
    EXPECT_TRUE(document() == before);
  }
  h.slide("layers", 0.1f, 0.5f);
  EXPECT_TRUE(h.says("layers 2 →")) << "a drag says so once it ends";
}

TEST_F(DoubtTest, WhatIsSeldomChangedStandsUnderMore) {
  Harness& h = *harness;
  for (const char* open : {"causal", "paint", "d_model", "heads", "layers", "open controls"})
    EXPECT_TRUE(h.has(open)) << open;
  const auto folded = {"padding", "trained", "scale", "dropout", "seed", "ffn", "tied", "kv heads"};
  for (const char* control : folded) EXPECT_FALSE(h.has(control)) << control;
  h.click("causal");
  h.settle();
  h.click("open controls");
  h.frame();
  for (const char* control : folded) EXPECT_TRUE(h.has(control)) << control;
  EXPECT_TRUE(h.has("all layers")) << "a mask was changed: in which layers?";
}

TEST_F(DoubtTest, AWindowBeginsWithWhatTellsMost) {
  Harness& h = *harness;
  begin_looking(h.state);
  h.settle();
  EXPECT_EQ(view().chosen, (HeadRef{1, 5}));
  EXPECT_EQ(view().pinned, (CellRef{4, 0}));
  h.type("The");
  h.settle();
  EXPECT_EQ(document().source.text, "The") << "the sentence box has the keyboard";
}

TEST_F(DoubtTest, TheFirstHeadIsKeptWhereItIsAskedFor) {
  begin_looking(harness->state, true);
  harness->settle();
  EXPECT_EQ(view().chosen, (HeadRef{0, 0}));
  EXPECT_FALSE(view().pinned);
}

TEST_F(DoubtTest, ChineseExamplesCarryTheirEnglish) {
  Harness& h = *harness;
  EXPECT_TRUE(h.says("机票 ticket"));
  Settings settings;
  settings.language = Language::zh;
  begin({1600, 1000}, settings);
  EXPECT_FALSE(harness->says("ticket"));
}

TEST_F(DoubtTest, ADecodersNextWordsStandBehindTheLast) {
  Harness& h = *harness;
  Config config = document().config;
  config.arch = Arch::decoder;
  h.push(SetConfig{config}, SetText{"我请李雷帮我订了去北京的"}, EndGesture{});
  h.settle();
  ASSERT_TRUE(h.has("ghost 0"));
  const std::string word = h.state.guess->words.front().word.text;
  h.click("ghost 0");
  h.settle();
  EXPECT_EQ(document().source.text, "我请李雷帮我订了去北京的" + word);
}

}  // namespace
}  // namespace headlight
