// The Flow view: lines between the words.
#include "views/flow/flow.h"

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/harness.h"
#include "views/flow/panel/flow.h"

namespace headlight {
namespace {

class FlowViewTest : public GuiTest {
 protected:
  void show(Document document = {}) {
    start(std::move(document));
    harness->click("view flow");
    harness->settle();
  }
  const ViewState& view() const { return harness->state.view; }
  std::vector<Index> shown_heads() const {
    std::vector<Index> heads;
    for (const HeadRef& head : flow_heads(harness->state)) heads.push_back(head.head);
    return heads;
  }
  /// Whether lines of a head's colour were drawn between the columns; thin ones are fainter, so that opacity is
  /// ignored.
  bool drew_lines_of(Index head) const {
    const Box place = harness->box("flow");
    const float left = harness->box("flow query 0").right() + 4, right = harness->box("flow key 0").x - 4;
    const float top = std::max(harness->box("flow query 0").y, place.y);  // below the legend
    const ImU32 wanted =
        to_imgui(head_colour(harness->state.settings.theme, static_cast<std::size_t>(head))) & ~IM_COL32_A_MASK;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
        if ((vertex.col & ~IM_COL32_A_MASK) == wanted && (vertex.col & IM_COL32_A_MASK) && vertex.pos.x > left &&
            vertex.pos.x < right && vertex.pos.y > top && place.contains(vertex.pos.x, vertex.pos.y))
          return true;
    return false;
  }
};

TEST_F(FlowViewTest, AButtonAndAKeyShowTheLinesOfTheChosenHead) {
  show();
  Harness& h = *harness;
  EXPECT_EQ(view().view, View::flow);
  EXPECT_FALSE(h.has("stage map"));
  ASSERT_TRUE(h.state.flow);
  EXPECT_EQ(h.state.flow->question.heads, (std::vector<HeadRef>{{0, 0}}));
  EXPECT_TRUE(drew_lines_of(0));
  EXPECT_FALSE(drew_lines_of(1));
  for (const char* word : {"机票", "李雷", "looks", "is looked at", "lines above 5.0 %", "L0·H0"})
    EXPECT_TRUE(h.says(word)) << word;
  h.key(Key{'1'});
  EXPECT_EQ(view().view, View::heads);
  h.key(Key{'3'});
  EXPECT_EQ(view().view, View::flow);
  EXPECT_TRUE(h.state.undo.empty());
}

TEST_F(FlowViewTest, TheLayerIsChosenFromAMenu) {
  show();
  Harness& h = *harness;
  h.click("flow layer");
  h.click("flow layer 1");
  h.settle();
  EXPECT_EQ(view().chosen, (HeadRef{1, 0}));
  ASSERT_TRUE(h.state.flow);
  EXPECT_EQ(h.state.flow->question.heads, (std::vector<HeadRef>{{1, 0}}));
}

TEST_F(FlowViewTest, TheLegendChoosesHeads) {
  show();
  Harness& h = *harness;
  h.click("flow head 2");
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{0, 2}));
  EXPECT_TRUE(drew_lines_of(0));
  EXPECT_TRUE(drew_lines_of(2));
  h.click("flow head 0");
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{2}));
  EXPECT_FALSE(drew_lines_of(0));
  h.click("flow head 2");
  h.settle();
  EXPECT_TRUE(shown_heads().empty());
  EXPECT_TRUE(h.says("No head is shown"));
  h.click("flow all heads");
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{0, 1, 2, 3}));
  for (Index head = 0; head < 4; ++head) EXPECT_TRUE(drew_lines_of(head)) << head;
  h.click("flow chosen head");
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{0}));
  h.key(Key::home);
  EXPECT_EQ(shown_heads().size(), 4u);
  h.key(Key::home);
  h.key(Key::right_bracket);
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{1})) << "the chosen head is another now";
  EXPECT_TRUE(drew_lines_of(1));
}

TEST_F(FlowViewTest, TheThresholdLeavesLinesOut) {
  show();
  Harness& h = *harness;
  h.slide("threshold", 0.2f, 1);
  h.settle();
  EXPECT_FLOAT_EQ(view().flow.threshold, 1);
  EXPECT_FALSE(drew_lines_of(0));
  EXPECT_TRUE(h.says("no line: the largest weight is"));
  h.slide("threshold", 1, 0);
  EXPECT_FLOAT_EQ(view().flow.threshold, 0);
  EXPECT_TRUE(drew_lines_of(0));
  h.slide("threshold", 0, 0.5f);
  EXPECT_NEAR(view().flow.threshold, 0.25f, 0.03f) << "small weights have most of the slider";
  h.slide("threshold", 0.5f, 0);
  h.key(Key::equal);
  EXPECT_FLOAT_EQ(view().flow.threshold, 0.001f);
  h.key(Key::minus);
  EXPECT_FLOAT_EQ(view().flow.threshold, 0);
  EXPECT_EQ(view().viewport, Viewport{}) << "the keys do not zoom a map that is not seen";
}

TEST_F(FlowViewTest, APointedWordIsACellEverywhere) {
  show();
  Harness& h = *harness;
  h.point_at("flow query 9");
  const Matrix weights = weights_of(*h.state.trace, {0, 0});
  Index key = 0;
  weights.row(9).maxCoeff(&key);
  EXPECT_EQ(view().hovered, (CellRef{9, key}));
  Gui gui{h.state, h.commands, h.fonts, h.maps, h.samples, {}, 1, nullptr};
  EXPECT_TRUE(h.says(cell_in_words(gui, {0, 0}, {9, key})));
  h.point_at("flow key 3");
  Index query = 0;
  weights.col(3).maxCoeff(&query);
  EXPECT_EQ(view().hovered, (CellRef{query, 3}));
  h.click("flow query 9");
  EXPECT_EQ(view().pinned, (CellRef{9, key}));
  h.point_away();
  EXPECT_FALSE(view().hovered);
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.box("flow")));
  h.key(Key::up);
  EXPECT_EQ(view().pinned, (CellRef{8, key}));
  h.key(Key{'1'});
  h.settle();
  EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.outline_of("stage map", {8, key})));
  h.key(Key{'3'});
  h.click("flow query 9");
  h.click("flow query 9");
  EXPECT_FALSE(view().pinned) << "a second click lets go";
}

TEST_F(FlowViewTest, CrossAttentionHasTheTwoSentences) {
  Document document;
  document.config = {.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 0};
  document.mask.causal = true;
  document.target.text = "Book me a ticket";
  show(document);
  Harness& h = *harness;
  h.click("stack cross");
  h.settle();
  EXPECT_EQ(h.state.flow->question.heads, (std::vector<HeadRef>{{0, 0, Stack::cross}}));
  EXPECT_TRUE(h.says("target · looks"));
  EXPECT_TRUE(h.says("source · is looked at"));
  const auto queries = static_cast<std::size_t>(h.state.trace->queries(Stack::cross));
  EXPECT_TRUE(h.has("flow query " + std::to_string(queries - 1)));
  EXPECT_FALSE(h.has("flow query " + std::to_string(queries)));
  EXPECT_TRUE(h.has("flow key 9"));
  EXPECT_TRUE(drew_lines_of(0));
}

TEST_F(FlowViewTest, LinesOfAModelWithoutThisStackAreNotDrawn) {
  show();
  Harness& h = *harness;
  const auto before = h.state.flow;
  ASSERT_TRUE(before);
  Config config = h.state.document.config;
  config.arch = Arch::encoder_decoder;
  h.push(SetConfig{config}, EndGesture{});
  h.settle();
  for (const Stack stack : {Stack::cross, Stack::encoder}) {
    h.state.flow = before;
    h.state.view.chosen = {0, 0, stack};
    h.frame();
    h.settle();
    EXPECT_EQ(h.state.flow->question.heads.front().stack, stack);
  }
}

TEST_F(FlowViewTest, OneWordAndAThousand) {
  show();
  for (const std::size_t count : {1u, 1000u}) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i ? " " : "") + std::string("w") + std::to_string(i % 10);
    Document document;
    document.source.text = text;
    document.config = {.d_model = 8, .num_heads = 8, .num_layers = 1, .ffn = 0};
    show(document);
    harness->push(SetFlow{{.heads = all_heads_of_layer(harness->state), .threshold = 0}});
    harness->settle();
    EXPECT_EQ(harness->state.trace->queries(), static_cast<Index>(count));
    EXPECT_TRUE(drew_lines_of(0));
    EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, 60000) << "only what is seen, and the strongest of it";
    if (count == 1) continue;
    EXPECT_GT(harness->box("flow query 999").y, harness->box("flow").bottom());
    const Box flow = harness->box("flow");
    harness->move_to({flow.x + flow.w / 2, flow.y + flow.h / 2});
    harness->wheel(-2000);
    for (int i = 0; i < 400 && harness->box("flow query 999").y > flow.bottom(); ++i) harness->wheel(-20);
    EXPECT_LT(harness->box("flow query 999").y, flow.bottom()) << "and the last word can be reached";
  }
}

TEST_F(FlowViewTest, AnotherSentenceKeepsTheView) {
  show();
  Harness& h = *harness;
  h.click("flow all heads");
  h.retype("我爱北京");
  h.settle();
  EXPECT_EQ(view().view, View::flow);
  EXPECT_EQ(h.state.flow->question.trace, h.state.trace);
  EXPECT_TRUE(drew_lines_of(0));
  h.push(SetConfig{{.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 0}});
  h.settle();
  EXPECT_EQ(shown_heads(), (std::vector<Index>{0, 1})) << "of those that there are";
  EXPECT_TRUE(is_consistent(h.state));
  h.retype("");
  h.settle();
  EXPECT_TRUE(h.says("No sentence yet"));
}

TEST_F(FlowViewTest, AWorkersAnswerComesWhereTheHeadChanges) {
  show();
  harness->push(ChooseHead{{1, 3}});
  harness->settle();
  EXPECT_EQ(harness->state.flow->question.heads, (std::vector<HeadRef>{{1, 3}}));
}

}  // namespace
}  // namespace headlight
