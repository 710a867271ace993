// The enlarged head: pinning, painting the mask, zooming, and a row as bars.
#include "gui/harness.h"

namespace headlight {
namespace {

class HeadTest : public GuiTest {
 protected:
  void drag_cells(CellRef from, CellRef to, int steps = 12) {
    harness->drag(harness->cell_point("stage map", from), harness->cell_point("stage map", to), 0, steps);
  }
  void click_cell(CellRef cell) { harness->click_at(harness->cell_point("stage map", cell)); }
  const std::vector<PaintedCell>& painted() const { return harness->state.document.mask.painted; }
};

TEST_F(HeadTest, AClickPinsACell) {
  Harness& h = *harness;
  click_cell({4, 5});
  EXPECT_EQ(h.state.view.pinned, (CellRef{4, 5}));
  h.point_away();
  EXPECT_TRUE(h.says("我 looks at 订了"));
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.outline_of("head 1.1", {4, 5})));
  click_cell({4, 5});
  EXPECT_EQ(h.state.view.pinned, (CellRef{4, 5})) << "a second click keeps it";
  EXPECT_EQ(h.state.view.view, View::inside) << "and asks why";
  h.push(ShowView{View::heads});
  h.settle();
  click_cell({0, 9});
  h.key(Key::escape);
  EXPECT_FALSE(h.state.view.pinned);
  EXPECT_TRUE(painted().empty());
}

TEST_F(HeadTest, RowBarsFollowTheLitRow) {
  Harness& h = *harness;
  EXPECT_FALSE(h.has("row bars"));
  h.hover("head 0.2", {3, 7});
  ASSERT_TRUE(h.has("row bars"));
  const Box bars = h.box("row bars"), plot = h.box("stage map");
  EXPECT_EQ(bars.x, plot.x) << "the bars stand under their columns";
  EXPECT_EQ(bars.w, plot.w);
  EXPECT_GE(bars.y, plot.bottom());
  const ImU32 accent = palette(Theme::light).accent;
  const float column = plot.w / 10;
  EXPECT_TRUE(h.drew(accent, {bars.x + 7 * column, bars.y, column, bars.h + 1})) << "the lit column's bar";
  EXPECT_FALSE(h.drew(accent, {bars.x + 2 * column + 1, bars.y + 1, column - 2, bars.h}));
  h.point_away();
  EXPECT_FALSE(h.has("row bars"));
}

TEST_F(HeadTest, RowBarsGrowIntoTheRoomThatTheMapLeaves) {
  harness->hover("head 0.2", {3, 7});
  const float usual = harness->box("row bars").h;
  start({}, {1280, 1600});
  harness->hover("head 0.2", {3, 7});
  const Box bars = harness->box("row bars"), plot = harness->box("stage map");
  EXPECT_GT(bars.h, 1.5f * usual);
  EXPECT_GE(bars.y, plot.bottom());
  EXPECT_LE(bars.bottom(), harness->box("stage").bottom());
}

TEST_F(HeadTest, WhilePaintingTheStageSaysWhatThePointerDoes) {
  Harness& h = *harness;
  h.push(Pin{CellRef{2, 3}});
  h.click("paint");
  h.point_away();
  EXPECT_TRUE(h.says("click or drag over cells")) << "a pinned cell does not hide it";
  h.hover("stage map", {4, 5});
  EXPECT_FALSE(h.says("click or drag over cells")) << "the cell under the pointer is told";
}

TEST_F(HeadTest, PaintingBlocksTheCellsCrossed) {
  Harness& h = *harness;
  h.click("paint");
  EXPECT_TRUE(h.state.view.painting);
  drag_cells({2, 2}, {2, 6});
  ASSERT_EQ(painted().size(), 5u);
  for (Index key = 2; key <= 6; ++key)
    EXPECT_EQ(painted()[static_cast<std::size_t>(key - 2)], (PaintedCell{2, key, false}));
  EXPECT_EQ(h.state.undo.size(), 1u) << "a stroke is one step";
  EXPECT_FALSE(h.state.view.stroke);
  EXPECT_FALSE(h.state.view.pinned);
  h.settle();
  for (Index layer = 0; layer < 2; ++layer) {
    for (Index head = 0; head < 4; ++head) {
      const Matrix weights = weights_of(*h.state.trace, {layer, head});
      const DrawnMap map = h.map("head " + std::to_string(layer) + "." + std::to_string(head));
      for (Index key = 0; key < 10; ++key) {
        const bool blocked = key >= 2 && key <= 6;
        EXPECT_EQ(weights(2, key) == 0, blocked);
        EXPECT_EQ(map.weights(2, key) == -1, blocked) << "visibly blocked, not merely dark";
      }
      EXPECT_NEAR(weights.row(2).sum(), 1, 1e-5);
    }
  }
  h.hover("stage map", {2, 4});
  EXPECT_TRUE(h.says("blocked by the mask"));
  EXPECT_EQ(h.state.trace->mask().kind(), "custom");

  // From a blocked cell on, a stroke allows.
  drag_cells({2, 6}, {2, 8});
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {0, 0})(2, 6), 0);
  EXPECT_EQ(weights_of(*h.state.trace, {0, 0})(2, 5), 0);
  h.click("undo");
  h.click("undo");
  EXPECT_TRUE(painted().empty());
  h.click("paint");
  EXPECT_FALSE(h.state.view.painting);
}

TEST_F(HeadTest, AFastStrokeLeavesNoHoles) {
  harness->click("paint");
  drag_cells({0, 1}, {9, 1}, 1);
  ASSERT_EQ(painted().size(), 10u);
  for (Index query = 0; query < 10; ++query)
    EXPECT_EQ(painted()[static_cast<std::size_t>(query)], (PaintedCell{query, 1, false}));
  harness->click("clear paint");
  EXPECT_TRUE(painted().empty());
  EXPECT_FALSE(harness->has("clear paint"));
  harness->click("undo");
  EXPECT_EQ(painted().size(), 10u);
}

TEST_F(HeadTest, AClickPaintsOneCell) {
  harness->click("paint");
  click_cell({7, 3});
  EXPECT_EQ(painted(), (std::vector<PaintedCell>{{7, 3, false}}));
  harness->settle();
  click_cell({7, 3});
  EXPECT_EQ(painted(), (std::vector<PaintedCell>{{7, 3, true}}));
  EXPECT_EQ(harness->state.undo.size(), 2u);
}

TEST_F(HeadTest, ShiftPaintsWithoutTheMode) {
  Harness& h = *harness;
  h.hold(Key::left_shift, true);
  drag_cells({5, 5}, {5, 7});
  h.hold(Key::left_shift, false);
  EXPECT_EQ(painted().size(), 3u);
  EXPECT_EQ(h.state.undo.size(), 1u);
  EXPECT_FALSE(h.state.view.painting);
  EXPECT_FALSE(h.state.view.pinned);
  click_cell({1, 1});
  EXPECT_EQ(h.state.view.pinned, (CellRef{1, 1}));
  EXPECT_EQ(painted().size(), 3u);
}

TEST_F(HeadTest, PaintOverridesTheCausalMask) {
  Harness& h = *harness;
  h.click("causal");
  h.settle();
  EXPECT_EQ(weights_of(*h.state.trace, {0, 0})(1, 4), 0);
  h.click("paint");
  click_cell({1, 4});
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {0, 0})(1, 4), 0);
}

TEST_F(HeadTest, AStrokeThatLeavesTheMapEndsWell) {
  Harness& h = *harness;
  h.click("paint");
  const Box plot = h.box("stage map");
  h.drag(h.cell_point("stage map", {8, 8}), {plot.right() + 200, plot.bottom() + 300});
  EXPECT_FALSE(h.state.view.stroke);
  EXPECT_FALSE(h.state.gesture);
  EXPECT_FALSE(painted().empty());
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(HeadTest, TheXKeyBlocksThePinnedCell) {
  Harness& h = *harness;
  click_cell({6, 2});
  h.key({Key::left_alt, Key{'X'}});
  EXPECT_EQ(painted(), (std::vector<PaintedCell>{{6, 2, false}}));
  h.settle();
  EXPECT_EQ(weights_of(*h.state.trace, {1, 0})(6, 2), 0);
  h.key({Key::left_alt, Key{'X'}});
  h.settle();
  EXPECT_GT(weights_of(*h.state.trace, {1, 0})(6, 2), 0);
}

TEST_F(HeadTest, TheWheelZoomsAroundThePointer) {
  Harness& h = *harness;
  h.hover("stage map", {7, 2});
  h.wheel(1);
  const Viewport part = h.state.view.viewport;
  EXPECT_GT(part.num_queries, 0);
  EXPECT_LT(part.num_queries, 10);
  EXPECT_TRUE(part.first_query <= 7 && 7 < part.first_query + part.num_queries);
  EXPECT_TRUE(part.first_key <= 2 && 2 < part.first_key + part.num_keys);
  h.settle();
  const Matrix all = weights_of(*h.state.trace, {0, 0});
  EXPECT_TRUE(
      same(h.map("stage map").weights, all.block(part.first_query, part.first_key, part.num_queries, part.num_keys)));
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 10) << "the grid stays whole";
  h.hover("stage map", {part.first_query, part.first_key + 1});
  EXPECT_EQ(h.state.view.hovered, (CellRef{part.first_query, part.first_key + 1}));
  h.wheel(-6);
  EXPECT_EQ(h.state.view.viewport, Viewport{});
  h.wheel(2);
  h.click("whole");
  EXPECT_EQ(h.state.view.viewport, Viewport{});
  EXPECT_FALSE(h.has("whole"));
}

TEST_F(HeadTest, TheRightButtonPans) {
  Harness& h = *harness;
  h.push(SetViewport{{3, 4, 3, 4}});
  h.settle();
  const Box plot = h.box("stage map");
  const float cell = plot.w / 4;
  const ImVec2 middle{plot.x + plot.w / 2, plot.y + plot.h / 2};
  h.drag(middle, {middle.x + 1.2f * cell, middle.y - 1.2f * cell}, 1, 30);
  EXPECT_EQ(h.state.view.viewport, (Viewport{4, 4, 2, 4})) << "the pattern moves with the pointer";
  for (int i = 0; i < 4; ++i) h.drag(middle, {plot.x + 2, plot.y + 2}, 1, 30);
  EXPECT_EQ(h.state.view.viewport, (Viewport{6, 4, 6, 4})) << "and stops at the last cell";
  h.key(Key::home);
  EXPECT_EQ(h.state.view.viewport, Viewport{});
  h.drag(middle, {middle.x + 60, middle.y}, 1);
  EXPECT_EQ(h.state.view.viewport, Viewport{}) << "there is nowhere to pan the whole";
}

TEST_F(HeadTest, PaintingInAZoomedPartPaintsTheRightCells) {
  Harness& h = *harness;
  h.push(SetViewport{{2, 4, 5, 4}});
  h.settle();
  h.click("paint");
  h.after_frame = [&] {
    EXPECT_EQ(h.map("stage map").weights.rows(), 4) << "the part stays while answers come and go";
  };
  drag_cells({3, 5}, {3, 8});
  h.settle();
  EXPECT_EQ(h.map("stage map").opacity, 1);
  h.after_frame = nullptr;
  ASSERT_EQ(painted().size(), 4u);
  EXPECT_EQ(painted().front(), (PaintedCell{3, 5, false}));
  EXPECT_EQ(painted().back(), (PaintedCell{3, 8, false}));
}

}  // namespace
}  // namespace headlight
