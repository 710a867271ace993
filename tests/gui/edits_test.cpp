// What is changed inside the computation by hand: heads off, weights set, one layer's mask and scale, dropout; and that
// each of it is seen.
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "math/forward.h"

namespace headlight {
namespace {

class EditsTest : public GuiTest {
 protected:
  void SetUp() override {
    Document document;
    document.config = {.arch = Arch::decoder, .d_model = 32, .num_heads = 4, .num_layers = 2, .ffn = 32};
    document.mask.causal = true;
    start(document);
  }
  const Edits& edits() const { return harness->state.document.edits; }
  void pin(CellRef cell) { harness->click_at(harness->cell_point("stage map", cell)); }
};

TEST_F(EditsTest, TheRingSwitchesAHeadAndTheNextWordsFollow) {
  Harness& h = *harness;
  EXPECT_FALSE(h.says("% → ")) << "nothing to compare with";
  const Vector before = probabilities(h.state.trace->logits);
  h.click("on off head 0.1");
  EXPECT_EQ(edits().off, (std::vector<HeadRef>{{0, 1}}));
  EXPECT_EQ(h.state.view.chosen, HeadRef{}) << "the switch is not the map";
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  EXPECT_TRUE(h.says("→")) << "before and after";
  const Vector after = probabilities(h.state.trace->logits);
  EXPECT_FALSE(before.isApprox(after, 1e-6f));
  ASSERT_TRUE(h.state.baseline);
  EXPECT_TRUE(probabilities(h.state.baseline->logits).isApprox(before));
  EXPECT_LT(h.map("head 0.1").opacity, 0.5f) << "and it is seen to be off";
  EXPECT_EQ(h.map("head 0.2").opacity, 1);
  h.click("on off head 0.1");
  h.settle();
  EXPECT_TRUE(edits().off.empty());
  EXPECT_FALSE(h.says("→"));
}

TEST_F(EditsTest, SpaceAndTheButtonSwitchTheChosenHead) {
  Harness& h = *harness;
  h.click("head 1.2");
  h.key(Key::space);
  EXPECT_EQ(edits().off, (std::vector<HeadRef>{{1, 2}}));
  h.settle();
  EXPECT_TRUE(h.says("→"));
  h.click("switch head");
  EXPECT_TRUE(edits().off.empty());
  h.click("switch head");
  h.click("on off head 0.0");
  EXPECT_EQ(edits().off.size(), 2u);
  h.click("off as mean");
  EXPECT_EQ(edits().off_as, OffAs::mean);
  h.settle();
  const Matrix z = head_columns(h.state.trace->attention(Stack::self, 1).z, 2, 4);
  for (Index row = 1; row < z.rows(); ++row) EXPECT_TRUE(z.row(row).isApprox(z.row(0), 1e-5f));
  EXPECT_GT(z.cwiseAbs().maxCoeff(), 0);
  h.click("off as zero");
  h.settle();
  EXPECT_EQ(head_columns(h.state.trace->attention(Stack::self, 1).z, 2, 4).cwiseAbs().maxCoeff(), 0);
  h.click("all on");
  EXPECT_TRUE(edits().off.empty());
  EXPECT_FALSE(h.has("all on"));
  h.click("undo");
  EXPECT_EQ(edits().off.size(), 2u);
}

TEST_F(EditsTest, AMaskOfOneLayerBlocksNothingElsewhere) {
  Harness& h = *harness;
  h.push(SetScope{true});
  h.click("causal");  // off, in the first layer
  const LayerEdit* edit = layer_edit(edits(), Stack::self, 0);
  ASSERT_TRUE(edit && edit->mask);
  EXPECT_FALSE(edit->mask->causal);
  EXPECT_TRUE(h.state.document.mask.causal);
  h.settle();
  EXPECT_GE(h.map("head 0.3").weights(0, 9), 0);
  EXPECT_EQ(h.map("head 1.3").weights(0, 9), -1);

  h.click("paint");
  pin({4, 2});
  h.key({Key::left_alt, Key{'P'}});
  EXPECT_TRUE(h.state.document.mask.painted.empty());
  h.settle();
  EXPECT_EQ(h.map("head 0.0").weights(4, 2), -1);
  EXPECT_GT(h.map("head 1.0").weights(4, 2), 0);
  h.click("clear paint");
  h.settle();
  EXPECT_GT(h.map("head 0.0").weights(4, 2), 0);

  h.slide("scale", 0.1f, 0.9f);
  EXPECT_FALSE(edits().scale);
  h.settle();
  EXPECT_NEAR(h.state.trace->attention(Stack::self, 0).scale, 1.8f, 0.1f);
  EXPECT_FLOAT_EQ(h.state.trace->attention(Stack::self, 1).scale, 1 / std::sqrt(8.0f));

  h.click("clear layer");
  EXPECT_TRUE(edits().layers.empty());
  EXPECT_FALSE(h.has("clear layer"));
  h.click("all layers");
  h.click("causal");
  EXPECT_FALSE(h.state.document.mask.causal);
  EXPECT_TRUE(edits().layers.empty());
}

TEST_F(EditsTest, PartsOfTheChosenLayerAreSwitched) {
  Harness& h = *harness;
  const Matrix before = h.state.trace->last_hidden_state();
  h.click("head 1.0");
  for (const char* part : {"residual", "norm", "scale", "ffn"}) {
    h.click(std::string("part ") + part);
    EXPECT_TRUE(is_off(edits(), Stack::self, 1, *parse_part(part))) << part;
    h.settle();
    EXPECT_FALSE(same(h.state.trace->last_hidden_state(), before)) << part;
  }
  EXPECT_FALSE(is_off(edits(), Stack::self, 0, BlockPart::residual));
  h.click("undo");
  EXPECT_FALSE(is_off(edits(), Stack::self, 1, BlockPart::ffn));
  h.click("parts on");
  h.click("part scale");
  EXPECT_TRUE(edits().layers.empty());
  EXPECT_FALSE(h.has("parts on"));
  h.settle();
  EXPECT_TRUE(same(h.state.trace->last_hidden_state(), before));
}

TEST_F(EditsTest, TheLayerIsThatOfTheChosenHead) {
  Harness& h = *harness;
  h.click("head 1.0");
  h.push(SetScope{true});
  h.click("open controls");
  EXPECT_TRUE(h.says("Layer 1"));
  h.click("open controls");
  h.key({Key::left_alt, Key{'M'}});
  EXPECT_TRUE(layer_edit(edits(), Stack::self, 1));
  EXPECT_FALSE(layer_edit(edits(), Stack::self, 0));
}

TEST_F(EditsTest, Dropout) {
  Harness& h = *harness;
  EXPECT_FALSE(h.has("dropout seed"));
  h.slide("dropout", 0.02f, 0.55f);
  EXPECT_NEAR(edits().dropout, 0.5f, 0.05f);
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  const Matrix first = weights_of(*h.state.trace, {0, 0});
  EXPECT_GT((first.array() == 0).count(), 45) << "more than the causal mask blocks";
  EXPECT_TRUE(h.says("→"));
  h.click("dropout seed");
  h.settle();
  EXPECT_FALSE(same(weights_of(*h.state.trace, {0, 0}), first));
  h.click("undo");
  h.settle();
  EXPECT_TRUE(same(weights_of(*h.state.trace, {0, 0}), first));
  h.click("undo");
  EXPECT_EQ(edits().dropout, 0);
}

TEST_F(EditsTest, AWeightIsSetByHandAndTakenBack) {
  Harness& h = *harness;
  pin({9, 5});
  const Matrix before = weights_of(*h.state.trace, {0, 0});
  EXPECT_FALSE(h.has("weight as computed"));
  h.slide("weight by hand", before(9, 5), 0.8f);
  ASSERT_EQ(edits().weights.size(), 1u);
  EXPECT_EQ(edits().weights[0].head, HeadRef{});
  EXPECT_EQ(edits().weights[0].cell, (CellRef{9, 5}));
  EXPECT_NEAR(edits().weights[0].weight, 0.8f, 0.05f);
  EXPECT_EQ(h.state.undo.size(), 1u) << "a drag is one step";
  h.settle();
  const Matrix after = weights_of(*h.state.trace, {0, 0});
  EXPECT_EQ(after(9, 5), edits().weights[0].weight);
  EXPECT_NEAR(after.row(9).sum(), 1, 1e-6);
  EXPECT_NEAR(after(9, 0) / after(9, 1), before(9, 0) / before(9, 1), 1e-4) << "the others keep their proportions";
  EXPECT_TRUE(same(after.topRows(9), before.topRows(9)));
  EXPECT_EQ(h.map("head 0.0").weights(9, 5), after(9, 5));
  h.point_away();
  EXPECT_TRUE(h.says(weight_text(after(9, 5)) + " (by hand)"));
  EXPECT_TRUE(h.says("→"));

  h.click("weight as computed");
  EXPECT_TRUE(edits().weights.empty());
  h.settle();
  EXPECT_TRUE(same(weights_of(*h.state.trace, {0, 0}), before));
  h.click("undo");
  EXPECT_EQ(edits().weights.size(), 1u);
  h.click("undo");
  EXPECT_TRUE(edits().weights.empty());
  h.click("redo");
  h.click("clear weights");
  EXPECT_TRUE(edits().weights.empty());
}

TEST_F(EditsTest, AWeightSetByHandIsMarkedInMapRowAndTitle) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}});
  h.settle();
  const ImU32 ink = h.colours().action;
  const auto row = [&] {
    const Box cell = h.outline_of("stage map", {9, 0});
    return Box{cell.x - 6, cell.y, 7, cell.h};
  };
  for (const char* map : {"stage map", "head 0.0"}) EXPECT_FALSE(h.drew(ink, h.outline_of(map, {9, 5}))) << map;
  h.push(SetWeight{{0, 0}, {9, 5}, 0.8f}, EndGesture{});
  h.settle();
  h.point_away();
  for (const char* map : {"stage map", "head 0.0"}) {
    EXPECT_TRUE(h.drew(ink, h.outline_of(map, {9, 5}))) << map;
    EXPECT_FALSE(h.drew(ink, h.outline_of(map, {9, 4}))) << map;
  }
  EXPECT_TRUE(h.drew(ink, row()));
  EXPECT_FALSE(h.drew(ink, h.outline_of("head 0.1", {9, 5}))) << "another head";
  EXPECT_TRUE(h.drew(ink, h.box("title 0.0")));
  EXPECT_FALSE(h.drew(ink, h.box("title 0.1")));
  ASSERT_TRUE(h.has("weights of head as computed"));
  EXPECT_TRUE(h.says("1 set by hand"));
  h.click("weights of head as computed");
  h.settle();
  EXPECT_TRUE(edits().weights.empty());
  EXPECT_FALSE(h.drew(ink, row()));
  EXPECT_FALSE(h.has("weights of head as computed"));
}

TEST_F(EditsTest, AClickInTheBarsPinsADragSetsADoubleClickTypes) {
  Harness& h = *harness;
  pin({9, 5});
  const auto bar = [&](Index key, float height) {
    const Box bars = h.box("row bars");
    return ImVec2{bars.x + (static_cast<float>(key) + 0.5f) * bars.w / 10, bars.bottom() - height * bars.h};
  };
  h.click_at(bar(3, 0.7f));
  EXPECT_TRUE(edits().weights.empty()) << "a click sets nothing";
  EXPECT_EQ(h.state.view.pinned, (CellRef{9, 3}));
  EXPECT_TRUE(h.state.undo.empty());
  h.drag(bar(3, 0.1f), bar(3, 0.8f));
  ASSERT_EQ(edits().weights.size(), 1u) << "one bar, also where the hand trembles";
  EXPECT_EQ(edits().weights[0].cell, (CellRef{9, 3}));
  EXPECT_NEAR(edits().weights[0].weight, 0.8f, 0.05f);
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  h.double_click_at(bar(6, 0.5f));
  h.frame(2);
  ASSERT_TRUE(h.has("typed weight"));
  EXPECT_EQ(h.state.view.pinned, (CellRef{9, 6}));
  h.type("0.25");
  h.key(Key::enter);
  ASSERT_EQ(edits().weights.size(), 2u);
  EXPECT_EQ(edits().weights[1].cell, (CellRef{9, 6}));
  EXPECT_FLOAT_EQ(edits().weights[1].weight, 0.25f);
  EXPECT_EQ(h.state.undo.size(), 2u);
}

TEST_F(EditsTest, TheRightButtonOffersWhatCanBeDoneWithACell) {
  for (const Language language : {Language::en, Language::zh}) {
    SetUp();
    Harness& h = *harness;
    h.state.settings.language = language;
    h.settle();
    const auto open = [&](CellRef cell) {
      h.click_at(h.cell_point("stage map", cell), 1);
      h.frame(2);
      EXPECT_EQ(h.state.view.pinned, cell);
    };
    open({9, 5});
    for (const char* line : {"cell pin", "cell why", "cell block", "cell weight", "cell copy", "cell find"})
      ASSERT_TRUE(h.has(line)) << line;
    EXPECT_TRUE(h.says("Alt X")) << "with their keys";
    h.click("cell block");
    EXPECT_EQ(h.state.document.mask.painted, (std::vector<PaintedCell>{{9, 5, false}}));
    h.settle();
    open({9, 4});
    h.click("cell weight");
    h.frame(2);
    ASSERT_TRUE(h.has("typed weight"));
    h.type("0.5");
    h.key(Key::enter);
    ASSERT_EQ(edits().weights.size(), 1u);
    EXPECT_FLOAT_EQ(edits().weights[0].weight, 0.5f);
    h.settle();
    open({9, 4});
    h.click("cell copy");
    EXPECT_EQ(h.clipboard, "0.5");
    open({9, 4});
    h.click("cell find");
    h.frame(2);
    EXPECT_TRUE(h.state.view.find.on);
    open({9, 4});
    h.click("cell why");
    EXPECT_EQ(h.state.view.view, View::inside);
  }
}

TEST_F(EditsTest, ADoubleClickOnACellExplainsIt) {
  Harness& h = *harness;
  for (const bool pinned : {false, true}) {
    if (pinned) pin({9, 5});
    else h.push(Pin{});
    h.double_click_at(h.cell_point("stage map", {9, 5}));
    EXPECT_EQ(h.state.view.view, View::inside);
    EXPECT_EQ(h.state.view.pinned, (CellRef{9, 5}));
    EXPECT_EQ(h.state.view.tab, InsideTab::why);
    h.push(ShowView{View::heads});
    h.settle();
    h.click_at(h.cell_point("stage map", {0, 0}));
  }
}

TEST_F(EditsTest, ABlockedCellCanBeGivenAWeight) {
  Harness& h = *harness;
  pin({0, 9});
  h.slide("weight by hand", 0.0f, 0.5f);
  h.settle();
  EXPECT_NEAR(weights_of(*h.state.trace, {0, 0})(0, 9), 0.5f, 0.05f);
  EXPECT_NEAR(weights_of(*h.state.trace, {0, 0}).row(0).sum(), 1, 1e-6);
  h.point_away();
  EXPECT_TRUE(h.says("(by hand)"));
  EXPECT_FALSE(h.says("blocked by the mask"));
}

}  // namespace
}  // namespace headlight
