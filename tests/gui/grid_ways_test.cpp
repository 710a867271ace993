// All layers at a glance, and one row or one column of every head.
#include "figure/labels.h"
#include "gui/harness.h"
#include "math/attention.h"
#include "session/head_grid.h"

namespace headlight {
namespace {

class GridWaysTest : public GuiTest {
 protected:
  void show(GridShow way) {
    harness->say(ShowGrid{way});
    harness->settle();
    harness->probe.clear();
    harness->frame(2);
  }
};

std::string place_of(const char* what, HeadRef head) {
  return std::string(what) + " " + std::to_string(head.layer) + "." + std::to_string(head.head);
}

TEST_F(GridWaysTest, OneKeyStepsThroughThem) {
  Harness& h = *harness;
  for (const GridShow way : {GridShow::glance, GridShow::query, GridShow::key, GridShow::relations, GridShow::maps}) {
    h.key(Key::digit_1);
    EXPECT_EQ(h.state.view.grid, way);
  }
  h.key({Key::left_shift, Key::digit_1});
  EXPECT_EQ(h.state.view.grid, GridShow::relations);
  h.key({Key::left_shift, Key::digit_1});
  EXPECT_EQ(h.state.view.grid, GridShow::key);
  h.key(Key::digit_3);
  h.key(Key::digit_1);
  EXPECT_EQ(h.state.view.grid, GridShow::key) << "from another view it comes back";
  h.click("grid glance");
  EXPECT_EQ(h.state.view.grid, GridShow::glance);
}

TEST_F(GridWaysTest, AGlanceHasEveryHeadOfEveryLayer) {
  Document document;
  document.config = {.d_model = 64, .num_heads = 16, .num_layers = 12, .ffn = 0};
  start(document);
  Harness& h = *harness;
  show(GridShow::glance);
  EXPECT_EQ(h.maps.drawn.size(), 12u * 16 + 1) << "and the large one";
  const Box panel = h.box("atlas");
  for (Index layer = 0; layer < 12; ++layer)
    for (Index head = 0; head < 16; ++head) {
      const DrawnMap map = h.map(place_of("head", {layer, head}));
      EXPECT_TRUE(same(map.weights, weights_of(*h.state.trace, {layer, head})));
      EXPECT_GE(map.box.x, panel.x);
      EXPECT_LE(map.box.bottom(), panel.bottom());
    }
  h.click("head 7.11");
  EXPECT_EQ(h.state.view.chosen, (HeadRef{7, 11}));
  h.point_at("head 3.2");
  EXPECT_EQ(h.state.view.hovered_head, (HeadRef{3, 2}));
  EXPECT_TRUE(h.says("L3·H2")) << "its name, and the map large";
  EXPECT_EQ(h.maps.drawn.size(), 12u * 16 + 2);
}

TEST_F(GridWaysTest, AGlanceFollowsOrderSearchAndSwitches) {
  Harness& h = *harness;
  h.say(OrderHeads{{.by = HeadOrder::By::measure, .measure = Measure::entropy}});
  show(GridShow::glance);
  const std::vector<HeadRef> order = shown_order(h.state);
  ASSERT_EQ(order.size(), 8u);
  const Box first = h.box(place_of("head", order[0])), second = h.box(place_of("head", order[1]));
  EXPECT_LT(first.x, second.x);
  EXPECT_EQ(first.y, second.y);
  EXPECT_LT(first.y, h.box(place_of("head", order[4])).y);
  h.say(SwitchHead{order[0], true}, EndGesture{});
  h.settle();
  EXPECT_LT(h.map(place_of("head", order[0])).opacity, 0.5f);
}

TEST_F(GridWaysTest, ARowIsThatOfThePinnedCell) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}});
  show(GridShow::query);
  EXPECT_TRUE(h.says("机票 looks, in every head, at"));
  const HeadLine line = *shown_line(h.state);
  EXPECT_EQ(line, (HeadLine{Stack::self, true, 9}));
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 3}}) {
    EXPECT_TRUE(same(line_of_head(h.state, line, head), attention_rows(*h.state.trace, head, 9, 1)));
    EXPECT_TRUE(h.has(place_of("line head", head)));
  }
  // The bar under the pointer is that key's.
  const Box bars = h.box("line head 0.2");
  h.move_to({bars.x + bars.w * 0.35f, bars.y + bars.h / 2});
  EXPECT_EQ(h.state.view.hovered, (CellRef{9, 3}));
  EXPECT_EQ(h.state.view.hovered_head, (HeadRef{0, 2}));
  h.click_at({bars.x + bars.w * 0.35f, bars.y + bars.h / 2});
  EXPECT_EQ(h.state.view.pinned, (CellRef{9, 3}));
  EXPECT_EQ(h.state.view.chosen, (HeadRef{0, 2}));
}

TEST_F(GridWaysTest, AColumnIsWhoLooks) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}});
  show(GridShow::key);
  EXPECT_TRUE(h.says("订了 is looked at, in every head, by"));
  const HeadLine line = *shown_line(h.state);
  EXPECT_TRUE(same(line_of_head(h.state, line, {1, 1}), Matrix(weights_of(*h.state.trace, {1, 1}).col(5).transpose())));
  const Box bars = h.box("line head 1.0");
  h.move_to({bars.x + bars.w * 0.65f, bars.y + bars.h / 2});
  EXPECT_EQ(h.state.view.hovered, (CellRef{6, 5}));
}

TEST_F(GridWaysTest, WithoutAPinnedCellItIsTheLastWord) {
  show(GridShow::query);
  EXPECT_EQ(shown_line(harness->state)->at, 9);
}

TEST_F(GridWaysTest, LinesOfLongSentencesAreExact) {
  Harness& h = *harness;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "w" + std::to_string(i % 17) + " ";
  h.say(SetText{text}, EndGesture{});
  h.settle();
  h.say(Pin{CellRef{200, 40}});
  for (const GridShow way : {GridShow::query, GridShow::key}) {
    show(way);
    const HeadLine line = *shown_line(h.state);
    const Matrix weights = attention_rows(*h.state.trace, {1, 2}, 0, h.state.trace->queries());
    const Vector found = line_of_head(h.state, line, {1, 2});
    ASSERT_GE(found.size(), 300);
    EXPECT_TRUE(same(found, way == GridShow::query ? Matrix(weights.row(200)) : Matrix(weights.col(40).transpose())));
  }
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(GridWaysTest, AnEmptySentenceHasNoLine) {
  Harness& h = *harness;
  show(GridShow::query);
  h.say(SetText{""}, EndGesture{});
  h.settle();
  EXPECT_TRUE(h.says("No sentence yet"));
  EXPECT_FALSE(h.has("line head 9.9"));
}

TEST_F(GridWaysTest, EveryMapCanHaveItsOwnRange) {
  Harness& h = *harness;
  const float shared = h.map("head 0.0").scale.top;
  EXPECT_EQ(h.map("head 1.3").scale.top, shared);
  h.key({Key::left_alt, Key::left_shift, Key::g});
  h.frame(2);
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 3}})
    EXPECT_EQ(h.map(place_of("head", head)).scale.top, nice_top(weights_of(*h.state.trace, head).maxCoeff()));
  EXPECT_NE(h.map("head 1.3").scale.top, shared);
  h.click("own range");
  h.frame(2);
  EXPECT_EQ(h.map("head 1.3").scale.top, shared);
}

TEST_F(GridWaysTest, BarsCanHaveTheRangeOfTheirHead) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}});
  show(GridShow::query);
  const float top = attention_rows(*h.state.trace, {1, 3}, 9, 1).maxCoeff();
  EXPECT_FALSE(h.says(tick_number(top)));
  const Box before = h.box("line head 1.3");
  h.key({Key::left_alt, Key::left_shift, Key::g});
  h.frame(2);
  EXPECT_TRUE(h.says(tick_number(top))) << "what its bars go up to";
  EXPECT_LT(h.box("line head 1.3").w, before.w) << "and the number has room of its own";
}

TEST_F(GridWaysTest, OtherColoursAreAClickAway) {
  Harness& h = *harness;
  h.click("colour bar");
  h.click("colours cividis");
  h.frame(2);
  EXPECT_EQ(h.state.settings.colours, ColourMap::cividis);
  EXPECT_EQ(h.map("head 0.0").scale.colours, ColourMap::cividis);
  EXPECT_TRUE(h.state.undo.empty());
}

TEST_F(GridWaysTest, OfAnEncoderDecoderTheChosenAttentionIsShown) {
  Document document;
  document.config.arch = Arch::encoder_decoder;
  start(document);
  Harness& h = *harness;
  h.say(ChooseHead{{0, 0, Stack::cross}}, Pin{CellRef{3, 1}});
  show(GridShow::query);
  EXPECT_EQ(line_of_head(h.state, *shown_line(h.state), {0, 0, Stack::cross}).size(),
            h.state.trace->keys(Stack::cross));
  show(GridShow::glance);
  const DrawnMap map = h.map("head 1.2");
  EXPECT_NEAR(
      map.box.w / map.box.h,
      static_cast<float>(h.state.trace->keys(Stack::cross)) / static_cast<float>(h.state.trace->queries(Stack::cross)),
      0.05f);
}

}  // namespace
}  // namespace headlight
