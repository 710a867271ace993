// The maps of Compare zoomed and dragged together, and sentences that are long.
#include "gui/actions/look.h"
#include "gui/compare/compare_fixture.h"
#include "views/compare/panel/joint_map.h"

namespace headlight {
namespace {

/// The middle of a joint cell of a zoomed map.
ImVec2 zoomed_point(const Harness& h, const std::string& map, CellRef cell) {
  const Viewport part = h.state.view.compared;
  const Box plot = h.box(map);
  return {plot.x + (static_cast<float>(cell.key - part.first_key) + 0.5f) * plot.w / static_cast<float>(part.num_keys),
          plot.y + (static_cast<float>(cell.query - part.first_query) + 0.5f) * plot.h /
                       static_cast<float>(part.num_queries)};
}

TEST_F(CompareViewTest, TheWheelZoomsAllThreeTogether) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const auto size = static_cast<Index>(axes().queries.size());
  for (const char* map : {"map A", "map B", "map difference"}) {
    const CellRef cell{size - 3, 4};  // 的 looks at 帮, which both have
    h.move_to(joint_point(map, cell));
    h.wheel(2);
    h.frame(2);
    const Viewport part = state().view.compared;
    ASSERT_GT(part.num_queries, 0) << map;
    EXPECT_LT(part.num_queries, size);
    EXPECT_TRUE(part.first_query <= cell.query && cell.query < part.first_query + part.num_queries);
    EXPECT_TRUE(part.first_key <= cell.key && cell.key < part.first_key + part.num_keys);
    EXPECT_EQ(state().view.viewport, Viewport{}) << "that of the single head is another";
    for (const char* each : {"map A", "map B", "map difference"}) {
      h.move_to(zoomed_point(h, each, cell));
      h.frame(2);
      EXPECT_EQ(lit_joint_cell(state(), axes()), cell) << each;
      for (const char* other : {"map A", "map B", "map difference"}) {
        const ImVec2 at = zoomed_point(h, other, cell);
        const float side = h.box(other).w / static_cast<float>(part.num_keys) + 2;
        EXPECT_TRUE(h.drew(palette(Theme::light).accent, {at.x - side / 2, at.y - side / 2, side, side})) << other;
      }
    }
    h.wheel(-8);
    EXPECT_EQ(state().view.compared, Viewport{}) << map;
  }
  h.wheel(2);
  h.frame(2);
  h.click("whole");
  EXPECT_EQ(state().view.compared, Viewport{});
}

TEST_F(CompareViewTest, AZoomedMapIsDraggedAndTheKeysZoomIt) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  key({Key::equal});
  key({Key::equal});
  const Viewport part = state().view.compared;
  ASSERT_GT(part.num_queries, 0);
  h.frame(2);
  const Box plot = h.box("map difference");
  const float cell = plot.w / static_cast<float>(part.num_keys);
  const ImVec2 middle{plot.x + plot.w / 2, plot.y + plot.h / 2};
  h.drag(middle, {middle.x + 1.2f * cell, middle.y - 1.2f * cell}, 1, 30);
  EXPECT_EQ(state().view.compared.first_query, part.first_query + 1) << "the maps move with the pointer";
  EXPECT_EQ(state().view.compared.first_key, part.first_key - 1);
  EXPECT_FALSE(state().view.pinned || state().view.pinned_kept) << "and nothing is pinned";
  for (int i = 0; i < 6; ++i) h.drag(middle, {plot.x + 2, plot.y + 2}, 1, 30);
  const Viewport end = state().view.compared;
  EXPECT_EQ(end.first_key + end.num_keys, static_cast<Index>(axes().keys.size())) << "up to the last cell";
  const std::string text = document().source.text;
  key({Key::home});
  EXPECT_EQ(state().view.compared, Viewport{});
  EXPECT_EQ(document().source.text, text) << "what is zoomed is not swapped";
  key({Key::equal});
  key({Key::minus});
  EXPECT_EQ(state().view.compared, Viewport{});
}

TEST_F(CompareViewTest, AnotherSentenceIsSeenWholeAnotherMaskIsNot) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  key({Key::equal});
  const Viewport part = state().view.compared;
  ASSERT_NE(part, Viewport{});
  h.push(SetMask{true, true}, EndGesture{});
  h.settle();
  EXPECT_EQ(state().view.compared, part);
  h.push(SetText{"小猫帮我订了去上海的车票"}, EndGesture{});
  h.settle();
  EXPECT_EQ(state().view.compared, Viewport{});
  EXPECT_TRUE(is_consistent(state()));
}

TEST_F(CompareViewTest, LongSentencesAreZoomedDownToTheirNumbers) {
  Harness& h = *harness;
  std::string text, other;
  for (int i = 0; i < 512; ++i) text += (i == 0 ? "w" : " w") + std::to_string(i);
  other = "x" + text.substr(2);
  h.push(SetText{text}, EndGesture{});
  h.settle();
  keep_and_ask(other);
  ASSERT_EQ(axes().queries.size(), 513u);
  const CellRef cell{400, 300};
  for (int i = 0; i < 40; ++i) {
    h.move_to(state().view.compared == Viewport{} ? joint_point("map B", cell) : zoomed_point(h, "map B", cell));
    h.wheel(1);
  }
  EXPECT_EQ(state().view.compared.num_queries, 4);
  h.move_to(zoomed_point(h, "map B", cell));
  h.frame(2);
  EXPECT_EQ(lit_joint_cell(state(), axes()), cell);
  EXPECT_TRUE(h.says("w399")) << "the words are there to be read";
}

TEST_F(CompareViewTest, TooLongSentencesGetOneLine) {
  Harness& h = *harness;
  std::string text;
  for (int i = 0; i < 520; ++i) text += i == 0 ? "a" : " a";
  keep_and_ask(text);
  EXPECT_TRUE(h.says("up to 512 tokens"));
  EXPECT_TRUE(h.says("520"));
  h.probe.clear();
  h.frame(2);
  EXPECT_FALSE(h.has("map A"));
  EXPECT_FALSE(h.has("colour bar")) << "there is nothing that has its colours";
}

TEST_F(CompareViewTest, WhereNothingDiffersTheMapSaysSo) {
  Harness& h = *harness;
  h.push(KeepAnswer{}, ShowView{View::compare});
  h.settle();
  EXPECT_TRUE(h.says("Nothing differs in this head"));
  EXPECT_TRUE(h.says("change the sentence")) << "and what to change";
  h.push(SetText{"小猫请李雷帮我订了去北京的车票"}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.says("Nothing differs in this head"));
}

}  // namespace
}  // namespace headlight
