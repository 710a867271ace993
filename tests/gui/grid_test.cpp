// The heads side by side: what they show, and what pointing at them does.
#include <set>

#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "words/answer_words.h"

namespace headlight {
namespace {

class GridTest : public GuiTest {};

std::string name_of(HeadRef head) { return "head " + std::to_string(head.layer) + "." + std::to_string(head.head); }

TEST_F(GridTest, EveryHeadIsAMapOfTheSentence) {
  Harness& h = *harness;
  std::set<std::uint64_t> versions;
  for (Index layer = 0; layer < 2; ++layer) {
    for (Index head = 0; head < 4; ++head) {
      const DrawnMap map = h.map(name_of({layer, head}));
      EXPECT_TRUE(same(map.weights, weights_of(*h.state.trace, {layer, head}))) << layer << "." << head;
      EXPECT_EQ(map.weights.rows(), 10);
      EXPECT_EQ(map.opacity, 1);
      EXPECT_EQ(map.box.w, map.box.h) << "cells are squares";
      versions.insert(map.version);
    }
  }
  EXPECT_EQ(versions.size(), 8u);
  EXPECT_EQ(h.maps.drawn.size(), 9u) << "and the large one";
  EXPECT_TRUE(same(h.map("stage map").weights, h.map("head 0.0").weights));
}

TEST_F(GridTest, BeforeTheFirstAnswerItSaysSo) {
  Harness fresh;
  fresh.frame();
  EXPECT_TRUE(fresh.maps.drawn.empty());
  EXPECT_FALSE(fresh.has("head 0.0"));
  fresh.settle();
  EXPECT_TRUE(fresh.has("head 1.3"));
}

TEST_F(GridTest, AClickEnlargesAHead) {
  Harness& h = *harness;
  h.click("head 1.2");
  EXPECT_EQ(h.state.view.chosen, (HeadRef{1, 2}));
  EXPECT_TRUE(same(h.map("stage map").weights, weights_of(*h.state.trace, {1, 2})));
  EXPECT_TRUE(h.says("L1·H2"));
  EXPECT_TRUE(h.state.undo.empty()) << "looking is not editing";
}

TEST_F(GridTest, PointingLightsTheCellInEveryHead) {
  Harness& h = *harness;
  h.hover("head 1.2", {3, 7});
  EXPECT_EQ(h.state.view.hovered, (CellRef{3, 7}));
  EXPECT_EQ(h.state.view.hovered_head, (HeadRef{1, 2}));
  const ImU32 accent = palette(h.state.settings.theme).accent;
  for (const std::string map : {"head 0.0", "head 0.3", "head 1.2", "stage map"}) {
    EXPECT_TRUE(h.drew(accent, h.outline_of(map, {3, 7}))) << map;
    EXPECT_FALSE(h.drew(accent, h.outline_of(map, {6, 2}))) << map;
  }
  char expected[64];
  std::snprintf(expected, sizeof expected, "帮 looks at 北京: %.4f",
                static_cast<double>(weights_of(*h.state.trace, {1, 2})(3, 7)));
  EXPECT_TRUE(h.says(expected)) << h.words_on_screen();
  EXPECT_TRUE(h.says("L1·H2"));

  h.point_away();
  EXPECT_FALSE(h.state.view.hovered);
  EXPECT_FALSE(h.state.view.hovered_head);
  EXPECT_FALSE(h.drew(accent, h.outline_of("head 0.0", {3, 7})));
}

TEST_F(GridTest, EveryCellIsUnderItsOwnPoint) {
  Harness& h = *harness;
  for (Index i = 0; i < 10; i += 3) {
    for (Index j = 0; j < 10; j += 3) {
      h.hover("head 0.1", {i, j});
      EXPECT_EQ(h.state.view.hovered, (CellRef{i, j}));
      h.hover("stage map", {j, i});
      EXPECT_EQ(h.state.view.hovered, (CellRef{j, i}));
    }
  }
}

TEST_F(GridTest, LinearAndLogarithmicColours) {
  Harness& h = *harness;
  const std::uint64_t version = h.map("head 0.0").version;
  EXPECT_EQ(h.map("head 0.0").scale.scale, Scale::linear);
  h.click("log");
  EXPECT_EQ(h.state.view.scale, Scale::log);
  EXPECT_EQ(h.map("head 0.0").scale.scale, Scale::log);
  EXPECT_EQ(h.map("stage map").scale, h.map("head 1.3").scale) << "one scale for all";
  EXPECT_EQ(h.map("head 0.0").version, version) << "the weights are the same";
  h.click("linear");
  EXPECT_EQ(h.map("head 0.0").scale.scale, Scale::linear);
  EXPECT_GE(h.map("head 0.0").scale.top, h.state.trace->largest_weight);
}

TEST_F(GridTest, ManyHeadsAreAllInSight) {
  Harness& h = *harness;
  Config config = h.state.document.config;
  config.num_heads = 16;
  config.num_layers = 12;
  h.push(SetConfig{config}, EndGesture{}, ShowGrid{GridShow::all});
  h.settle();
  EXPECT_EQ(h.maps.drawn.size(), 12u * 16 + 1) << "and the large one";
  EXPECT_GT(h.box("head 0.0").w, 24);
  h.click("head 11.15");
  EXPECT_EQ(h.state.view.chosen, (HeadRef{11, 15}));
}

TEST_F(GridTest, LongSentencesArePooledAndSayWhatADotIs) {
  Document document;
  document.source.split = Split::characters;
  document.config = {.d_model = 8, .num_heads = 1, .num_layers = 1, .ffn = 0};
  document.source.text = std::string(300, 'a');
  start(document);
  Harness& h = *harness;
  h.push(SetTextLook{});
  h.settle();
  EXPECT_EQ(h.map("head 0.0").weights.rows(), kThumbnail);
  EXPECT_TRUE(h.says("300 × 300"));
  EXPECT_TRUE(h.says(words(Language::en, kAnswerWords.pooled_folded)));
  EXPECT_FALSE(h.says("the wheel")) << "the text is shown, no large map";
  h.push(SetTextLook{{.form = StageForm::map}});
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kAnswerWords.pooled)));
  EXPECT_EQ(h.map("stage map").weights.rows(), 300) << "the large head has its own weights";
  EXPECT_TRUE(same(h.map("stage map").weights, weights_of(*h.state.trace, {0, 0})));
  h.hover("stage map", {299, 150});
  EXPECT_EQ(h.state.view.hovered, (CellRef{299, 150}));
}

TEST_F(GuiTest, NothingOfTheMapsIsDrawnOutsideTheirPanel) {
  Harness& h = *harness;
  h.retype("Nobody expected the cat to chase the mouse across the street");  // long words: labels stand upright
  h.settle();
  const Box panel = h.box("atlas");
  int commands = 0;
  const ImDrawData& drawn = *ImGui::GetDrawData();
  for (int l = 0; l < drawn.CmdListsCount; ++l) {
    const ImDrawList& list = *drawn.CmdLists[l];
    if (std::string_view(list._OwnerName).find("grid") == std::string_view::npos) continue;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0) continue;
      ++commands;
      EXPECT_GE(command.ClipRect.y, panel.y);
      EXPECT_LE(command.ClipRect.w, panel.bottom());
    }
  }
  EXPECT_GT(commands, 0);
}

}  // namespace
}  // namespace headlight
