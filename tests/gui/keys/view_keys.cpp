// What the keys of the views do: Heads, Inside, Flow, Train, Compare and Code.
#include <thread>

#include "base/formatted.h"
#include "gui/keys/key_help.h"
#include "pictured.h"
#include "session/shown.h"
#include "session/state_rules.h"

namespace headlight {

bool KeyHelpTest::trains_until(TrainingPhase phase) {
  for (int i = 0; i < 4000 && !(trainings(state()).run && trainings(state()).run->phase == phase); ++i) {
    harness->frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return trainings(state()).run->phase == phase;
}

std::vector<KeyHelpTest::Promise> KeyHelpTest::view_promises() {
  Harness& h = *harness;
  return {
      {{Act::show_code, Act::next_dialect, Act::previous_dialect, Act::whole_block, Act::next_code_line,
        Act::previous_code_line, Act::copy_program},
       [&] {
         key({Key{'7'}});
         EXPECT_EQ(state().view.view, View::code);
         EXPECT_TRUE(h.has("dialect numpy"));
         h.settle();
         key({Key::semicolon});
         EXPECT_EQ(state().view.code.dialect, Dialect::einsum);
         shift(Key::semicolon);
         EXPECT_EQ(state().view.code.dialect, Dialect::numpy);
         alt(Key{'Y'});
         EXPECT_TRUE(state().view.code.block);
         alt(Key{'Y'});
         EXPECT_FALSE(state().view.code.block);
         h.settle();
         const MatrixId weights = state().view.look.matrix;
         key({Key::page_up});
         EXPECT_NE(state().view.look.matrix, weights);
         key({Key::page_down});
         EXPECT_EQ(state().view.look.matrix, weights);
         alt(Key{'U'});
         EXPECT_NE(h.clipboard.find("import numpy"), std::string::npos);
         h.push(DismissNotice{});
         key({Key{'1'}});
         forget_looks();
         h.push(Pin{});
       }},
      {{Act::text_or_map, Act::text_direction, Act::text_heads},
       [&] {
         key({Key{'8'}});
         EXPECT_TRUE(shows_text(state()));
         shift(Key{'8'});
         EXPECT_TRUE(state().view.text.columns);
         key({Key{'9'}});
         EXPECT_EQ(state().view.text.heads, ShadeHeads::layer);
         key({Key{'8'}});
         EXPECT_FALSE(shows_text(state()));
         h.push(SetTextLook{{.form = StageForm::map}}, Pin{});
       }},
      {{Act::picture_alone},
       [&] {
         const Document text = state().document;
         const auto show = [&](const Document& document) {
           state().document = document;
           state().view.text.form.reset();
           ask_again(state());
           harness->settle();
         };
         show(picture_document());
         shift(Key{'9'});
         EXPECT_EQ(state().view.text.cover, 0);
         shift(Key{'9'});
         EXPECT_GT(state().view.text.cover, 0);
         show(text);
         h.push(SetTextLook{{.form = StageForm::map}}, Pin{});
       }},
      {{act_of_tool("run_training"), act_of_tool("stop_training")},
       [&] {
         key({Key{'4'}});
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::running));
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::paused));
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::running));
         ctrl_shift(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::stopped));
         h.loop->settle_tools(state());
         h.push(Undo{}, ShowView{});
       }},
      {{act_of_tool("earlier_step"), act_of_tool("later_step"), act_of_tool("newest_step")},
       [&] {
         ASSERT_TRUE(trainings(state()).run && !trainings(state()).run->shots.empty());
         const auto& shown = trainings(state()).run->shown;
         key({Key{'4'}});
         key({Key::page_up});
         EXPECT_EQ(shown, trainings(state()).run->shots.back().step);
         key({Key::page_down});
         EXPECT_FALSE(shown) << "behind the last kept step is the newest";
         key({Key::page_up});
         EXPECT_TRUE(shown);
         key({Key::end});
         EXPECT_FALSE(shown);
         h.push(Undo{}, ShowView{});
       }},
      {{Act::next_tab, Act::look_back},
       [&] {
         for (const InsideTab tab : {InsideTab::why, InsideTab::lens, InsideTab::diagram, InsideTab::numbers}) {
           alt(Key{'Y'});
           EXPECT_EQ(state().view.tab, tab);
         }
         const Look before = state().view.look;
         h.push(LookAt{{matrix_id(Quantity::key), MatrixCell{1, 2}}}, LookAt{{matrix_id(Quantity::key_weight), {}}});
         key({Key::backspace});
         EXPECT_EQ(state().view.look, (Look{matrix_id(Quantity::key), MatrixCell{1, 2}}));
         key({Key::backspace});
         EXPECT_EQ(state().view.look, before);
         key({Key::backspace});
         EXPECT_EQ(state().view.look, before) << "there is nothing before the first";
       }},
      {{Act::next_head, Act::previous_head, Act::next_layer, Act::previous_layer},
       [&] {
         key({Key::right_bracket});
         EXPECT_EQ(state().view.chosen, (HeadRef{0, 1}));
         shift(Key::right_bracket);
         EXPECT_EQ(state().view.chosen, (HeadRef{1, 1}));
         key({Key::left_bracket});
         EXPECT_EQ(state().view.chosen, (HeadRef{1, 0}));
         shift(Key::left_bracket);
         EXPECT_EQ(state().view.chosen, (HeadRef{0, 0}));
       }},
      {{Act::move_left, Act::move_right, Act::move_up, Act::move_down},
       [&] {
         h.push(Pin{CellRef{0, 8}});
         key({Key::right});
         key({Key::right});
         key({Key::down});
         EXPECT_EQ(state().view.pinned, (CellRef{1, 9})) << "and no further than the last column";
         key({Key::left});
         key({Key::up});
         EXPECT_EQ(state().view.pinned, (CellRef{0, 8}));
         h.push(ShowView{View::inside}, LookAt{{matrix_id(Quantity::weights), MatrixCell{0, 8}}});
         key({Key::right});
         key({Key::right});
         key({Key::down});
         EXPECT_EQ(state().view.look.cell, (MatrixCell{1, 9}));
         key({Key::up});
         key({Key::up});
         key({Key::left});
         EXPECT_EQ(state().view.look.cell, (MatrixCell{0, 8}));
         EXPECT_EQ(state().view.pinned, (CellRef{0, 8})) << "which the steps are of";
         forget_looks();
         h.push(ShowView{View::heads}, Pin{});
       }},
      {{Act::pin_hovered},
       [&] {
         h.hover("head 1.1", {2, 3});
         key({Key::enter});
         EXPECT_EQ(state().view.pinned, (CellRef{2, 3}));
         h.point_away();
         h.push(Pin{});
       }},
      {{Act::numbers, Act::why, Act::copy_weight},
       [&] {
         h.push(ShowView{View::heads}, Pin{CellRef{2, 3}});
         h.settle();
         ctrl(Key{'C'});
         EXPECT_EQ(h.clipboard, shortest_text(weights_of(*state().trace, state().view.chosen)(2, 3)));
         alt(Key::enter);
         EXPECT_EQ(state().view.view, View::inside);
         EXPECT_EQ(state().view.look.cell, (MatrixCell{2, 3}));
         EXPECT_EQ(state().view.tab, InsideTab::numbers);
         h.push(ShowView{View::heads});
         alt_shift(Key::enter);
         EXPECT_EQ(state().view.view, View::inside);
         EXPECT_EQ(state().view.tab, InsideTab::why);
         h.push(ShowTab{});
         forget_looks();
         h.push(ShowView{View::heads}, Pin{}, DismissNotice{});
       }},
      {{Act::log_colours, Act::linear_colours, Act::own_range, Act::shared_range},
       [&] {
         alt(Key{'G'});
         EXPECT_EQ(state().view.scale, Scale::log);
         alt(Key{'G'});
         EXPECT_EQ(state().view.scale, Scale::linear);
         alt_shift(Key{'G'});
         EXPECT_TRUE(state().view.own_range);
         alt_shift(Key{'G'});
         EXPECT_FALSE(state().view.own_range);
       }},
      {{Act::next_grid, Act::previous_grid},
       [&] {
         key({Key{'1'}});
         EXPECT_EQ(state().view.grid, GridShow::relations) << "all heads are shown already";
         shift(Key{'1'});
         EXPECT_EQ(state().view.grid, GridShow::maps);
       }},
      {{Act::next_pair_part, Act::previous_pair_part},
       [&] {
         key({Key{'6'}});
         EXPECT_EQ(state().view.fold, FoldChoice{}) << "there is one sentence";
         h.push(OpenPath{HEADLIGHT_TEST_DATA "/golden/bert"}, SetIds{{2, 4, 3, 5, 3}}, SetTokenTypes{{0, 0, 0, 1, 1}});
         h.settle();
         h.push(SetIds{{2, 4, 3, 5, 3}}, SetTokenTypes{{0, 0, 0, 1, 1}}, EndGesture{});
         h.settle();
         key({Key{'6'}});
         EXPECT_EQ(state().view.fold.pair, PairPart::a_to_a);
         shift(Key{'6'});
         EXPECT_EQ(state().view.fold.pair, PairPart::all);
         while (!state().undo.empty()) h.push(Undo{});
         h.push(DismissNotice{});
         h.settle();
       }},
      {{Act::fold_special, Act::merge_words},
       [&] {
         alt(Key{'Z'});
         EXPECT_EQ(state().view.fold, FoldChoice{}) << "there is nothing to fold";
         h.push(SetSplit{Split::characters}, SetText{"the cats\nsat"}, EndGesture{});
         h.settle();
         alt_shift(Key{'Z'});
         EXPECT_EQ(state().view.fold, (FoldChoice{.special = false, .words = true}));
         alt_shift(Key{'Z'});
         h.push(ChooseSentence{1});
         h.settle();
         alt(Key{'Z'});
         EXPECT_EQ(state().view.fold, (FoldChoice{.special = true, .words = false})) << "what fills the batch up";
         alt(Key{'Z'});
         EXPECT_EQ(state().view.fold, FoldChoice{});
         h.push(ChooseSentence{0});
         while (!state().undo.empty()) h.push(Undo{});
         h.settle();
       }},
      {{Act::zoom_in, Act::zoom_out, Act::zoom_whole},
       [&] {
         key({Key::equal});
         EXPECT_EQ(state().view.viewport.num_queries, 7);
         key({Key::equal});
         key({Key::minus});
         EXPECT_GT(state().view.viewport.num_queries, 4);
         key({Key::home});
         EXPECT_EQ(state().view.viewport, Viewport{});
       }},
      {{Act::fewer_lines, Act::more_lines, Act::lines_of_heads},
       [&] {
         h.push(ShowView{View::flow});
         h.settle();
         const float before = state().view.flow.threshold;
         key({Key::equal});
         EXPECT_GT(state().view.flow.threshold, before);
         key({Key::minus});
         EXPECT_NEAR(state().view.flow.threshold, before, 1e-6);
         key({Key::home});
         EXPECT_TRUE(state().view.flow.heads);
         key({Key::home});
         EXPECT_FALSE(state().view.flow.heads);
         h.push(SetFlow{}, ShowView{});
       }},
      {{Act::keep_answer},
       [&] {
         shift(Key{'5'});
         ASSERT_TRUE(state().kept);
         EXPECT_EQ(state().kept->trace, state().trace);
         EXPECT_EQ(state().view.view, View::heads) << "the view stays";
         h.push(DropKept{});
       }},
      {{Act::lens, Act::take_from_a, Act::align_answers},
       [&] {
         alt(Key{'2'});
         EXPECT_EQ(state().view.view, View::inside);
         EXPECT_EQ(state().view.tab, InsideTab::lens);
         h.push(ShowTab{}, Pin{});
         forget_looks();
         alt(Key{'5'});
         EXPECT_EQ(state().view.view, View::compare);
         EXPECT_TRUE(state().view.patch.on);
         alt_shift(Key{'5'});
         EXPECT_EQ(state().view.alignment, Alignment::positions);
         alt_shift(Key{'5'});
         EXPECT_EQ(state().view.alignment, Alignment::words);
         h.push(SetAlignment{});
         alt(Key{'5'});
         EXPECT_FALSE(state().view.patch.on);
         h.push(ShowView{View::heads}, Pin{});
       }},
      {{Act::next_difference_order, Act::previous_difference_order, Act::swap_answers, Act::drop_answer},
       [&] {
         shift(Key{'5'});
         const std::string text = document().source.text;
         h.push(SetText{"小猫饿坏了"}, EndGesture{}, ShowView{View::compare});
         h.settle();
         key({Key::semicolon});
         EXPECT_EQ(state().view.differences, DifferenceOrder::mean) << "the first is by the largest difference";
         shift(Key::semicolon);
         EXPECT_EQ(state().view.differences, DifferenceOrder::largest);
         shift(Key::semicolon);
         EXPECT_EQ(state().view.differences, DifferenceOrder::layer);
         key({Key::semicolon});
         EXPECT_EQ(state().view.differences, DifferenceOrder::largest);
         alt(Key::home);
         h.settle();
         EXPECT_EQ(document().source.text, text);
         key({Key::del});
         EXPECT_FALSE(state().kept);
         h.push(Undo{}, Undo{}, ShowView{View::heads});
         h.settle();
       }},
      {{Act::zoom_in_compare, Act::zoom_out_compare, Act::zoom_whole_compare},
       [&] {
         shift(Key{'5'});
         h.push(ShowView{View::compare});
         h.settle();
         key({Key::equal});
         EXPECT_NE(state().view.compared, Viewport{});
         key({Key::minus});
         EXPECT_EQ(state().view.compared, Viewport{});
         key({Key::equal});
         key({Key::home});
         EXPECT_EQ(state().view.compared, Viewport{});
         EXPECT_TRUE(state().kept);
         h.push(DropKept{}, ShowView{View::heads});
       }},
      {{Act::next_order, Act::previous_order},
       [&] {
         key({Key::semicolon});
         EXPECT_NE(state().view.order.by, HeadOrder::By::layer);
         shift(Key::semicolon);
         EXPECT_EQ(state().view.order.by, HeadOrder::By::layer);
       }},
      {{Act::next_maps, Act::previous_maps},
       [&] {
         key({Key::backslash});
         EXPECT_EQ(state().view.maps, MapKind::norms);
         key({Key::backslash});
         EXPECT_EQ(state().view.maps, MapKind::rollout);
         shift(Key::backslash);
         shift(Key::backslash);
         EXPECT_EQ(state().view.maps, MapKind::weights);
         shift(Key::backslash);
         EXPECT_EQ(state().view.maps, MapKind::strongest);
         key({Key::backslash});
       }},
  };
}

}  // namespace headlight
