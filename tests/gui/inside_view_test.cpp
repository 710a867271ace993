// The Inside view: from a weight to its steps, from a step to its matrix, from a number to the numbers it came from,
// down to what was learned, and back.
#include <cmath>
#include <fstream>

#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "gui/inside/matrix_map.h"
#include "gui/inside/weight_lines.h"
#include "words/answer_words.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

Document document_of(Arch arch) {
  Document document;
  document.config = {.arch = arch, .d_model = 8, .num_heads = 2, .num_layers = 3, .ffn = 12};
  document.mask.causal = is_causal_by_default(arch);
  document.target.text = "Book me a ticket";
  return document;
}

class InsideViewTest : public GuiTest {
 protected:
  const ViewState& view() const { return harness->state.view; }
  const Look& look() const { return harness->state.view.look; }
  void look_at(const MatrixId& id, std::optional<MatrixCell> cell = std::nullopt) {
    harness->say(LookAt{{id, cell}});
    harness->settle();
  }
  void click(const std::string& region, const std::string& name) {
    ASSERT_TRUE(harness->scroll_into(region, name)) << name;
    harness->click(name);
    harness->settle();
  }
  /// The middle of a cell of the matrix that is shown.
  ImVec2 cell_point(MatrixCell cell) const {
    const Box plot = harness->box("matrix");
    const Picture& picture = harness->state.inside->matrix;
    return {
        plot.x + (static_cast<float>(cell.col) + 0.5f) * plot.w / static_cast<float>(picture.values.cols()),
        plot.y + (static_cast<float>(cell.row - picture.first_row) + 0.5f) * plot.h / static_cast<float>(picture.rows)};
  }
  float value_at(const MatrixId& id, MatrixCell cell) const {
    return rows_of(*harness->state.trace, id, cell.row, 1)(0, cell.col);
  }
};

TEST_F(InsideViewTest, FromAWeightToTheLearnedNumbersAndBack) {
  Harness& h = *harness;
  h.click_at(h.cell_point("stage map", {9, 5}));
  h.click("why");
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

TEST_F(InsideViewTest, ThePinnedWeightIsTheOneThatBothSidesExplain) {
  Harness& h = *harness;
  h.click_at(h.cell_point("stage map", {9, 5}));
  h.key(Key::digit_2);
  h.settle();
  EXPECT_EQ(look(), (Look{matrix_id(Quantity::weights), MatrixCell{9, 5}}));
  EXPECT_TRUE(h.says("[机票, 订了] = " + exact_number(weights_of(*h.state.trace, {0, 0})(9, 5))));
  EXPECT_FALSE(h.says(words(Language::en, kInsideWords.click_for_terms)));
}

TEST_F(InsideViewTest, MapsOfWordsAreSquare) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const Box plot = h.box("matrix");
  EXPECT_EQ(plot.w, plot.h);
  EXPECT_GE(plot.w, 200);
}

TEST_F(InsideViewTest, ALineClosesWhereItWasOpened) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}}, ShowView{View::inside});
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
  h.say(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const auto steps = h.state.inside->steps;
  EXPECT_GT(steps.size(), 20u);
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    h.say(OpenInsideLine{static_cast<std::size_t>(weight_line_of(step.name))});
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
    h.say(ShowView{View::inside});
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
  h.say(ShowView{View::inside});
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
    h.say(ChooseHead{{1, 1}}, ShowView{View::inside}, ShowSteps{false});
    h.settle();
    const Diagram diagram = h.state.inside->diagram;
    EXPECT_GT(diagram.nodes.size(), 12u);
    for (const Node& node : diagram.nodes) {
      SCOPED_TRACE(node.id);
      click("way", "node " + node.id);
      EXPECT_EQ(look().matrix, node.shows);
      const DrawnMap drawn = h.map("matrix");
      const Picture& picture = h.state.inside->matrix;
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
  h.say(ShowView{View::inside});
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

TEST_F(InsideViewTest, AnEditWhileLookingIsFollowed) {
  Harness& h = *harness;
  h.say(Pin{CellRef{9, 5}}, ShowView{View::inside});
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

TEST_F(InsideViewTest, WhatTheModelLostIsSaidAndLeftByTheWayOneCame) {
  start(document_of(Arch::encoder_decoder));
  Harness& h = *harness;
  h.say(ShowView{View::inside});
  look_at(matrix_id(Quantity::query), MatrixCell{0, 0});
  look_at(matrix_id(Quantity::query, {1, 1, Stack::cross}), MatrixCell{1, 1});
  h.click("kind encoder");
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_such_matrix)));
  EXPECT_FALSE(h.has("matrix"));
  for (const Key key : {Key::right, Key::down}) h.key(key);
  for (int i = 0; i < 2; ++i) h.key({Key::left_alt, Key::y});
  h.click("look back");
  h.settle();
  EXPECT_TRUE(h.has("matrix"));
}

TEST_F(InsideViewTest, NoTextIsSaidHereToo) {
  Harness& h = *harness;
  h.say(ShowView{View::inside});
  h.settle();
  h.retype("");
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kAnswerWords.empty_text)));
  EXPECT_FALSE(h.has("matrix"));
  h.key(Key::escape);
  for (const Key key : {Key::right, Key::backspace, Key::space}) h.key(key);
  for (const Key key : {Key::y, Key::x}) h.key({Key::left_alt, key});
  h.retype("我");
  h.settle();
  EXPECT_TRUE(h.has("matrix"));
}

TEST_F(InsideViewTest, AProblemIsSaidHereTooAndTheOldNumbersAreFaint) {
  Harness& h = *harness;
  h.say(ShowView{View::inside});
  h.settle();
  EXPECT_EQ(h.map("matrix").opacity, 1);
  h.say(GiveMask{std::make_shared<const Matrix>(Matrix::Zero(3, 4))}, EndGesture{});
  h.settle();
  ASSERT_FALSE(problem_of(h.state).empty());
  EXPECT_TRUE(h.says(problem_of(h.state).substr(0, 30)));
  EXPECT_EQ(h.map("matrix").opacity, kStaleOpacity);
}

TEST_F(InsideViewTest, OfATensorsFileThereIsOneAttention) {
  for (const char* name : {"tensors-self-6", "tensors-cross-4x6", "tensors-causal-7", "tensors-pad-8"}) {
    SCOPED_TRACE(name);
    Harness& h = *harness;
    h.say(OpenPath{std::string(HEADLIGHT_TEST_DATA "/golden/") + name + "/input.safetensors"});
    h.settle();
    ASSERT_TRUE(h.state.document.model);
    h.say(Pin{CellRef{1, 2}}, ShowView{View::inside}, ShowSteps{true});
    h.settle();
    h.say(OpenInsideLine{0});
    h.settle();
    EXPECT_TRUE(h.has("step q"));
    look_at(matrix_id(Quantity::weights), MatrixCell{1, 2});
    EXPECT_TRUE(h.says("= " + exact_number(value_at(look().matrix, {1, 2}))));
    h.say(ShowSteps{false});
    h.settle();
    for (const Node& node : Diagram(h.state.inside->diagram).nodes) {
      click("way", "node " + node.id);
      EXPECT_TRUE(h.has("matrix")) << node.id;
    }
    look_at(matrix_id(Quantity::up));
    EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_such_matrix)));
  }
}

TEST_F(InsideViewTest, OfAPatternComputedElsewhereThereIsTheWeightAlone) {
  TemporaryFolder folder;
  std::ofstream(folder / "attention.json")
      << R"({"attention": [{"name": null, "attn": [[[[0.25, 0.75], [1, 0]], [[0.5, 0.5], [0, 1.0]]]],
             "left_text": ["[CLS]", " 我"], "right_text": ["[CLS]", " 我"]}],
             "default_filter": "0", "layer": null, "heads": null, "include_layers": [0]})";
  Harness& h = *harness;
  h.say(OpenPath{folder / "attention.json"});
  h.settle();
  ASSERT_TRUE(h.state.document.model) << (h.state.notice ? h.state.notice->text : "");
  EXPECT_EQ(h.map("head 0.0").weights(0, 1), 0.75f);
  h.click_at(h.cell_point("stage map", {0, 1}));
  h.click("why");
  h.settle();
  EXPECT_TRUE(h.says("0.75"));
  EXPECT_FALSE(h.has("line 1"));
  EXPECT_FALSE(h.has("line 5"));
  h.click("line 4");
  h.settle();
  EXPECT_FALSE(h.has("step q"));
  EXPECT_TRUE(h.has("step weight"));
  h.key({Key::left_alt, Key::y});
  h.settle();
  for (const Node& node : Diagram(h.state.inside->diagram).nodes) {
    click("way", "node " + node.id);
    EXPECT_TRUE(h.has("matrix")) << node.id;
  }
  look_at(matrix_id(Quantity::query));
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_such_matrix)));
  h.click("causal");
  h.settle();
  EXPECT_FALSE(is_stale(h.state)) << problem_of(h.state);
  look_at(matrix_id(Quantity::weights), MatrixCell{0, 1});
  EXPECT_EQ(value_at(look().matrix, {0, 1}), 0);
  h.key({Key::left_alt, Key::y});
  h.settle();
  const auto steps = h.state.inside->steps;
  for (const Step& step : steps) {
    h.say(OpenInsideLine{static_cast<std::size_t>(weight_line_of(step.name))});
    h.settle();
    EXPECT_TRUE(h.scroll_into("way", "step " + step.name)) << step.name;
  }
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(InsideViewTest, AHeadThatIsOffAndAWeightByHandAreTold) {
  Document document = document_of(Arch::decoder);
  document.edits.off = {{0, 1}};
  document.edits.weights = {{{0, 0}, {3, 1}, 0.5f}};
  start(document);
  Harness& h = *harness;
  h.say(Pin{CellRef{3, 1}}, ShowView{View::inside});
  look_at(matrix_id(Quantity::weights), MatrixCell{3, 1});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::set_by_hand)));
  look_at(matrix_id(Quantity::weights), MatrixCell{3, 0});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::share_of_rest)));
  h.say(ChooseHead{{0, 1}});
  look_at(matrix_id(Quantity::z, {0, 1}), MatrixCell{3, 0});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::zero_off)));
  h.say(OpenInsideLine{4});
  h.settle();
  ASSERT_TRUE(h.scroll_into("way", "step head_output"));
  EXPECT_TRUE(h.says("What the head would say"));
}

TEST_F(InsideViewTest, TheFigureIsOfTheMatrixThatIsLookedAt) {
  start(document_of(Arch::encoder));
  Harness& h = *harness;
  h.say(Pin{CellRef{2, 1}}, ShowView{View::inside});
  h.settle();
  look_at(matrix_id(Quantity::weights), MatrixCell{2, 1});
  h.key({Key::left_ctrl, Key::left_shift, Key::e});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::steps) << "of the pinned weight";
  h.say(Browse{});
  look_at(matrix_id(Quantity::query_weight), MatrixCell{1, 3});
  h.key({Key::left_ctrl, Key::left_shift, Key::e});
  h.settle();
  EXPECT_EQ(h.state.browser.figure, FigureKind::matrix);
  EXPECT_TRUE(h.has("figure matrix"));
  EXPECT_TRUE(h.says("Matrix W_Q"));
  const TemporaryFolder folder;
  const std::string file = (folder / "matrix.svg").string();
  h.say(FigureTo{file});
  h.settle();
  ASSERT_TRUE(h.state.notice);
  EXPECT_EQ(h.state.notice->kind, Notice::Kind::exported) << h.state.notice->text;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(InsideViewTest, ABatchAndItsPadding) {
  Document document = document_of(Arch::encoder);
  document.source.text = "我请李雷帮我\n我爱你";
  start(document);
  Harness& h = *harness;
  h.say(ChooseSentence{1});
  h.settle();
  h.say(ShowView{View::inside});
  h.settle();
  const CellRef cell = view().pinned.value_or(CellRef{-1, -1});
  EXPECT_FALSE(h.state.trace->query_tokens().tokens[static_cast<std::size_t>(cell.query)].pad);
  look_at(matrix_id(Quantity::scores), MatrixCell{0, h.state.trace->keys() - 1});
  EXPECT_TRUE(h.says("= −∞")) << "padding is blocked";
  h.say(ChooseSentence{0});
  h.settle();
  EXPECT_TRUE(is_consistent(h.state));
  EXPECT_FALSE(h.says("= −∞"));
}

TEST_F(InsideViewTest, ARowThatMayLookAtNothingIsExplained) {
  Document document = document_of(Arch::encoder);
  document.pad = 10;
  start(document);
  Harness& h = *harness;
  h.say(Pin{CellRef{2, 2}}, ShowView{View::inside});
  h.settle();
  const std::vector<Step> steps = h.state.inside->steps;
  for (const Step& step : steps) {
    h.say(LookAt{{step.id, MatrixCell{step.row, step.col}}});
    h.settle();
    EXPECT_TRUE(h.has("cell value"));
  }
}

TEST_F(InsideViewTest, AVeryLongSentenceIsLookedIntoWithoutWaiting) {
  Document document;
  document.source.split = Split::characters;
  document.config = {.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8};
  for (int i = 0; i < 2000; ++i) document.source.text += i % 9 ? "的" : "x";
  start(document);
  Harness& h = *harness;
  h.say(Pin{CellRef{1990, 1500}}, ShowView{View::inside});
  EXPECT_EQ(h.state.inside, nullptr) << "no frame computes it";
  h.settle();
  ASSERT_TRUE(h.state.inside);
  for (const bool steps : {true, false}) {
    h.say(ShowSteps{steps});
    for (const Quantity quantity : {Quantity::scores, Quantity::z, Quantity::weights}) {
      const MatrixId id = matrix_id(quantity);
      SCOPED_TRACE(path(*h.state.trace, id));
      const MatrixCell cell{1990, shape(*h.state.trace, id).cols - 1};
      const auto before = h.state.inside;
      h.say(LookAt{{id, cell}});
      EXPECT_EQ(h.state.inside, before) << "the old picture stays until the new one comes";
      h.settle();
      EXPECT_TRUE(h.says("= " + exact_number(value_at(id, cell))));
      // A column is narrower than a pixel here; the pointer stands on whole pixels.
      const Box plot = h.box("matrix");
      const Picture& picture = h.state.inside->matrix;
      ImVec2 point = cell_point({1980, 0});
      point = {std::floor(plot.x + plot.w / 2), std::floor(point.y)};
      const auto along = [](float at, float size, Index count) {
        return static_cast<Index>(at / (size / static_cast<float>(count)));
      };
      const Index row = along(point.y - plot.y, plot.h, picture.rows);
      const Index column = along(point.x - plot.x, plot.w, picture.values.cols());
      h.move_to(point);
      EXPECT_TRUE(
          h.says("] = " + exact_number(value_at(id, {picture.first_row + row, picture.column_of(row, column)}))));
      h.point_away();
    }
  }
}

TEST_F(InsideViewTest, TheLayerBeforeIsReachedThroughTheDiagram) {
  start(document_of(Arch::encoder));
  Harness& h = *harness;
  h.say(ChooseHead{{2, 0}}, ShowView{View::inside}, ShowSteps{false});
  h.settle();
  EXPECT_TRUE(h.says("Layers 0–1"));
  h.key({Key::left_shift, Key::left_bracket});
  h.settle();
  EXPECT_EQ(view().chosen.layer, 1);
  EXPECT_TRUE(h.says("Layer 0"));
}

TEST_F(InsideViewTest, ARowThatMayAttendToNothingHasThreeAnswersSideBySide) {
  Harness& h = *harness;
  const Index keys = h.state.trace->keys(Stack::self);
  for (Index key = 0; key < keys; ++key) h.say(PaintCell{{2, key}, false});
  h.say(EndGesture{}, ShowView{View::inside}, LookAt{{matrix_id(Quantity::weights), MatrixCell{2, 3}}});
  h.settle();
  EXPECT_TRUE(h.says("zeros, as here  0")) << h.words_on_screen();
  EXPECT_TRUE(h.says("−∞, then softmax  NaN"));
  EXPECT_TRUE(h.says("−1e9, then softmax  " + exact_number(1.0f / static_cast<float>(keys))));
  h.say(LookAt{{matrix_id(Quantity::weights), MatrixCell{1, 3}}});
  h.settle();
  EXPECT_FALSE(h.says("then softmax")) << "of a row with keys there is one answer";
}

}  // namespace
}  // namespace headlight
