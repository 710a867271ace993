// The forms in which all heads are shown.
#include "figure/labels.h"
#include "gui/harness.h"
#include "math/attention.h"
#include "session/head_grid.h"

namespace headlight {
namespace {

class GridWaysTest : public GuiTest {
 protected:
  void show(GridShow way) {
    harness->push(ShowGrid{way});
    harness->settle();
    harness->probe.clear();
    harness->frame(2);
  }
  /// 12 layers of 16 heads.
  void start_large() {
    Document document;
    document.config = {.d_model = 64, .num_heads = 16, .num_layers = 12, .ffn = 0};
    start(document);
  }
};

std::string place_of(const char* what, HeadRef head) {
  return std::string(what) + " " + std::to_string(head.layer) + "." + std::to_string(head.head);
}

TEST_F(GridWaysTest, OneKeyStepsThroughThem) {
  Harness& h = *harness;
  for (const GridShow way : {GridShow::relations, GridShow::maps}) {
    h.key(Key{'1'});
    EXPECT_EQ(h.state.view.grid, way) << "eight heads are all shown";
  }
  h.key({Key::left_shift, Key{'1'}});
  EXPECT_EQ(h.state.view.grid, GridShow::relations);
  h.key(Key{'3'});
  h.key(Key{'1'});
  EXPECT_EQ(h.state.view.grid, GridShow::relations) << "from another view it comes back";
  h.click("shown menu");
  EXPECT_FALSE(h.has("grid all"));
  h.click("grid maps");
  EXPECT_EQ(h.state.view.grid, GridShow::maps);
}

TEST_F(GridWaysTest, ManyHeadsAreShownInPartAndAllOfThem) {
  start_large();
  for (const GridShow way : {GridShow::all, GridShow::relations, GridShow::maps}) {
    harness->key(Key{'1'});
    EXPECT_EQ(harness->state.view.grid, way);
  }
}

TEST_F(GridWaysTest, AllHeadsOfEveryLayerStandInOrder) {
  start_large();
  Harness& h = *harness;
  show(GridShow::all);
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

TEST_F(GridWaysTest, AllHeadsFollowOrderSearchAndSwitches) {
  start_large();
  Harness& h = *harness;
  h.push(OrderHeads{{.by = HeadOrder::By::measure, .measure = Measure::entropy}});
  show(GridShow::all);
  const std::vector<HeadRef> order = shown_order(h.state);
  ASSERT_EQ(order.size(), 192u);
  const Box first = h.box(place_of("head", order[0])), second = h.box(place_of("head", order[1]));
  EXPECT_LT(first.x, second.x);
  EXPECT_EQ(first.y, second.y);
  EXPECT_LT(first.y, h.box(place_of("head", order[100])).y);
  h.push(SwitchHead{order[0], true}, EndGesture{});
  h.settle();
  EXPECT_LT(h.map(place_of("head", order[0])).opacity, 0.5f);
}

TEST_F(GridWaysTest, EveryMapCanHaveItsOwnRange) {
  Harness& h = *harness;
  const float shared = h.map("head 0.0").scale.top;
  EXPECT_EQ(h.map("head 1.3").scale.top, shared);
  h.key({Key::left_alt, Key::left_shift, Key{'G'}});
  h.frame(2);
  for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, 3}})
    EXPECT_EQ(h.map(place_of("head", head)).scale.top, nice_top(weights_of(*h.state.trace, head).maxCoeff()));
  EXPECT_NE(h.map("head 1.3").scale.top, shared);
  h.click("own range");
  h.frame(2);
  EXPECT_EQ(h.map("head 1.3").scale.top, shared);
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
  h.push(ChooseHead{{0, 0, Stack::cross}}, Pin{CellRef{3, 1}});
  show(GridShow::maps);
  const DrawnMap map = h.map("head 1.2");
  EXPECT_NEAR(
      map.box.w / map.box.h,
      static_cast<float>(h.state.trace->keys(Stack::cross)) / static_cast<float>(h.state.trace->queries(Stack::cross)),
      0.05f);
}

}  // namespace
}  // namespace headlight
