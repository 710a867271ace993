// The Inside view: from a weight to its steps, from a step to its matrix, from a number to the numbers it came from,
// down to what was learned, and back.
#include <numeric>

#include "core/output_matrices.h"
#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/inside/inside_fixture.h"
#include "views/inside/inside_labels.h"
#include "views/inside/weight_lines.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

TEST_F(InsideViewTest, FromAWeightToTheLearnedNumbersAndBack) {
  Harness& h = *harness;
  h.click_at(h.cell_point("stage map", {9, 5}));
  h.click("numbers");
  h.settle();
  EXPECT_EQ(view().view, View::inside);
  const Look weight{matrix_id(Quantity::weights), MatrixCell{9, 5}};
  EXPECT_EQ(look(), weight);
  EXPECT_FALSE(h.has("stage map"));
  const float value = weights_of(*h.state.trace, {0, 0})(9, 5);
  EXPECT_TRUE(h.says("机票 looks at 订了: " + weight_text(value))) << h.words_on_screen();
  EXPECT_TRUE(h.says("[机票, 订了] = " + exact_number(value)));
  for (const char* line : {"line 1", "line 2", "line 3", "line 4", "line 5"}) EXPECT_TRUE(h.has(line)) << line;
  EXPECT_TRUE(h.says("“机票” asks"));
  EXPECT_TRUE(h.says("“订了” answers"));
  EXPECT_TRUE(h.says(percent(value))) << "its share of the row";
  EXPECT_FALSE(h.has("step q")) << "a line opens to its steps";
  h.click("line 1");
  h.settle();
  EXPECT_TRUE(h.says("1  The word that looks, as a vector"));
  EXPECT_EQ(look(), (Look{matrix_id(Quantity::query), MatrixCell{9, 0}})) << "its matrix stands beside it";

  click("way", "step q");
  EXPECT_EQ(look(), (Look{matrix_id(Quantity::query), MatrixCell{9, 0}}));
  EXPECT_TRUE(same(h.map("matrix").weights, whole(*h.state.trace, look().matrix)));
  EXPECT_TRUE(h.map("matrix").scale.diverging);
  const Cell cell = explain_cell(*h.state.trace, look().matrix, 9, 0);
  EXPECT_TRUE(h.says(words_of(Language::en, cell.operation)));
  EXPECT_TRUE(h.says("= " + exact_number(cell.value)));
  EXPECT_TRUE(h.says(exact_number(cell.terms[0].from.value)));
  EXPECT_TRUE(h.says("= " + exact_number(cell.terms[0].contribution)));
  const Look query = look();

  ASSERT_TRUE(h.has("times 1"));
  h.click("times 1");
  h.settle();
  EXPECT_EQ(look(), (Look{matrix_id(Quantity::query_weight), MatrixCell{0, 1}}));
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::given))) << "nothing comes before it";
  EXPECT_FALSE(h.has("term 0"));
  EXPECT_TRUE(h.says("W_Q[0, 1] = " + exact_number(value_at(look().matrix, {0, 1}))));

  h.click("look back");
  EXPECT_EQ(look(), query);
  h.click("look back");
  EXPECT_EQ(look(), weight);
  h.click("look back");
  EXPECT_EQ(look(), Look{});
  h.settle();
  h.click("look back");
  EXPECT_EQ(look(), Look{}) << "there is nothing before the first";
  EXPECT_TRUE(h.state.undo.empty()) << "looking is not editing";
}

TEST_F(InsideViewTest, TheFiveLinesHaveTheNumbersOfTheirSteps) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const auto step = [&](std::string_view name) {
    const auto& steps = h.state.inside->steps;
    return std::find_if(steps.begin(), steps.end(), [&](const Step& one) { return one.name == name; });
  };
  const auto number = [&](std::string_view name) { return brief_number(step(name)->value(0, 0)); };
  const Matrix row = weights_of(*h.state.trace, view().chosen).row(9);
  ASSERT_NE(number("dot"), number("scores"));
  EXPECT_TRUE(h.says("3 How well the two match: the score" + number("scores"))) << h.words_on_screen();
  EXPECT_TRUE(h.says("4 Its share among 10 words: softmax" + percent(row(0, 5))));
  h.push(SetMask{true, true}, EndGesture{}, Pin{CellRef{1, 0}});
  h.settle();
  EXPECT_TRUE(h.says("4 Its share among 2 words: softmax")) << "the mask hides eight";
  h.push(SetMask{false, true}, EndGesture{}, Pin{CellRef{9, 5}});
  h.settle();
  EXPECT_TRUE(h.says("5 “订了” hands over its value"));
  EXPECT_TRUE(h.says("q·k = " + number("dot") + " × 0.25 = " + number("scaled"))) << "1/√d_k";
  std::vector<Index> keys(10);
  std::iota(keys.begin(), keys.end(), Index{0});
  std::sort(keys.begin(), keys.end(), [&](Index a, Index b) { return row(0, a) > row(0, b); });
  for (const Index key : {keys[0], keys[1], keys[2], Index{5}})
    EXPECT_TRUE(
        h.says(axis_label(h.state.trace->key_tokens().tokens[static_cast<std::size_t>(key)]) + percent(row(0, key))))
        << key;
}

TEST_F(InsideViewTest, ThePinnedWeightIsTheOneThatBothSidesExplain) {
  Harness& h = *harness;
  h.click_at(h.cell_point("stage map", {9, 5}));
  h.key(Key{'2'});
  h.settle();
  EXPECT_EQ(look(), (Look{matrix_id(Quantity::weights), MatrixCell{9, 5}}));
  EXPECT_TRUE(h.says("[机票, 订了] = " + exact_number(weights_of(*h.state.trace, {0, 0})(9, 5))));
  EXPECT_FALSE(h.says(words(Language::en, kInsideWords.click_for_terms)));
}

TEST_F(InsideViewTest, MapsOfWordsAreSquare) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const Box plot = h.box("matrix");
  EXPECT_EQ(plot.w, plot.h);
  EXPECT_GE(plot.w, 200);
}

TEST_F(InsideViewTest, ALineClosesWhereItWasOpened) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  h.click("line 2");
  h.settle();
  EXPECT_EQ(view().inside_line, 1u);
  EXPECT_TRUE(h.has("step k"));
  const Look key = look();
  EXPECT_EQ(key.matrix.quantity, Quantity::key);
  h.click("line 2");
  h.settle();
  EXPECT_EQ(view().inside_line, std::nullopt);
  EXPECT_EQ(look(), key) << "what is looked at stays";
}

TEST_F(InsideViewTest, EveryStepLeadsToItsMatrix) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const auto steps = h.state.inside->steps;
  EXPECT_GT(steps.size(), 20u);
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    h.push(OpenInsideLine{static_cast<std::size_t>(weight_line_of(step.name))});
    click("way", "step " + step.name);
    EXPECT_EQ(look().matrix, step.id);
    EXPECT_EQ(look().cell, (MatrixCell{step.row, step.col}));
    EXPECT_TRUE(h.says(step_title(Language::en, *h.state.trace, step)));
    EXPECT_TRUE(h.has("matrix"));
    EXPECT_TRUE(h.says("= " + exact_number(value_at(step.id, {step.row, step.col}))));
    EXPECT_TRUE(h.drew(palette(Theme::light).accent, h.box("step " + step.name)));
  }
}

TEST_F(InsideViewTest, EveryNumberShownIsTheTracesAndSaysSoWherePointedAt) {
  for (const Arch arch : {Arch::encoder, Arch::encoder_decoder}) {
    start(document_of(arch));
    Harness& h = *harness;
    h.push(ShowView{View::inside});
    const Trace& trace = *h.state.trace;
    std::vector<MatrixId> all = matrices_of(trace, Stack::self, 1, 1);
    for (const MatrixId& id : matrices_of_output(trace, Stack::self)) all.push_back(id);
    for (const MatrixId& id : matrices_of_embedding(trace, Stack::self)) all.push_back(id);
    for (const MatrixId& id : all) {
      SCOPED_TRACE(path(trace, id));
      const Shape size = shape(trace, id);
      const MatrixCell cell{size.rows - 1, size.cols / 2};
      look_at(id, cell);
      EXPECT_TRUE(h.has("cell value"));
      EXPECT_TRUE(h.says("= " + exact_number(value_at(id, cell))));
      const MatrixCell other{0, size.cols - 1};
      h.move_to(cell_point(h.state.inside->matrix.first_row == 0 ? other : cell));
      const MatrixCell under = h.state.inside->matrix.first_row == 0 ? other : cell;
      EXPECT_TRUE(h.says("] = " + exact_number(value_at(id, under))));
      h.point_away();
    }
  }
}

TEST_F(InsideViewTest, EveryCellOfAMatrixSaysItsValue) {
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  for (const Quantity quantity : {Quantity::weights, Quantity::scores, Quantity::query}) {
    const MatrixId id = matrix_id(quantity);
    look_at(id);
    const Shape size = shape(*h.state.trace, id);
    for (Index row = 0; row < size.rows; row += 3)
      for (Index col = 0; col < size.cols; ++col) {
        h.move_to(cell_point({row, col}));
        EXPECT_TRUE(h.says("] = " + exact_number(value_at(id, {row, col})))) << row << " " << col;
      }
    h.click_at(cell_point({2, 4}));
    h.settle();
    EXPECT_EQ(look(), (Look{id, MatrixCell{2, 4}}));
  }
}

TEST_F(InsideViewTest, EveryBoxOfTheDiagramShowsItsMatrix) {
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder}) {
    start(document_of(arch));
    Harness& h = *harness;
    h.push(ChooseHead{{1, 1}}, ShowView{View::inside}, ShowTab{InsideTab::diagram});
    h.settle();
    const Diagram diagram = h.state.inside->diagram;
    EXPECT_GT(diagram.nodes.size(), 12u);
    for (const Node& node : diagram.nodes) {
      SCOPED_TRACE(node.id);
      click("way", "node " + node.id);
      EXPECT_EQ(look().matrix, node.shows);
      const DrawnMap drawn = h.map("matrix");
      const MatrixPicture& picture = h.state.inside->matrix;
      EXPECT_TRUE(same(drawn.weights, rows_of(*h.state.trace, node.shows, picture.first_row, picture.rows)));
      EXPECT_TRUE(h.says(words_of(Language::en, node.shows.quantity)));
      EXPECT_TRUE(h.says(node_title(Language::en, node)));
      EXPECT_TRUE(is_consistent(h.state));
    }
    for (std::size_t i = diagram.nodes.size(); i > 1; --i) h.key(Key::backspace);
    EXPECT_EQ(look().matrix, diagram.nodes.front().shows);
  }
}

TEST_F(InsideViewTest, TheArrowsMoveTheCellThatIsExplained) {
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  look_at(matrix_id(Quantity::scores), MatrixCell{0, 0});
  h.key(Key::down);
  h.key(Key::right);
  h.key(Key::right);
  EXPECT_EQ(look().cell, (MatrixCell{1, 2}));
  h.key(Key::up);
  h.key(Key::up);
  h.key(Key::left);
  EXPECT_EQ(look().cell, (MatrixCell{0, 1}));
  h.settle();
  EXPECT_TRUE(h.says("= " + exact_number(value_at(look().matrix, {0, 1}))));
  look_at(matrix_id(Quantity::query));
  h.key(Key::down);
  EXPECT_EQ(look().cell, (MatrixCell{0, 0})) << "where there was none they begin with the first";
}

TEST_F(InsideViewTest, TheDiagramDrawsWhoLooksAtWhomInSquareCells) {
  Harness& h = *harness;
  h.push(ShowView{View::inside}, ShowTab{InsideTab::diagram});
  h.settle();
  int patterns = 0;
  for (const Node& node : h.state.inside->diagram.nodes) {
    if (node.shows.quantity != Quantity::weights && node.shows.quantity != Quantity::scores) continue;
    const Box box = h.box("node " + node.id);
    for (const DrawnMap& map : h.maps.drawn) {
      if (!box.contains(map.box.x + map.box.w / 2, map.box.y + map.box.h / 2)) continue;
      ++patterns;
      EXPECT_NEAR(map.box.w / static_cast<float>(map.weights.cols()),
                  map.box.h / static_cast<float>(map.weights.rows()), 0.2f);
      EXPECT_GE(map.box.h, 8.0f * static_cast<float>(map.weights.rows()));
    }
  }
  EXPECT_EQ(patterns, 2) << "scores and weights";
}

TEST_F(InsideViewTest, AnEditWhileLookingIsFollowed) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  look_at(matrix_id(Quantity::weights), MatrixCell{9, 5});
  const float before = value_at(look().matrix, {9, 5});
  h.slide("scale", 0.125f, 0.9f);
  h.settle();
  const float after = value_at(look().matrix, {9, 5});
  EXPECT_NE(before, after);
  EXPECT_TRUE(h.says("= " + exact_number(after)));
  h.retype("我爱");
  h.settle();
  h.key(Key::escape);
  EXPECT_TRUE(h.has("matrix"));
  EXPECT_FALSE(h.has("cell value")) << "the cell is outside now";
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.click_for_terms)));
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(InsideViewTest, TheFigureIsOfTheMatrixThatIsLookedAt) {
  start(document_of(Arch::encoder));
  Harness& h = *harness;
  h.push(Pin{CellRef{2, 1}}, ShowView{View::inside});
  h.settle();
  look_at(matrix_id(Quantity::weights), MatrixCell{2, 1});
  h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::steps) << "of the pinned weight";
  h.push(Browse{});
  look_at(matrix_id(Quantity::query_weight), MatrixCell{1, 3});
  h.key({Key::left_ctrl, Key::left_shift, Key{'E'}});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::matrix);
  EXPECT_TRUE(h.has("figure matrix"));
  EXPECT_TRUE(h.says("Matrix W_Q"));
  const TemporaryFolder folder;
  const std::string file = (folder / "matrix.svg").string();
  h.push(FigureTo{file});
  h.settle();
  ASSERT_TRUE(h.state.notice);
  EXPECT_EQ(h.state.notice->kind, Notice::Kind::exported) << h.state.notice->text;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(InsideViewTest, TheLayerBeforeIsReachedThroughTheDiagram) {
  start(document_of(Arch::encoder));
  Harness& h = *harness;
  h.push(ChooseHead{{2, 0}}, ShowView{View::inside}, ShowTab{InsideTab::diagram});
  h.settle();
  EXPECT_TRUE(h.says("Layers 0–1"));
  h.key({Key::left_shift, Key::left_bracket});
  h.settle();
  EXPECT_EQ(view().chosen.layer, 1);
  EXPECT_TRUE(h.says("Layer 0"));
}

}  // namespace
}  // namespace headlight
