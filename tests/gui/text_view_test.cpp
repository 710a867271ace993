// The text on the stage: which is shown when, how words are chosen, and that it is the figure's.
#include "app/figures.h"
#include "gui/harness.h"
#include "math/attention.h"
#include "session/figure_request.h"
#include "session/shown.h"
#include "views/text/text_scene.h"

namespace headlight {
namespace {

class TextViewTest : public GuiTest {
 protected:
  /// A text of words that all differ, read by one small model.
  void read(Index count, Arch arch = Arch::encoder) {
    start(figures::document_of(count, arch));
    harness->state.view.text.form.reset();
    harness->settle();
  }
  AppState& state() { return harness->state; }
  std::vector<Index> chosen() { return shade_choice(state().view).words; }
  std::string word(Index at) const { return "text word " + std::to_string(at); }
  /// The number under word `at`, once it is there.
  float shade(Index at) {
    harness->settle();
    const auto question = shade_question(state());
    if (!question || !state().shades.to(*question)) {
      ADD_FAILURE() << "no shades";
      return -1;
    }
    return (*state().shades)(at);
  }
};

TEST_F(TextViewTest, LongTextsAreReadAndAChoiceWins) {
  read(20);
  EXPECT_TRUE(harness->has("stage form text"));
  EXPECT_EQ(stage_form(state()), StageForm::sentence);
  harness->click("stage form text");
  harness->settle();
  EXPECT_FALSE(harness->has("stage map"));
  EXPECT_TRUE(harness->has(word(0)));
  read(150);
  EXPECT_TRUE(harness->has("stage text"));
  EXPECT_EQ(state().view.text.form, std::nullopt);
  harness->click("stage form map");
  harness->settle();
  EXPECT_TRUE(harness->has("stage map"));
  EXPECT_EQ(state().view.text.form, StageForm::map);
}

TEST_F(TextViewTest, ShadesAreTheWeightsOfTheChosenWord) {
  read(150);
  harness->click(word(5));
  EXPECT_EQ(chosen(), std::vector<Index>{5});
  const HeadRef head = state().view.chosen;
  const Matrix row = attention_rows(*state().trace, head, 5, 1);
  for (const Index key : {0, 5, 17, 149}) EXPECT_EQ(shade(key), row(0, key));
  harness->click("text columns");
  EXPECT_EQ(chosen(), std::vector<Index>{5});
  for (const Index query : {0, 5, 149}) EXPECT_EQ(shade(query), attention_rows(*state().trace, head, query, 1)(0, 5));
  harness->point_at(word(17));
  harness->settle();
  EXPECT_EQ(state().view.hovered, (CellRef{17, 5}));
  EXPECT_TRUE(harness->says(weight_text(shade(17)))) << "the exact weight";
}

TEST_F(TextViewTest, WordsAddUpByDragShiftAndCtrlAndEscapeLetsThemGo) {
  read(150);
  Harness& h = *harness;
  const auto middle = [&](Index at) {
    const Box box = h.box(word(at));
    return ImVec2{box.x + box.w / 2, box.y + box.h / 2};
  };
  h.drag(middle(2), middle(4));
  EXPECT_EQ(chosen(), (std::vector<Index>{2, 3, 4}));
  const HeadRef head = state().view.chosen;
  const float mean = attention_rows(*state().trace, head, 2, 3).col(9).cast<double>().mean();
  EXPECT_FLOAT_EQ(shade(9), mean);
  h.hold(Key::left_ctrl, true);
  h.click(word(9));
  h.click(word(3));
  h.hold(Key::left_ctrl, false);
  EXPECT_EQ(chosen(), (std::vector<Index>{2, 4, 9}));
  h.click(word(6));
  h.hold(Key::left_shift, true);
  h.click(word(8));
  h.hold(Key::left_shift, false);
  EXPECT_EQ(chosen(), (std::vector<Index>{6, 7, 8}));
  h.key(Key::escape);
  EXPECT_TRUE(chosen().empty());
  h.settle();
  EXPECT_TRUE(h.says("Click a word"));
}

TEST_F(TextViewTest, ArrowsMoveTheWordAndItStaysInSight) {
  read(1500);
  Harness& h = *harness;
  h.push(Pin{CellRef{4, 4}});
  h.settle();
  h.key(Key::right);
  EXPECT_EQ(chosen(), std::vector<Index>{5});
  h.key(Key::left);
  h.key(Key::left);
  EXPECT_EQ(chosen(), std::vector<Index>{3});
  const float y = h.box(word(3)).y;
  h.key(Key::down);
  h.frame(2);
  const Index below = chosen().front();
  EXPECT_GT(below, 3);
  EXPECT_GT(h.box(word(below)).y, y);
  h.key(Key::up);
  EXPECT_EQ(chosen(), std::vector<Index>{3});
  EXPECT_FALSE(h.has(word(1400))) << "only lines in sight are drawn";
  h.push(Pin{CellRef{1400, 0}});
  h.frame(3);
  EXPECT_TRUE(h.has(word(1400)));
}

TEST_F(TextViewTest, TwoTextsStandSideBySide) {
  read(30, Arch::encoder_decoder);
  Harness& h = *harness;
  h.push(ChooseHead{{0, 0, Stack::cross}}, SetTextLook{{.form = StageForm::text}});
  h.settle();
  EXPECT_LT(h.box("text query 0").right(), h.box("text key 0").x);
  h.click("text query 3");
  EXPECT_EQ(shade(2), attention_rows(*state().trace, {0, 0, Stack::cross}, 3, 1)(0, 2));
  h.click("text key 2");
  EXPECT_TRUE(state().view.text.columns) << "the words of the other text are chosen, and the first is shaded";
  EXPECT_EQ(chosen(), std::vector<Index>{2});
  EXPECT_EQ(shade(3), attention_rows(*state().trace, {0, 0, Stack::cross}, 3, 1)(0, 2));
}

TEST_F(TextViewTest, TheFigureHasTheWordsInTheirOrderAndTheSameLook) {
  read(60);
  harness->push(SetTextLook{{.form = StageForm::text, .heads = ShadeHeads::layer, .words = {3, 4}}});
  harness->settle();
  EXPECT_EQ(seen_figure(state()), FigureKind::text);
  FigureRequest order = figure_order(state());
  order.kind = FigureKind::text;
  order.width = kSlideMm;
  const auto drawing = draw_ordered(order, figures::roughly);
  ASSERT_TRUE(drawing) << drawing.error().message();
  ASSERT_EQ(drawing->hits.size(), 60u);
  for (std::size_t i = 0; i + 1 < drawing->hits.size(); ++i) {
    const Box paper = drawing->hits[i].box, next = drawing->hits[i + 1].box;
    const Box seen = harness->box(drawing->hits[i].name), seen_next = harness->box(drawing->hits[i + 1].name);
    EXPECT_TRUE(next.y > paper.y ? next.x <= paper.x : next.x > paper.x);
    EXPECT_TRUE(seen_next.y > seen.y ? seen_next.x <= seen.x : seen_next.x > seen.x);
    EXPECT_NEAR(paper.h / paper.w, seen.h / seen.w, 0.5f * paper.h / paper.w) << drawing->hits[i].name;
  }
  EXPECT_TRUE(figures::says(*drawing, "Shaded: where 2 words look"));
  EXPECT_TRUE(harness->says("Shaded: where 2 words look"));
}

}  // namespace
}  // namespace headlight
