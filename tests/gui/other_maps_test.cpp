// Norms and rollout in the window: drawn instead of the weights, and every number beside them of their kind.
#include <cstdio>

#include "derived/derived_maps.h"
#include "figure/map_kinds.h"
#include "gui/keys_fixture.h"
#include "session/shown.h"
#include "words/grid_words.h"

namespace headlight {
namespace {

class OtherMapsTest : public KeysTest {
 protected:
  void show(MapKind kind) {
    harness->click("maps " + std::string(name(kind)));
    harness->settle();
    harness->point_away();
  }
  const DerivedMaps& shown() { return *shown_maps(state(), state().view.chosen.stack); }
};

std::string number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", static_cast<double>(value));
  return text;
}

TEST_F(OtherMapsTest, NormsAreDrawnInEveryMapAndSaid) {
  Harness& h = *harness;
  const DrawnMap weights = h.map("head 0.1");
  show(MapKind::norms);
  const DrawnMap norms = h.map("head 0.1");
  EXPECT_TRUE(same(norms.weights, *shown().map({0, 1})));
  EXPECT_NE(norms.version, weights.version);
  EXPECT_EQ(norms.scale, other_scale(shown(), state().settings.theme, Scale::linear));
  EXPECT_TRUE(same(h.map("stage map").weights, *shown().map({})));
  EXPECT_TRUE(h.says(kind_line(Language::en, MapKind::norms)));
  h.hover("stage map", {5, 9});
  const std::string line = "订了 takes from 机票: norm " + number((*shown().map({}))(5, 9));
  EXPECT_TRUE(h.says(line)) << h.words_on_screen();
  EXPECT_FALSE(h.says("订了 looks at"));
  EXPECT_TRUE(h.says("what this word takes:"));
  EXPECT_TRUE(h.says("sum = " + number((*shown().map({})).row(5).cast<double>().sum())));
  show(MapKind::weights);
  EXPECT_TRUE(same(h.map("head 0.1").weights, weights.weights));
  EXPECT_TRUE(state().undo.empty());
}

TEST_F(OtherMapsTest, ARolloutHasAMapALayer) {
  Harness& h = *harness;
  show(MapKind::rollout);
  EXPECT_FALSE(h.has("head 0.0"));
  ASSERT_TRUE(h.has("layer 0") && h.has("layer 1") && !h.has("layer 2"));
  EXPECT_TRUE(same(h.map("layer 1").weights, *shown().map({1, 0})));
  h.click("layer 1");
  h.point_away();
  EXPECT_EQ(state().view.chosen.layer, 1);
  EXPECT_TRUE(same(h.map("stage map").weights, *shown().map({1, 0})));
  EXPECT_TRUE(h.says("Layer 1 · rollout"));
  EXPECT_FALSE(h.has("switch head")) << "there is no head to be switched off";
  EXPECT_TRUE(h.says(kind_line(Language::en, MapKind::rollout)));
  h.hover("layer 0", {2, 1});
  EXPECT_TRUE(h.says("李雷 contains 请: rollout " + number((*shown().map({0, 0}))(2, 1)))) << h.words_on_screen();
  h.click_at(h.cell_point("stage map", {2, 1}));
  h.frame(2);
  EXPECT_NEAR((*shown().map({0, 0})).row(2).sum(), 1, 1e-6);
  EXPECT_TRUE(h.says("sum = 1"));
  EXPECT_FALSE(h.has("weight by hand"));
  key({Key::space});
  EXPECT_TRUE(document().edits.off.empty());
}

TEST_F(OtherMapsTest, MasksAndWeightsByHandStayWhatTheyAre) {
  Harness& h = *harness;
  show(MapKind::norms);
  h.click_at(h.cell_point("stage map", {5, 9}));
  h.settle();
  EXPECT_TRUE(h.says(kMapWords.weight_by_hand.en));
  h.slide("weight by hand", 0.2f, 0.5f);
  h.settle();
  ASSERT_EQ(document().edits.weights.size(), 1u);
  EXPECT_EQ(document().edits.weights.front().cell, (CellRef{5, 9}));
  alt(Key{'X'});
  h.settle();
  EXPECT_EQ(document().mask.painted.size(), 1u);
  h.click("numbers");
  EXPECT_EQ(state().view.look.matrix.quantity, Quantity::weights);
}

TEST_F(OtherMapsTest, BlockedCellsStayBlockedInNorms) {
  Harness& h = *harness;
  document().mask.causal = true;
  h.push(SetMask{true, true});
  show(MapKind::norms);
  EXPECT_EQ(h.map("head 0.0").weights(0, 1), -1.0f);
  h.hover("stage map", {0, 1});
  EXPECT_TRUE(h.says("blocked by the mask"));
}

TEST_F(OtherMapsTest, NothingIsZoomedOrFolded) {
  Harness& h = *harness;
  h.push(SetViewport{{0, 4, 0, 4}});
  h.settle();
  show(MapKind::norms);
  EXPECT_EQ(h.map("stage map").weights.rows(), 10);
  EXPECT_FALSE(h.has("whole"));
  h.hover("stage map", {3, 3});
  h.wheel(2);
  EXPECT_EQ(state().view.viewport, (Viewport{0, 4, 0, 4}));
  EXPECT_EQ(h.map("stage map").weights.rows(), 10);
  show(MapKind::weights);
  EXPECT_TRUE(h.has("whole"));
}

TEST_F(OtherMapsTest, WhereTheyCannotBeAlineSaysWhy) {
  Harness& h = *harness;
  std::string text;
  for (int i = 0; i < 130; ++i) text += "我";
  h.push(SetText{text}, SetSplit{Split::characters}, EndGesture{}, ShowMaps{MapKind::norms});
  h.settle();
  ASSERT_GT(state().trace->queries(), kThumbnail);
  EXPECT_TRUE(h.says("Norms: only for sentences of up to 128 tokens. Weights are shown.")) << h.words_on_screen();
  EXPECT_TRUE(same(h.map("head 0.0").weights, state().trace->head({}).thumbnail));
}

TEST_F(OtherMapsTest, CrossAttentionIsNotRolledOut) {
  Document pair;
  pair.config.arch = Arch::encoder_decoder;
  pair.target.text = "我爱北京";
  start(pair);
  Harness& h = *harness;
  h.push(ShowMaps{MapKind::rollout});
  h.settle();
  EXPECT_TRUE(h.has("layer 0"));
  h.push(ChooseHead{{0, 0, Stack::cross}});
  h.settle();
  EXPECT_TRUE(h.has("head 0.0"));
  EXPECT_TRUE(h.says("Rollout: the rows and the columns here are different words"));
  const Theme theme = state().settings.theme;
  EXPECT_EQ(h.map("head 0.0").scale, weight_scale(*state().trace, state().folded.get(), theme, Scale::linear));
  h.push(ShowMaps{MapKind::norms});
  h.settle();
  EXPECT_TRUE(same(h.map("head 0.0").weights, *shown().map({0, 0, Stack::cross})));
}

TEST_F(OtherMapsTest, AreSaidInChineseToo) {
  Harness& h = *harness;
  Settings settings = state().settings;
  settings.language = Language::zh;
  h.push(SetSettings{settings});
  show(MapKind::rollout);
  EXPECT_TRUE(h.says(kind_line(Language::zh, MapKind::rollout)));
  EXPECT_TRUE(h.says("层 0 · 累积"));
}

}  // namespace
}  // namespace headlight
