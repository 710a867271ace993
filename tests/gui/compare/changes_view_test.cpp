// What changed between two answers, as arcs over the words of both.
#include <cmath>

#include "app/figures.h"
#include "gui/actions/look.h"
#include "gui/compare/compare_fixture.h"
#include "gui/frame/draw.h"
#include "views/compare/changes_scene.h"

namespace headlight {
namespace {

/// With the form that Compare opens on.
class ChangesViewTest : public CompareViewTest {
 protected:
  void SetUp() override { KeysTest::SetUp(); }
  const PatternPair& maps() { return state().comparison->maps; }
  /// The cell off the diagonal that changed most.
  CellRef largest_change() {
    CellRef at;
    float largest = -1;
    for (Index i = 0; i < maps().difference.rows(); ++i)
      for (Index j = 0; j < maps().difference.cols(); ++j)
        if (const float change = std::abs(maps().difference(i, j)); i != j && std::isfinite(change) && change > largest)
          largest = change, at = {i, j};
    return at;
  }
  static std::string named(const char* what, const CellRef& cell) {
    return what + std::to_string(cell.query) + " " + std::to_string(cell.key);
  }
};

TEST_F(ChangesViewTest, FewWordsOpenWithArcsAndMapsAreAClickAway) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  EXPECT_TRUE(h.has("changed word 0"));
  EXPECT_TRUE(h.has(named("change ", largest_change())));
  EXPECT_FALSE(h.has("map A"));
  h.click("compare maps");
  h.frame(2);
  EXPECT_TRUE(h.has("map A"));
  EXPECT_FALSE(h.has("changed word 0"));
  h.click("take from a");
  h.settle();
  EXPECT_FALSE(h.has("map A"));
  h.click("compare changes");
  h.settle();
  EXPECT_TRUE(h.has("changed word 0"));
  EXPECT_EQ(seen_figure(state()), FigureKind::changes);
}

TEST_F(ChangesViewTest, ALessonSpeaksOfRowsAndColumns) {
  keep_and_ask("小猫帮我订了去北京的车票");
  ASSERT_TRUE(shows_changes(state()));
  state().view.lesson = LessonPosition{};
  EXPECT_FALSE(shows_changes(state()));
  state().view.changes = true;
  EXPECT_TRUE(shows_changes(state())) << "chosen";
}

TEST_F(ChangesViewTest, AWordShowsItsRowInBothAndAClickPinsIt) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const CellRef cell = largest_change();
  h.point_at("changed word " + std::to_string(cell.query));
  EXPECT_EQ(lit_joint_cell(state(), axes())->query, cell.query);
  EXPECT_TRUE(h.says("A ")) << "in words";
  h.click("changed word " + std::to_string(cell.query));
  EXPECT_EQ(pinned_joint_cell(state(), axes()), cell) << "the largest change of the word";
  h.point_away();
  h.click("changed word " + std::to_string(cell.query));
  EXPECT_FALSE(pinned_joint_cell(state(), axes())) << "let go";
  const Index other = cell.query == 0 ? 1 : 0;
  h.click("changed column " + std::to_string(other));
  ASSERT_TRUE(pinned_joint_cell(state(), axes()));
  EXPECT_EQ(pinned_joint_cell(state(), axes())->key, other);
}

TEST_F(ChangesViewTest, TheArcsAreTheLargestChanges) {
  keep_and_ask("小猫帮我订了去北京的车票");
  const HeadRef head = state().comparison->chosen;
  const auto content = changes_content(axes(), head, maps(), std::nullopt, {});
  ASSERT_TRUE(content);
  ASSERT_FALSE(content->named.empty());
  EXPECT_LE(content->named.size(), kMostThinArcs);
  float least = 2;
  for (const SentenceArc& arc : content->named) {
    EXPECT_EQ(arc.change, maps().difference(arc.query, arc.key));
    EXPECT_GE(arc.weight, kLeastChange);
    least = std::min(least, arc.weight);
  }
  std::size_t as_large = 0;
  for (Index i = 0; i < maps().difference.rows(); ++i)
    for (Index j = 0; j < maps().difference.cols(); ++j)
      if (const float change = std::abs(maps().difference(i, j)); i != j && std::isfinite(change))
        as_large += change >= least ? 1 : 0;
  EXPECT_EQ(as_large, content->named.size());
  for (std::size_t i = 0; i < content->queries.size(); ++i)
    EXPECT_EQ(content->queries[i].ink.has_value(), !axes().axes.queries[i].in_both()) << i;
  ASSERT_EQ(content->rows.size(), 3u);
  EXPECT_EQ(content->rows[0].cells, &maps().a);
  EXPECT_EQ(content->rows[2].cells, &maps().difference);
}

TEST_F(ChangesViewTest, TheFigureHasTheRowsAndArcsOfTheWindow) {
  keep_and_ask("小猫帮我订了去北京的车票");
  FigureRequest order = figure_order(state());
  order.kind = FigureKind::changes;
  order.width = kSlideMm;
  const auto drawing = draw_ordered(order, figures::roughly);
  ASSERT_TRUE(drawing) << drawing.error().message();
  const auto content = changes_content(axes(), state().comparison->chosen, maps(), std::nullopt, {});
  EXPECT_EQ(std::ranges::count_if(drawing->hits, [](const Hit& hit) { return hit.name.starts_with("arc "); }),
            std::ssize(content->named));
  std::vector<std::string> texts;
  for (const Text& text : figures::all<Text>(*drawing)) texts.push_back(text.text);
  for (const char* row : {"A", "B", "B − A"}) EXPECT_EQ(std::ranges::count(texts, row), row[1] ? 2 : 1) << row;
}

TEST_F(ChangesViewTest, NoWordIsHiddenBecauseBLooksAtItLess) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const Matrix change = maps().difference;
  int less = 0;
  for (Index i = 0; i < change.rows(); ++i) {
    h.point_at("changed word " + std::to_string(i));
    for (Index j = 0; j < change.cols(); ++j) {
      if (!(change(i, j) < 0)) continue;
      ++less;
      EXPECT_FALSE(h.drew(to_imgui(blocked_colours(Theme::light).line), h.box("changed word " + std::to_string(j))))
          << i << " " << j;
    }
  }
  EXPECT_GT(less, 0);
}

/// Dear ImGui scales a glyph as a rectangle; one that covers no middle of a pixel is not drawn.
TEST_F(ChangesViewTest, NoMinusIsThinnerThanAPixel) {
  Harness& h = *harness;
  keep_and_ask("小猫帮我订了去北京的车票");
  const CellRef cell = largest_change();
  h.point_at("changed word " + std::to_string(cell.query));
  const Box column = h.box("changed column " + std::to_string(cell.key));
  const ImDrawData& data = *ImGui::GetDrawData();
  int bars = 0;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImVector<ImDrawVert>& corners = data.CmdLists[i]->VtxBuffer;
    for (int at = 0; at + 3 < corners.Size; ++at) {
      const ImVec2 from = corners[at].pos, to = corners[at + 2].pos;
      const bool is_glyph = corners[at].uv.x < corners[at + 2].uv.x && corners[at].uv.y < corners[at + 2].uv.y &&
                            corners[at + 1].pos.y == from.y && corners[at + 1].pos.x == to.x;
      if (!is_glyph || !column.contains(from.x, from.y)) continue;
      EXPECT_GE(to.y - from.y, 1);
      ++bars;
    }
  }
  EXPECT_GT(bars, 0);
}

}  // namespace
}  // namespace headlight
