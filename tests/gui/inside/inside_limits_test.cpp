// The Inside view of what is not usual: no text, no such matrix, a pattern alone, padding, edits, very long sentences.
#include <cmath>
#include <fstream>

#include "gui/frame/map_view.h"
#include "gui/inside/inside_fixture.h"
#include "view/view_names.h"
#include "views/inside/weight_lines.h"
#include "words/answer_words.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

TEST_F(InsideViewTest, WhatTheModelLostIsSaidAndLeftByTheWayOneCame) {
  start(document_of(Arch::encoder_decoder));
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  look_at(matrix_id(Quantity::query), MatrixCell{0, 0});
  look_at(matrix_id(Quantity::query, {1, 1, Stack::cross}), MatrixCell{1, 1});
  h.click("kind encoder");
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_such_matrix)));
  EXPECT_FALSE(h.has("matrix"));
  for (const Key key : {Key::right, Key::down}) h.key(key);
  for (std::size_t i = 0; i < std::size(kTabNames); ++i) h.key({Key::left_alt, Key{'Y'}});
  h.click("look back");
  h.settle();
  EXPECT_TRUE(h.has("matrix"));
}

TEST_F(InsideViewTest, NoTextIsSaidHereToo) {
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  h.settle();
  h.retype("");
  h.settle();
  EXPECT_TRUE(h.says(words(Language::en, kAnswerWords.empty_text)));
  EXPECT_FALSE(h.has("matrix"));
  h.key(Key::escape);
  for (const Key key : {Key::right, Key::backspace, Key::space}) h.key(key);
  for (const Key key : {Key{'Y'}, Key{'X'}}) h.key({Key::left_alt, key});
  h.push(ShowTab{});
  h.retype("我");
  h.settle();
  EXPECT_TRUE(h.has("matrix"));
}

TEST_F(InsideViewTest, AProblemIsSaidHereTooAndTheOldNumbersAreFaint) {
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  h.settle();
  EXPECT_EQ(h.map("matrix").opacity, 1);
  h.push(GiveMask{std::make_shared<const Matrix>(Matrix::Zero(3, 4))}, EndGesture{});
  h.settle();
  ASSERT_FALSE(message_of(problem_of(h.state)).empty());
  EXPECT_TRUE(h.says(message_of(problem_of(h.state)).substr(0, 30)));
  EXPECT_EQ(h.map("matrix").opacity, kStaleOpacity);
}

TEST_F(InsideViewTest, OfATensorsFileThereIsOneAttention) {
  for (const char* name : {"tensors-self-6", "tensors-cross-4x6", "tensors-causal-7", "tensors-pad-8"}) {
    SCOPED_TRACE(name);
    Harness& h = *harness;
    h.push(OpenPath{std::string(HEADLIGHT_TEST_DATA "/golden/") + name + "/input.safetensors"});
    h.settle();
    ASSERT_TRUE(h.state.document.model);
    h.push(Pin{CellRef{1, 2}}, ShowView{View::inside}, ShowTab{InsideTab::numbers});
    h.settle();
    h.push(OpenInsideLine{0});
    h.settle();
    EXPECT_TRUE(h.has("step q"));
    look_at(matrix_id(Quantity::weights), MatrixCell{1, 2});
    EXPECT_TRUE(h.says("= " + exact_number(value_at(look().matrix, {1, 2}))));
    h.push(ShowTab{InsideTab::diagram});
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
  h.push(OpenPath{folder / "attention.json"});
  h.settle();
  ASSERT_TRUE(h.state.document.model) << (h.state.notice ? h.state.notice->text : "");
  EXPECT_EQ(h.map("head 0.0").weights(0, 1), 0.75f);
  h.click_at(h.cell_point("stage map", {0, 1}));
  h.click("numbers");
  h.settle();
  EXPECT_TRUE(h.says("0.75"));
  EXPECT_FALSE(h.has("line 1"));
  EXPECT_FALSE(h.has("line 5"));
  h.click("line 4");
  h.settle();
  EXPECT_FALSE(h.has("step q"));
  EXPECT_TRUE(h.has("step weight"));
  h.push(ShowTab{InsideTab::diagram});
  h.settle();
  for (const Node& node : Diagram(h.state.inside->diagram).nodes) {
    click("way", "node " + node.id);
    EXPECT_TRUE(h.has("matrix")) << node.id;
  }
  look_at(matrix_id(Quantity::query));
  EXPECT_TRUE(h.says(words(Language::en, kInsideWords.no_such_matrix)));
  h.click("causal");
  h.settle();
  EXPECT_FALSE(is_stale(h.state)) << message_of(problem_of(h.state));
  look_at(matrix_id(Quantity::weights), MatrixCell{0, 1});
  EXPECT_EQ(value_at(look().matrix, {0, 1}), 0);
  h.push(ShowTab{});
  h.settle();
  const auto steps = h.state.inside->steps;
  for (const Step& step : steps) {
    h.push(OpenInsideLine{static_cast<std::size_t>(weight_line_of(step.name))});
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
  h.push(Pin{CellRef{3, 1}}, ShowView{View::inside});
  look_at(matrix_id(Quantity::weights), MatrixCell{3, 1});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::set_by_hand)));
  look_at(matrix_id(Quantity::weights), MatrixCell{3, 0});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::share_of_rest)));
  h.push(ChooseHead{{0, 1}});
  look_at(matrix_id(Quantity::z, {0, 1}), MatrixCell{3, 0});
  EXPECT_TRUE(h.says(words_of(Language::en, Operation::zero_off)));
  h.push(OpenInsideLine{4});
  h.settle();
  ASSERT_TRUE(h.scroll_into("way", "step head_output"));
  EXPECT_TRUE(h.says("What the head would say"));
}

TEST_F(InsideViewTest, WhatASinkTakesIsSaid) {
  Document document = document_of(Arch::decoder);
  document.config.sinks = true;
  start(document);
  Harness& h = *harness;
  h.push(Pin{CellRef{3, 1}}, ShowView{View::inside});
  h.settle();
  const Matrix row = attention_rows(*h.state.trace, view().chosen, 3, 1);
  ASSERT_LT(row.sum(), 0.99f);
  EXPECT_TRUE(h.says("the sink takes " + percent(1 - row.sum()))) << percent(1 - row.sum());
  look_at(matrix_id(Quantity::weights, view().chosen), MatrixCell{3, 1});
  EXPECT_TRUE(h.says("e^(sink − largest)")) << "a part of the sum";
}

TEST_F(InsideViewTest, ABatchAndItsPadding) {
  Document document = document_of(Arch::encoder);
  document.source.text = "我请李雷帮我\n我爱你";
  start(document);
  Harness& h = *harness;
  h.push(ChooseSentence{1});
  h.settle();
  h.push(ShowView{View::inside});
  h.settle();
  const CellRef cell = view().pinned.value_or(CellRef{-1, -1});
  EXPECT_FALSE(h.state.trace->query_tokens().tokens[static_cast<std::size_t>(cell.query)].pad);
  look_at(matrix_id(Quantity::scores), MatrixCell{0, h.state.trace->keys() - 1});
  EXPECT_TRUE(h.says("= −∞")) << "padding is blocked";
  h.push(ChooseSentence{0});
  h.settle();
  EXPECT_TRUE(is_consistent(h.state));
  EXPECT_FALSE(h.says("= −∞"));
}

TEST_F(InsideViewTest, ARowThatMayLookAtNothingIsExplained) {
  Document document = document_of(Arch::encoder);
  document.pad = 10;
  start(document);
  Harness& h = *harness;
  h.push(Pin{CellRef{2, 2}}, ShowView{View::inside});
  h.settle();
  const std::vector<Step> steps = h.state.inside->steps;
  for (const Step& step : steps) {
    h.push(LookAt{{step.id, MatrixCell{step.row, step.col}}});
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
  h.push(Pin{CellRef{1990, 1500}}, ShowView{View::inside});
  EXPECT_EQ(h.state.inside, nullptr) << "no frame computes it";
  h.settle();
  ASSERT_TRUE(h.state.inside);
  for (const InsideTab tab : {InsideTab::numbers, InsideTab::diagram}) {
    h.push(ShowTab{tab});
    for (const Quantity quantity : {Quantity::scores, Quantity::z, Quantity::weights}) {
      const MatrixId id = matrix_id(quantity);
      SCOPED_TRACE(path(*h.state.trace, id));
      const MatrixCell cell{1990, shape(*h.state.trace, id).cols - 1};
      const auto before = h.state.inside;
      h.push(LookAt{{id, cell}});
      EXPECT_EQ(h.state.inside, before) << "the old picture stays until the new one comes";
      h.settle();
      EXPECT_TRUE(h.says("= " + exact_number(value_at(id, cell))));
      // A column is narrower than a pixel here; the pointer stands on whole pixels.
      const Box plot = h.box("matrix");
      const MatrixPicture& picture = h.state.inside->matrix;
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

TEST_F(InsideViewTest, ARowThatMayAttendToNothingHasThreeAnswersSideBySide) {
  Harness& h = *harness;
  const Index keys = h.state.trace->keys(Stack::self);
  for (Index key = 0; key < keys; ++key) h.push(PaintCell{{2, key}, false});
  h.push(EndGesture{}, ShowView{View::inside}, LookAt{{matrix_id(Quantity::weights), MatrixCell{2, 3}}});
  h.settle();
  EXPECT_TRUE(h.says("zeros, as here  0")) << h.words_on_screen();
  EXPECT_TRUE(h.says("−∞, then softmax  NaN"));
  EXPECT_TRUE(h.says("−1e9, then softmax  " + exact_number(1.0f / static_cast<float>(keys))));
  h.push(LookAt{{matrix_id(Quantity::weights), MatrixCell{1, 3}}});
  h.settle();
  EXPECT_FALSE(h.says("then softmax")) << "of a row with keys there is one answer";
}

TEST_F(InsideViewTest, TheBatchIsAnAxisOfWhatIsComputed) {
  Harness& h = *harness;
  h.push(SetText{"我爱北京\n小猫"}, EndGesture{}, ShowView{View::inside});
  const auto said = [&](Quantity quantity) {
    h.push(LookAt{{matrix_id(quantity), std::nullopt}});
    h.settle();
    const Shape size = shape(*h.state.trace, matrix_id(quantity));
    std::string sizes = "(2, ";
    if (is_per_head(quantity)) sizes += std::to_string(h.state.trace->num_heads(Stack::self)) + ", ";
    sizes += std::to_string(size.rows) + ", " + std::to_string(size.cols) + ")";
    return h.says("in the batch " + sizes);
  };
  for (const Quantity quantity : {Quantity::weights, Quantity::value, Quantity::concat, Quantity::mask})
    EXPECT_TRUE(said(quantity)) << h.words_on_screen();
  EXPECT_FALSE(said(Quantity::output_weight)) << "one for all sentences";
  h.push(SetText{"我爱北京"}, EndGesture{}, LookAt{{matrix_id(Quantity::weights), std::nullopt}});
  h.settle();
  EXPECT_FALSE(h.says("in the batch"));
}

TEST_F(InsideViewTest, AMaskFromAFileSaysHowItIsBroadcast) {
  Harness& h = *harness;
  const Index keys = h.state.trace->keys(Stack::self);
  const std::string count = std::to_string(keys);
  h.push(GiveMask{std::make_shared<const Matrix>(Matrix::Zero(1, keys))}, ShowView{View::inside},
         LookAt{{matrix_id(Quantity::mask), MatrixCell{2, 3}}});
  h.settle();
  EXPECT_TRUE(h.has("given mask"));
  EXPECT_TRUE(h.says("(queries, keys) = (1, " + count + ")")) << h.words_on_screen();
  EXPECT_TRUE(h.says("axis 0 (queries) is repeated " + count + " times")) << h.words_on_screen();
  h.push(GiveMask{nullptr}, PaintCell{{0, 1}, false}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.has("given mask")) << "cells painted by hand have no shape of their own";
}

}  // namespace
}  // namespace headlight
