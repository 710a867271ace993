// Take from A: the map of what comes back, its forms, its way to a head, its end by hand.
#include <regex>

#include "base/formatted.h"
#include "figure/figure.h"
#include "figure/labels.h"
#include "gui/compare/compare_fixture.h"
#include "gui/shipped_document.h"
#include "math/output.h"

namespace headlight {
namespace {

class PatchViewTest : public CompareViewTest {
 protected:
  void SetUp() override {
    start(fixture::shipped_document("shipped:decoder", "我请李雷帮我喝了最好的"));
    keep_and_ask("我请李雷帮我看了最好的");
    harness->click("take from a");
    harness->settle();
  }
  const PatchMap& map() { return *state().patch; }
  ImVec2 point(CellRef cell) {
    const DrawnMap drawn = harness->map("patch");
    return {
        drawn.box.x + (static_cast<float>(cell.key) + 0.5f) * drawn.box.w / static_cast<float>(drawn.weights.cols()),
        drawn.box.y + (static_cast<float>(cell.query) + 0.5f) * drawn.box.h / static_cast<float>(drawn.weights.rows())};
  }
};

TEST_F(PatchViewTest, TheMapIsWholeAndNamesItsMetric) {
  Harness& h = *harness;
  EXPECT_TRUE(map().is_whole());
  EXPECT_TRUE(same(h.map("patch").weights, map().restored));
  EXPECT_TRUE(h.map("patch").scale.diverging);
  EXPECT_TRUE(h.says(patch_line(Language::en, map()))) << h.words_on_screen();
  EXPECT_FALSE(h.has("patch progress"));
  EXPECT_FALSE(h.has("map A"));
  h.click("compare maps");
  h.settle();
  EXPECT_TRUE(h.has("map A"));
  EXPECT_FALSE(h.has("patch"));
}

/// Both have textures that are known by a number; the harness notices where one number has two contents.
TEST_F(CompareViewTest, WhatIsTakenFromAIsNoShadeOfTheText) {
  start(fixture::shipped_document("shipped:decoder", "我请李雷帮我喝了最好的"));
  harness->push(SetTextLook{{.form = StageForm::text, .words = {1}}});
  harness->settle();
  ASSERT_GT(state().shades.version(), 0u);
  keep_and_ask("我请李雷帮我看了最好的");
  harness->click("take from a");
  harness->settle();
  ASSERT_LE(state().patch.version(), state().shades.version()) << "a number that the text had";
  EXPECT_TRUE(same(harness->map("patch").weights, state().patch->restored));
}

TEST_F(PatchViewTest, EachFormIsAClickAway) {
  Harness& h = *harness;
  h.click("patch residual");
  h.settle();
  EXPECT_EQ(map().choice.form, PatchForm::residual);
  const Index columns = map().restored.cols();
  EXPECT_EQ(columns, state().trace->queries()) << "of as many tokens by position, as `headlight patch`";
  h.click("align words");
  h.settle();
  EXPECT_LT(map().restored.cols(), columns) << "words that differ do not belong together";
  h.click("align positions");
  h.settle();
  EXPECT_EQ(map().restored.cols(), columns);
  EXPECT_EQ(state().comparison->heads->alignment, Alignment::positions) << "one rule for both";
  h.click("patch tokens");
  h.settle();
  EXPECT_EQ(map().choice.form, PatchForm::tokens);
  EXPECT_EQ(map().choice.head.layer, state().view.chosen.layer);
}

TEST_F(PatchViewTest, ACellThatRoundsToNothingHasNoNumber) {
  Harness& h = *harness;
  h.click("patch residual");
  h.settle();
  ASSERT_TRUE((map().restored.array().abs() < 0.005f).any()) << map().restored;
  ASSERT_TRUE((map().restored.array().abs() > 0.1f).any());
  const std::string words = h.words_on_screen();
  EXPECT_FALSE(std::regex_search(words, std::regex("[^0-9]\\.00"))) << words;
  EXPECT_TRUE(std::regex_search(words, std::regex("\\.[1-9]"))) << words;
}

TEST_F(PatchViewTest, ACellOfALayerLeadsToItsHeadsAndAHeadToWhy) {
  Harness& h = *harness;
  h.click("patch residual");
  h.settle();
  h.click_at(point({1, 2}));
  h.settle();
  EXPECT_EQ(state().view.patch.form, PatchForm::tokens);
  EXPECT_EQ(map().choice.head.layer, 1);
  const Index token = map().tokens[3];
  h.click_at(point({2, 3}));
  h.settle();
  EXPECT_EQ(state().view.view, View::inside);
  EXPECT_EQ(state().view.tab, InsideTab::why);
  EXPECT_EQ(state().view.chosen, (HeadRef{1, 2}));
  EXPECT_EQ(state().view.pinned->query, token);
  h.key(Key::backspace);
  h.settle();
  EXPECT_EQ(state().view.view, View::compare);
  EXPECT_TRUE(h.has("patch"));
}

TEST_F(PatchViewTest, ACellNamesItsLayerItsTokenAndWhatComesBack) {
  Harness& h = *harness;
  h.click("patch residual");
  h.settle();
  const std::vector<Token> rows = patch_rows(map()), columns = patch_columns(map(), *state().trace);
  h.move_to(point({1, 3}));
  EXPECT_TRUE(h.says(axis_label(rows[1]) + " · " + axis_label(columns[3]) + " " +
                     typeset(formatted("%+.1f", 100 * static_cast<double>(map().restored(1, 3)))) + " %"))
      << h.words_on_screen();
}

TEST_F(PatchViewTest, WhatIsStoppedStaysAndGoesOn) {
  Harness& h = *harness;
  h.push(SetPatch{{true, PatchForm::tokens, true}});
  h.settle();
  EXPECT_NE(map().choice.form, PatchForm::heads) << "the first rows are there";
  PatchMap part = map();
  part.known = 1;
  part.restored.bottomRows(part.rows() - 1).setConstant(std::numeric_limits<float>::quiet_NaN());
  h.state.patch.put(*patch_question(h.state), std::make_shared<const PatchMap>(part));
  h.settle();
  EXPECT_EQ(map().known, 1);
  EXPECT_TRUE(h.has("patch progress"));
  h.click("patch go on");
  h.settle();
  EXPECT_TRUE(map().is_whole());
}

TEST_F(PatchViewTest, TheMetricItsWordsAndItsPlaceAreChosen) {
  Harness& h = *harness;
  EXPECT_EQ(map().choice.measure.query, std::nullopt) << "a decoder is read where its answer is";
  h.click("metric probability");
  h.settle();
  EXPECT_EQ(map().metric, Metric::probability);
  EXPECT_FALSE(h.has("patch minus"));
  h.click("metric logit-difference");
  h.push(Pin{CellRef{7, 2}});
  h.settle();
  h.click("patch at pinned");
  h.settle();
  EXPECT_EQ(map().choice.measure.query, 7);
  const auto likely = most_probable(*state().trace->model, probabilities(logit_rows(*state().trace, 7, 1).row(0)), 5);
  h.click("patch word");
  h.type(likely[2].text);
  h.click("patch minus");
  h.type(likely[3].text);
  h.settle();
  EXPECT_EQ(map().right, likely[2].text);
  EXPECT_EQ(map().wrong, likely[3].text);
  Progress progress;
  const auto whole = patch_map(*compared_trace(state()), *state().trace, map().choice, progress);
  EXPECT_TRUE(same(map().restored, whole->restored));
  EXPECT_TRUE(h.says(patch_line(Language::en, map()))) << h.words_on_screen();
  const auto read = session_from_json("s", to_json(session_of(state())));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->view.patch, state().view.patch);
  h.type("zzz");
  h.settle();
  EXPECT_TRUE(h.has("no patch"));
  EXPECT_TRUE(h.has("patch minus")) << "the word can be corrected";
  h.click("patch residual");
  EXPECT_EQ(state().view.patch.words.word, likely[2].text) << "another form keeps what is measured";
}

TEST_F(PatchViewTest, AnEncoderHidesThePinnedWord) {
  start(fixture::shipped_document("shipped:encoder", "我请李雷帮我订了去北京的机票"));
  keep_and_ask("我请李雷帮我看了去北京的机票");
  Harness& h = *harness;
  h.click("take from a");
  h.push(Pin{CellRef{2, 1}});
  h.settle();
  EXPECT_EQ(map().choice.measure.query, 2);
  ASSERT_TRUE(map().hidden_a && map().hidden_b);
  EXPECT_TRUE(h.says("” hidden: clean (A) ")) << h.words_on_screen();
  h.click("patch at answer");
  h.settle();
  EXPECT_EQ(map().choice.measure.query, std::nullopt);
  EXPECT_EQ(map().hidden_b, nullptr);
}

TEST_F(PatchViewTest, TheSameAnswerGivesALine) {
  Harness& h = *harness;
  h.push(KeepAnswer{});
  h.settle();
  EXPECT_TRUE(h.has("no patch"));
}

TEST_F(PatchViewTest, TheFigureIsTheMapAndASessionKeepsIt) {
  Harness& h = *harness;
  h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
  h.settle();
  EXPECT_EQ(state().browser.figure, FigureKind::patch);
  EXPECT_TRUE(state().preview && !state().preview->problem);
  h.push(Browse{}, SetAlignment{Alignment::positions});
  const auto read = session_from_json("s", to_json(session_of(state())));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->view.patch.on);
  EXPECT_EQ(read->view.alignment, Alignment::positions);
}

}  // namespace
}  // namespace headlight
