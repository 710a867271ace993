// Beside the numbers of Inside: what moved against A, how far two words are apart, and the softmax's gradient.
#include "explain/moved_rows.h"
#include "explain/softmax_gradient.h"
#include "figure/labels.h"
#include "gui/inside/inside_fixture.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

constexpr Index kBeijing = 7;  // of 我|请|李雷|帮|我|订了|去|北京|的|机票

class InsideMarksTest : public InsideViewTest {
 protected:
  /// A is the default sentence; on the screen is the same with another city.
  void change_a_word() {
    Harness& h = *harness;
    h.push(Pin{CellRef{9, 5}}, KeepAnswer{});
    h.retype("我请李雷帮我订了去上海的机票");
    h.settle();
    h.push(ShowView{View::inside});
    h.settle();
    ASSERT_TRUE(h.state.inside && h.state.inside->question.before);
    ASSERT_EQ(h.state.trace->request.tokens.size(), 10u);
  }
  ImU32 ink() const { return to_imgui(diverging_map(Theme::light).back()); }
  /// Where the bar of a row stands, at the left of the matrix.
  Box bar_of(Index row) const {
    const Box plot = harness->box("matrix");
    const float height = plot.h / 10;
    return {plot.x - 5, plot.y + static_cast<float>(row) * height, 5, height};
  }
};

TEST_F(InsideMarksTest, AChangeOfOneWordMarksTheRowsThatMoved) {
  Harness& h = *harness;
  h.push(ShowView{View::inside});
  h.settle();
  EXPECT_FALSE(h.has("moved rows")) << "nothing to compare with";
  change_a_word();
  look_at(matrix_id(Quantity::query));
  EXPECT_TRUE(h.says("1 of 10 rows moved against A. Each row is made of its own row alone."));
  for (Index row = 0; row < 10; ++row) EXPECT_EQ(h.drew(ink(), bar_of(row)), row == kBeijing) << row;
  look_at(matrix_id(Quantity::scores));
  EXPECT_TRUE(h.says("10 of 10 rows moved against A. A score moves in the row and in the column"));
  const Matrix& moved = h.state.inside->matrix.moved;
  for (Index row = 0; row < 10; ++row)
    for (Index col = 0; col < 10; ++col) EXPECT_EQ(moved(row, col) == 1, row == kBeijing || col == kBeijing);
  look_at(matrix_id(Quantity::z));
  EXPECT_TRUE(h.says("10 of 10 rows moved against A. Attention moves every row"));
  look_at(matrix_id(Quantity::up));
  EXPECT_TRUE(h.says("A feed-forward moves only its own row."));
  look_at(matrix_id(Quantity::query_weight));
  EXPECT_FALSE(h.has("moved rows")) << "what is learned does not move";
  h.push(ShowTab{InsideTab::diagram});
  look_at(matrix_id(Quantity::key));
  int marked = 0;
  for (const MatrixPicture& picture : h.state.inside->pictures) marked += num_moved_rows(picture).value_or(0) > 0;
  EXPECT_GT(marked, 5) << "the boxes of the diagram have marks too";
  h.push(DropKept{});
  look_at(matrix_id(Quantity::query));
  EXPECT_TRUE(h.says("1 of 10 rows moved when 北京 became 上海.")) << "without A: the answer before the last edit";
  h.push(Undo{});
  h.settle();
  EXPECT_FALSE(h.has("moved rows"));
}

TEST_F(InsideMarksTest, WithoutAnAWhatMovedIsThatOfTheLastWordChanged) {
  Harness& h = *harness;
  h.retype("我请李雷帮我订了去上海的机票");
  h.settle();
  h.push(EndGesture{}, ShowView{View::inside});
  look_at(matrix_id(Quantity::query));
  EXPECT_TRUE(h.says("1 of 10 rows moved when 北京 became 上海. Each row is made of its own row alone."));
  for (Index row = 0; row < 10; ++row) EXPECT_EQ(h.drew(ink(), bar_of(row)), row == kBeijing) << row;
  h.push(SetText{"我请李雷帮我订了去上海的船票"}, EndGesture{});
  h.settle();
  EXPECT_TRUE(h.says("1 of 10 rows moved when 机票 became 船票."));
  h.push(KeepAnswer{});
  h.settle();
  EXPECT_TRUE(h.says("0 of 10 rows moved against A.")) << "an A goes before";
  h.push(DropKept{}, SetMask{true, true}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.has("moved rows")) << "no word changed";
  h.push(SetText{"我请李雷帮我订了去上海"}, EndGesture{});
  h.settle();
  EXPECT_FALSE(h.has("moved rows")) << "another number of words";
}

TEST_F(InsideMarksTest, AnotherNumberOfWordsHasNoMarks) {
  Harness& h = *harness;
  h.push(KeepAnswer{});
  h.retype("我爱北京");
  h.settle();
  h.push(ShowView{View::inside});
  look_at(matrix_id(Quantity::query));
  EXPECT_FALSE(h.has("moved rows"));
}

TEST_F(InsideMarksTest, TheWayFromWordToWordIsTold) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  EXPECT_FALSE(h.says("RNN")) << "asked for seldom";
  h.click("show gradients");
  h.settle();
  EXPECT_TRUE(h.says("4 steps through an RNN, 2 layers of convolutions of width 3, 1 here")) << h.words_on_screen();
  h.push(Pin{CellRef{5, 4}});
  h.settle();
  EXPECT_TRUE(h.says("1 step through an RNN, 1 layer of convolutions of width 3, 1 here"));
  h.push(Pin{CellRef{5, 5}});
  h.settle();
  EXPECT_FALSE(h.has("path")) << "a word and itself";
  h.push(SetMask{true, false}, EndGesture{}, Pin{CellRef{5, 9}});
  h.settle();
  EXPECT_TRUE(h.says("convolutions of width 3, blocked here"));
}

TEST_F(InsideMarksTest, TheGradientOfEachRowStandsBesideItAndFollowsTheScale) {
  Harness& h = *harness;
  h.push(Pin{CellRef{9, 5}}, ShowView{View::inside});
  h.settle();
  const auto shown = [&](float size) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%.3f", static_cast<double>(size));
    return h.says(digits);
  };
  EXPECT_FALSE(h.has("gradients") || h.says("∂A/∂score of this row")) << "asked for seldom";
  h.click("show gradients");
  h.settle();
  const ScaleEffect effect = scale_effect(*h.state.trace, {}, 0, 10);
  ASSERT_TRUE(h.has("gradients"));
  EXPECT_TRUE(h.says("∂ × " + brief_number(effect.scale)));
  EXPECT_TRUE(h.says("∂ × 1"));
  EXPECT_TRUE(shown(effect.gradient(3)) && shown(effect.other(3)));
  EXPECT_TRUE(h.says("∂A/∂score of this row: " + brief_number(effect.gradient(9)) + "; without the scale " +
                     brief_number(effect.other(9))));
  const Box place = h.box("gradients");
  h.move_to({place.x + 4, place.bottom() - 3});
  EXPECT_TRUE(h.says("the size of diag(a)"));
  EXPECT_TRUE(h.says("× " + brief_number(effect.scale) + ": " + exact_number(effect.gradient(9))));
  h.point_away();
  h.push(SwitchPart{Stack::self, 0, BlockPart::scale, true});
  h.settle();
  const ScaleEffect off = scale_effect(*h.state.trace, {}, 0, 10);
  EXPECT_EQ(off.gradient, effect.other) << "the scale is off: what stood at the right stands at the left";
  EXPECT_TRUE(h.says("∂A/∂score of this row: " + brief_number(off.gradient(9)) + "; scaled by 1/√d_k " +
                     brief_number(off.other(9))));
  look_at(matrix_id(Quantity::query));
  EXPECT_FALSE(h.has("gradients")) << "its rows are no softmax";
  look_at(matrix_id(Quantity::weights));
  ASSERT_TRUE(h.has("gradients"));
  h.click("show gradients");
  EXPECT_FALSE(h.has("gradients"));
}

}  // namespace
}  // namespace headlight
