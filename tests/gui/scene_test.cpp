// A view is laid out once: a figure has the boxes of the window, by the same names and in the same order.
#include "gui/frame/scene.h"

#include <cmath>
#include <set>
#include <tuple>

#include "app/figures.h"
#include "gui/frame/draw.h"
#include "gui/harness.h"

namespace headlight {
namespace {

class SceneTest : public GuiTest {
 protected:
  /// The figure of what the window shows.
  Drawing figure(FigureKind kind) const {
    FigureRequest order = figure_order(harness->state);
    order.kind = kind;
    order.width = kSlideMm;
    auto drawing = draw_ordered(order, figures::roughly);
    EXPECT_TRUE(drawing) << drawing.error().message();
    return drawing ? std::move(*drawing) : Drawing{};
  }
};

/// How one box stands to another: before, after, or beside it, along an axis.
int order_of(float begin, float end, float other_begin, float other_end) {
  constexpr float kSlack = 1;
  return end <= other_begin + kSlack ? -1 : other_end <= begin + kSlack ? 1 : 0;
}

TEST_F(SceneTest, TheDiagramOfAFigureIsThatOfTheWindow) {
  harness->push(ShowView{View::inside}, ShowTab{InsideTab::diagram});
  harness->settle();
  const Drawing drawing = figure(FigureKind::diagram);
  ASSERT_EQ(drawing.hits.size(), harness->state.inside->diagram.nodes.size());
  std::vector<std::pair<Box, Box>> both;  // on paper, in the window, of the nodes in sight
  for (const Hit& hit : drawing.hits)
    if (harness->has(hit.name)) both.emplace_back(hit.box, harness->box(hit.name));
  ASSERT_GT(both.size(), 8u);
  for (const auto& [a, a_seen] : both)
    for (const auto& [b, b_seen] : both) {
      EXPECT_EQ(order_of(a.y, a.bottom(), b.y, b.bottom()),
                order_of(a_seen.y, a_seen.bottom(), b_seen.y, b_seen.bottom()));
      if (order_of(a.y, a.bottom(), b.y, b.bottom()) == 0) {
        EXPECT_EQ(order_of(a.x, a.right(), b.x, b.right()),
                  order_of(a_seen.x, a_seen.right(), b_seen.x, b_seen.right()));
      }
    }
}

/// Where a box stands in the grid that `all` form: how many rows are above it, and how many columns left of it.
std::pair<std::size_t, std::size_t> cell_of(const Box& box, const std::vector<Box>& all) {
  std::set<long> rows, columns;
  for (const Box& other : all) {
    if (order_of(other.y, other.bottom(), box.y, box.bottom()) < 0) rows.insert(std::lround(other.y));
    if (order_of(other.x, other.right(), box.x, box.right()) < 0) columns.insert(std::lround(other.x));
  }
  return {rows.size(), columns.size()};
}

TEST_F(SceneTest, AllHeadsOfAFigureStandAsInTheWindow) {
  for (const auto& [layers, heads, kind] :
       {std::tuple{2, 8, FigureKind::grid}, {12, 12, FigureKind::grid}, {12, 12, FigureKind::layers}}) {
    Document document;
    document.config = {.d_model = 16 * heads, .num_heads = heads, .num_layers = layers};
    start(std::move(document));
    harness->settle();
    harness->push(ShowGrid{GridShow::all});
    harness->settle();
    const Drawing drawing = figure(kind);
    ASSERT_EQ(drawing.hits.size(), static_cast<std::size_t>(layers * heads));
    std::vector<Box> paper, seen;
    for (const Hit& hit : drawing.hits) {
      ASSERT_TRUE(harness->has(hit.name)) << hit.name;
      paper.push_back(hit.box);
      seen.push_back(harness->box(hit.name));
    }
    const bool table = layers * heads > 64;  // a row a layer, whatever the shape of the area
    for (std::size_t i = 0; i < paper.size(); ++i) {
      const auto on_paper = cell_of(paper[i], paper), in_window = cell_of(seen[i], seen);
      if (table) {
        EXPECT_EQ(on_paper, in_window) << drawing.hits[i].name;
      } else if (i > 0) {
        EXPECT_LT(cell_of(paper[i - 1], paper), on_paper) << drawing.hits[i].name;
        EXPECT_LT(cell_of(seen[i - 1], seen), in_window) << drawing.hits[i].name;
      }
      EXPECT_NEAR(paper[i].w / paper[i].h, seen[i].w / seen[i].h, 0.05f);
    }
    EXPECT_EQ(std::ranges::any_of(figures::all<Text>(drawing), [](const Text& text) { return text.text == "H11"; }),
              table);
  }
}

TEST_F(SceneTest, TheWordsOfFlowStandInTheSameRows) {
  harness->push(ShowView{View::flow});
  harness->settle();
  const Drawing drawing = figure(FigureKind::flow);
  const Index words = harness->state.trace->queries();
  ASSERT_EQ(drawing.hits.size(), static_cast<std::size_t>(2 * words));
  const Box paper = drawing.hits.front().box, seen = harness->box(drawing.hits.front().name);
  for (const Hit& hit : drawing.hits) {
    const Box box = harness->box(hit.name);
    EXPECT_NEAR((hit.box.y - paper.y) / paper.h, (box.y - seen.y) / seen.h, 0.01f) << hit.name;
    EXPECT_EQ(order_of(hit.box.x, hit.box.right(), paper.x, paper.right()),
              order_of(box.x, box.right(), seen.x, seen.right()))
        << hit.name;
  }
}

TEST_F(SceneTest, TheMapsOfCompareStandInAFigureAsInTheWindow) {
  Harness& h = *harness;
  h.push(KeepAnswer{}, SetText{"小猫请李雷帮我订了去北京的机票"}, EndGesture{}, ShowView{View::compare},
         ShowChanges{false});
  h.settle();
  const Drawing drawing = figure(FigureKind::compare);
  ASSERT_EQ(drawing.hits.size(), 3u);
  float em = 0, right = 0, right_seen = 0;  // an em of a title on paper; where the map before ends
  for (const Text& text : figures::all<Text>(drawing))
    if (text.text == "B − A" && text.role == Role::title) em = text.size;
  const float em_seen = h.fonts.pixels(TextSize::small) / kLineOfEm;
  const Box first = drawing.hits.front().box, first_seen = h.box("map A");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [name, box] = drawing.hits[i];
    EXPECT_EQ(name, std::vector<std::string>({"map A", "map B", "map difference"})[i]);
    const Box seen = h.box(name);
    EXPECT_NEAR(box.w / first.w, seen.w / first_seen.w, 0.01f) << name;
    EXPECT_NEAR(box.h / box.w, seen.h / seen.w, 0.01f) << name;
    EXPECT_EQ(box.y, first.y) << name;
    EXPECT_EQ(seen.y, first_seen.y) << name;
    if (i > 0) { EXPECT_NEAR((box.x - right) / em, (seen.x - right_seen) / em_seen, 0.2f) << name << ": as far apart"; }
    right = box.right(), right_seen = seen.right();
  }
}

TEST_F(SceneTest, TheMapOfWhatIsTakenFromAHasTheCellsOfTheWindow) {
  Harness& h = *harness;
  h.push(KeepAnswer{}, SetText{"小猫请李雷帮我订了去北京的机票"}, EndGesture{}, ShowView{View::compare},
         SetPatch{{.on = true}});
  h.settle();
  const auto maps = figures::all<Cells>(figure(FigureKind::patch));
  ASSERT_FALSE(maps.empty());
  const Box paper = maps.front().box, seen = h.box("patch");
  EXPECT_NEAR(paper.h / paper.w, seen.h / seen.w, 0.01f);
}

TEST_F(SceneTest, StepsAndTheMatrixHaveTheSameNames) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside}, OpenInsideLine{0});
  h.settle();
  const Drawing steps = figure(FigureKind::steps);
  std::size_t seen = 0, lines = 0;
  for (const Hit& hit : steps.hits) {
    seen += h.has(hit.name);
    if (!hit.name.starts_with("line ")) continue;
    ++lines;
    EXPECT_TRUE(h.has(hit.name)) << hit.name;
  }
  EXPECT_EQ(lines, 5u);
  EXPECT_EQ(steps.hits.size(), h.state.inside->steps.size() + lines);
  EXPECT_GT(seen, 2 + lines) << "the steps of the open line";
  for (const Text& text : figures::all<Text>(steps))
    if (text.role == Role::title && text.text.starts_with("1  “")) { EXPECT_TRUE(h.says(text.text)) << text.text; }
  const Drawing matrix = figure(FigureKind::matrix);
  ASSERT_EQ(matrix.hits.size(), 1u);
  EXPECT_TRUE(h.has(matrix.hits.front().name));
}

}  // namespace
}  // namespace headlight
