// The keys: every row of the table that has keys does what it says.
#include <functional>
#include <set>
#include <thread>

#include "gui/actions/actions.h"
#include "gui/keys_fixture.h"
#include "lesson/lesson.h"

namespace headlight {
namespace {

class KeyHelpTest : public KeysTest {
 protected:
  /// What the keys of these rows do.
  struct Promise {
    std::vector<Act> acts;
    std::function<void()> keep;
  };
  std::vector<Promise> promises();

  bool trains_until(TrainingPhase phase) {
    for (int i = 0; i < 4000 && !(state().training && state().training->phase == phase); ++i) {
      harness->frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return state().training->phase == phase;
  }

  /// Back to what Inside looked at first.
  void forget_looks() {
    while (!state().view.looked.empty()) harness->say(LookBack{});
  }
  /// Two lessons that leave everything as it is.
  void take_lessons() {
    const auto lesson = lesson_from_json(
        "a.json", R"({"schema": "headlight.lesson/1", "title": "T", "steps": [{"text": "1"}, {"text": "2"}]})",
        nullptr);
    ASSERT_TRUE(lesson);
    state().lessons = std::make_shared<const std::vector<Lesson>>(std::vector<Lesson>{*lesson, *lesson});
    harness->frame(2);
  }

  TemporaryFolder trained_;
};

std::vector<KeyHelpTest::Promise> KeyHelpTest::promises() {
  Harness& h = *harness;
  return {
      {{Act::type_sentence},
       [&] {
         ctrl(Key::l);
         EXPECT_TRUE(typing());
         h.key(Key::end);
         h.type("吗");
         EXPECT_TRUE(document().source.text.ends_with("票吗"));
         h.key(Key::escape);
         ctrl(Key::z);
       }},
      {{Act::leave},
       [&] {
         h.click("text");
         EXPECT_TRUE(typing());
         h.key(Key::escape);
         EXPECT_FALSE(typing());
         h.say(Pin{CellRef{1, 1}}, SetPainting{true}, ShowHelp{true});
         h.key(Key::escape);
         EXPECT_FALSE(state().view.help);
         h.key(Key::escape);
         EXPECT_FALSE(state().view.painting);
         h.key(Key::escape);
         EXPECT_FALSE(state().view.pinned);
         h.click("open");
         h.key(Key::escape);
         EXPECT_EQ(browsing(), Browser::Purpose::none);
       }},
      {{Act::undo, Act::redo},
       [&] {
         alt(Key::d);
         ctrl(Key::z);
         EXPECT_EQ(document().config.d_model, 64);
         ctrl_shift(Key::z);
         EXPECT_EQ(document().config.d_model, 68);
         ctrl(Key::z);
         ctrl(Key::y);
         EXPECT_EQ(document().config.d_model, 68);
         ctrl(Key::z);
       }},
      {{Act::open_file, Act::save_session, Act::save_session_as},
       [&] {
         ctrl(Key::o);
         EXPECT_EQ(browsing(), Browser::Purpose::open);
         close_browser();
         ctrl(Key::s);
         EXPECT_EQ(browsing(), Browser::Purpose::save) << "the session has no name yet";
         close_browser();
         ctrl_shift(Key::s);
         EXPECT_EQ(browsing(), Browser::Purpose::save);
         close_browser();
       }},
      {{Act::export_numbers, Act::quit},
       [&] {
         ctrl(Key::e);
         EXPECT_EQ(browsing(), Browser::Purpose::export_to);
         close_browser();
         ctrl(Key::q);
         EXPECT_TRUE(state().quit);
         state().quit = false;
       }},
      {{Act::show_heads, Act::show_inside, Act::show_flow, Act::show_train, Act::show_compare},
       [&] {
         key({Key::digit_2});
         EXPECT_EQ(state().view.view, View::inside);
         EXPECT_TRUE(h.has("way"));
         EXPECT_TRUE(state().view.pinned) << "there is a weight to explain";
         key({Key::digit_3});
         EXPECT_EQ(state().view.view, View::flow);
         key({Key::digit_4});
         EXPECT_EQ(state().view.view, View::train);
         EXPECT_TRUE(h.has("start training"));
         key({Key::digit_5});
         EXPECT_EQ(state().view.view, View::compare);
         EXPECT_TRUE(h.has("keep"));
         key({Key::digit_1});
         EXPECT_EQ(state().view.view, View::heads);
         EXPECT_TRUE(h.has("stage map"));
         EXPECT_EQ(state().view.looked, std::vector<Look>{Look{}}) << "the weight is a look of its own";
         forget_looks();
         h.say(Pin{});
       }},
      {{Act::own_numbers},
       [&] {
         ctrl_shift(Key::n);
         EXPECT_TRUE(state().view.numbers);
         key({Key::escape});
         EXPECT_FALSE(state().view.numbers);
       }},
      {{Act::show_code, Act::next_dialect, Act::previous_dialect, Act::whole_block, Act::next_code_line,
        Act::previous_code_line, Act::copy_program},
       [&] {
         key({Key::digit_7});
         EXPECT_EQ(state().view.view, View::code);
         EXPECT_TRUE(h.has("dialect numpy"));
         h.settle();
         key({Key::semicolon});
         EXPECT_EQ(state().view.code.dialect, Dialect::einsum);
         shift(Key::semicolon);
         EXPECT_EQ(state().view.code.dialect, Dialect::numpy);
         alt(Key::y);
         EXPECT_TRUE(state().view.code.block);
         alt(Key::y);
         EXPECT_FALSE(state().view.code.block);
         h.settle();
         const MatrixId weights = state().view.look.matrix;
         key({Key::page_up});
         EXPECT_NE(state().view.look.matrix, weights);
         key({Key::page_down});
         EXPECT_EQ(state().view.look.matrix, weights);
         alt(Key::u);
         EXPECT_NE(h.clipboard.find("import numpy"), std::string::npos);
         h.say(DismissNotice{});
         key({Key::digit_1});
         forget_looks();
         h.say(Pin{});
       }},
      {{Act::run_training, Act::stop_training},
       [&] {
         key({Key::digit_4});
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::running));
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::paused));
         ctrl(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::running));
         ctrl_shift(Key::enter);
         EXPECT_TRUE(trains_until(TrainingPhase::stopped));
         h.loop->settle_training(state());
         h.say(Undo{}, ShowView{});
       }},
      {{Act::earlier_step, Act::later_step, Act::newest_step},
       [&] {
         ASSERT_TRUE(state().training && !state().training->shots.empty());
         const auto& shown = state().training->shown;
         key({Key::digit_4});
         key({Key::page_up});
         EXPECT_EQ(shown, state().training->shots.back().step);
         key({Key::page_down});
         EXPECT_FALSE(shown) << "behind the last kept step is the newest";
         key({Key::page_up});
         EXPECT_TRUE(shown);
         key({Key::end});
         EXPECT_FALSE(shown);
         h.say(Undo{}, ShowView{});
       }},
      {{Act::steps_or_diagram, Act::look_back},
       [&] {
         alt(Key::y);
         EXPECT_FALSE(state().view.steps);
         alt(Key::y);
         EXPECT_TRUE(state().view.steps);
         const Look before = state().view.look;
         h.say(LookAt{{matrix_id(Quantity::key), MatrixCell{1, 2}}}, LookAt{{matrix_id(Quantity::key_weight), {}}});
         key({Key::backspace});
         EXPECT_EQ(state().view.look, (Look{matrix_id(Quantity::key), MatrixCell{1, 2}}));
         key({Key::backspace});
         EXPECT_EQ(state().view.look, before);
         key({Key::backspace});
         EXPECT_EQ(state().view.look, before) << "there is nothing before the first";
       }},
      {{Act::head_off, Act::head_on},
       [&] {
         key({Key::space});
         EXPECT_EQ(document().edits.off, (std::vector<HeadRef>{{0, 0}}));
         key({Key::space});
         EXPECT_TRUE(document().edits.off.empty());
       }},
      {{Act::next_stack, Act::previous_stack},
       [&] {
         ctrl(Key::tab);
         EXPECT_EQ(state().view.chosen.stack, Stack::self) << "there is no other";
         Config config = document().config;
         config.arch = Arch::encoder_decoder;
         h.say(SetConfig{config}, EndGesture{});
         h.settle();
         for (const Stack stack : {Stack::cross, Stack::encoder, Stack::self}) {
           ctrl(Key::tab);
           EXPECT_EQ(state().view.chosen.stack, stack);
         }
         for (const Stack stack : {Stack::encoder, Stack::cross, Stack::self}) {
           ctrl_shift(Key::tab);
           EXPECT_EQ(state().view.chosen.stack, stack);
         }
         ctrl(Key::z);
       }},
      {{Act::scope},
       [&] {
         alt(Key::c);
         EXPECT_TRUE(state().view.one_layer);
         alt(Key::m);
         alt(Key::v);
         EXPECT_FALSE(document().mask.causal);
         EXPECT_FALSE(document().edits.scale);
         const LayerEdit* edit = layer_edit(document().edits, Stack::self, 0);
         if (!edit || !edit->mask || !edit->scale) {
           ADD_FAILURE() << "nothing was changed in the layer alone";
         } else {
           EXPECT_TRUE(edit->mask->causal);
           EXPECT_FLOAT_EQ(*edit->scale, 0.25f * 1.25f);
         }
         ctrl(Key::z);
         ctrl(Key::z);
         alt(Key::c);
         EXPECT_FALSE(state().view.one_layer);
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
         h.say(Pin{CellRef{0, 8}});
         key({Key::right});
         key({Key::right});
         key({Key::down});
         EXPECT_EQ(state().view.pinned, (CellRef{1, 9})) << "and no further than the last column";
         key({Key::left});
         key({Key::up});
         EXPECT_EQ(state().view.pinned, (CellRef{0, 8}));
         h.say(ShowView{View::inside}, LookAt{{matrix_id(Quantity::weights), MatrixCell{0, 8}}});
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
         h.say(ShowView{View::heads}, Pin{});
       }},
      {{Act::pin_hovered},
       [&] {
         h.hover("head 1.1", {2, 3});
         key({Key::enter});
         EXPECT_EQ(state().view.pinned, (CellRef{2, 3}));
         h.point_away();
         h.say(Pin{});
       }},
      {{Act::causal_on, Act::causal_off, Act::padding_on, Act::padding_off},
       [&] {
         alt(Key::m);
         EXPECT_TRUE(document().mask.causal);
         alt_shift(Key::m);
         EXPECT_FALSE(document().mask.padding);
         alt_shift(Key::m);
         alt(Key::m);
         EXPECT_EQ(document().mask, MaskSpec{});
       }},
      {{Act::paint_mask},
       [&] {
         alt(Key::p);
         EXPECT_TRUE(state().view.painting);
         alt(Key::p);
         EXPECT_FALSE(state().view.painting);
       }},
      {{Act::block_cell},
       [&] {
         h.say(Pin{CellRef{4, 2}});
         alt(Key::x);
         h.settle();
         EXPECT_FALSE(state().trace->mask().allowed(4, 2));
         alt(Key::x);
         h.settle();
         EXPECT_TRUE(state().trace->mask().allowed(4, 2));
         h.say(Pin{});
       }},
      {{Act::clear_paint},
       [&] {
         h.say(PaintCell{{1, 1}, false}, EndGesture{});
         alt(Key::backspace);
         EXPECT_TRUE(document().mask.painted.empty());
       }},
      {{Act::wider_model, Act::narrower_model},
       [&] {
         alt(Key::d);
         EXPECT_EQ(document().config.d_model, 68);
         alt_shift(Key::d);
         EXPECT_EQ(document().config.d_model, 64);
       }},
      {{Act::more_heads, Act::fewer_heads},
       [&] {
         alt(Key::h);
         EXPECT_EQ(document().config.num_heads, 8);
         alt_shift(Key::h);
         EXPECT_EQ(document().config.num_heads, 4);
       }},
      {{Act::more_layers, Act::fewer_layers},
       [&] {
         alt(Key::l);
         EXPECT_EQ(document().config.num_layers, 3);
         alt_shift(Key::l);
         EXPECT_EQ(document().config.num_layers, 2);
       }},
      {{Act::next_seed, Act::previous_seed},
       [&] {
         alt(Key::s);
         EXPECT_EQ(document().config.seed, 1u);
         alt_shift(Key::s);
         alt_shift(Key::s);
         EXPECT_EQ(document().config.seed, 0u);
       }},
      {{Act::next_positions, Act::split_text},
       [&] {
         for (const Position position : {Position::learned, Position::rotary, Position::none, Position::sinusoidal}) {
           alt(Key::o);
           EXPECT_EQ(document().config.position, position);
         }
         alt(Key::w);
         EXPECT_EQ(document().source.split, Split::characters);
         EXPECT_EQ(h.tokens().substr(0, 11), "我|请|李");
         alt(Key::w);
         EXPECT_EQ(document().source.split, Split::words);
       }},
      {{Act::log_colours, Act::linear_colours, Act::own_range, Act::shared_range},
       [&] {
         alt(Key::g);
         EXPECT_EQ(state().view.scale, Scale::log);
         alt(Key::g);
         EXPECT_EQ(state().view.scale, Scale::linear);
         alt_shift(Key::g);
         EXPECT_TRUE(state().view.own_range);
         alt_shift(Key::g);
         EXPECT_FALSE(state().view.own_range);
       }},
      {{Act::next_grid, Act::previous_grid},
       [&] {
         key({Key::digit_1});
         EXPECT_EQ(state().view.grid, GridShow::glance);
         shift(Key::digit_1);
         EXPECT_EQ(state().view.grid, GridShow::maps);
       }},
      {{Act::open_palette},
       [&] {
         ctrl(Key::p);
         EXPECT_TRUE(state().view.palette);
         h.frame(2);
         key({Key::escape});
         EXPECT_FALSE(state().view.palette);
       }},
      {{Act::copy_command},
       [&] {
         ctrl_shift(Key::c);
         EXPECT_TRUE(h.clipboard.starts_with("headlight figure --text"));
         h.say(DismissNotice{});
       }},
      {{Act::next_pair_part, Act::previous_pair_part},
       [&] {
         key({Key::digit_6});
         EXPECT_EQ(state().view.fold, FoldChoice{}) << "there is one sentence";
         h.say(OpenPath{HEADLIGHT_TEST_DATA "/golden/bert"}, SetIds{{2, 4, 3, 5, 3}}, SetTokenTypes{{0, 0, 0, 1, 1}});
         h.settle();
         h.say(SetIds{{2, 4, 3, 5, 3}}, SetTokenTypes{{0, 0, 0, 1, 1}}, EndGesture{});
         h.settle();
         key({Key::digit_6});
         EXPECT_EQ(state().view.fold.pair, PairPart::a_to_a);
         shift(Key::digit_6);
         EXPECT_EQ(state().view.fold.pair, PairPart::all);
         while (!state().undo.empty()) h.say(Undo{});
         h.say(DismissNotice{});
         h.settle();
       }},
      {{Act::fold_special, Act::merge_words},
       [&] {
         alt(Key::z);
         EXPECT_EQ(state().view.fold, FoldChoice{}) << "there is nothing to fold";
         h.say(SetSplit{Split::characters}, SetText{"the cats\nsat"}, EndGesture{});
         h.settle();
         alt_shift(Key::z);
         EXPECT_EQ(state().view.fold, (FoldChoice{.special = false, .words = true}));
         alt_shift(Key::z);
         h.say(ChooseSentence{1});
         h.settle();
         alt(Key::z);
         EXPECT_EQ(state().view.fold, (FoldChoice{.special = true, .words = false})) << "what fills the batch up";
         alt(Key::z);
         EXPECT_EQ(state().view.fold, FoldChoice{});
         h.say(ChooseSentence{0});
         while (!state().undo.empty()) h.say(Undo{});
         h.settle();
       }},
      {{Act::next_sentence, Act::previous_sentence},
       [&] {
         h.say(SetText{"我爱\n我"}, EndGesture{});
         alt(Key::n);
         EXPECT_EQ(state().view.sentence, 1u);
         alt_shift(Key::n);
         EXPECT_EQ(state().view.sentence, 0u);
         h.say(Undo{});
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
      {{Act::larger, Act::smaller},
       [&] {
         ctrl(Key::equal);
         EXPECT_NEAR(state().settings.ui_scale, 1.1f, 1e-5);
         EXPECT_EQ(state().view.viewport, Viewport{}) << "and nothing is zoomed";
         ctrl(Key::minus);
         EXPECT_NEAR(state().settings.ui_scale, 1, 1e-5);
       }},
      {{Act::next_kind, Act::norm_place, Act::norm_kind},
       [&] {
         alt(Key::k);
         EXPECT_EQ(document().config.arch, Arch::decoder);
         EXPECT_TRUE(document().mask.causal) << "a decoder begins with the causal mask";
         alt(Key::k);
         EXPECT_EQ(document().config.arch, Arch::encoder_decoder);
         EXPECT_TRUE(document().mask.causal);
         alt(Key::k);
         EXPECT_EQ(document().config.arch, Arch::encoder);
         EXPECT_FALSE(document().mask.causal);
         alt(Key::r);
         EXPECT_EQ(document().config.norm, Norm::pre);
         alt(Key::q);
         EXPECT_EQ(document().config.norm_kind, NormKind::rms_norm);
         for (int i = 0; i < 5; ++i) ctrl(Key::z);
         EXPECT_FALSE(document().mask.causal);
       }},
      {{Act::next_activation, Act::gated},
       [&] {
         for (const Activation activation :
              {Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu}) {
           alt(Key::a);
           EXPECT_EQ(document().config.activation, activation);
         }
         alt(Key::e);
         EXPECT_TRUE(document().config.gated);
         alt(Key::e);
         EXPECT_FALSE(document().config.gated);
       }},
      {{Act::wider_ffn, Act::narrower_ffn},
       [&] {
         alt(Key::f);
         EXPECT_EQ(document().config.ffn, 288);
         alt_shift(Key::f);
         EXPECT_EQ(document().config.ffn, 256);
       }},
      {{Act::bias},
       [&] {
         alt(Key::b);
         EXPECT_FALSE(document().config.bias.any());
         alt(Key::b);
       }},
      {{Act::larger_scale, Act::smaller_scale, Act::own_scale_off},
       [&] {
         alt(Key::v);
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f * 1.25f);
         alt_shift(Key::v);
         EXPECT_FLOAT_EQ(document().edits.scale.value_or(0), 0.25f);
         alt(Key::digit_0);
         EXPECT_FALSE(document().edits.scale);
       }},
      {{Act::more_padding, Act::less_padding},
       [&] {
         alt(Key::period);
         alt(Key::period);
         EXPECT_EQ(document().pad, 2u);
         alt(Key::comma);
         EXPECT_EQ(document().pad, 1u);
         alt(Key::comma);
         alt(Key::comma);
         EXPECT_EQ(document().pad, 0u);
       }},
      {{Act::join_tokens, Act::cut_token},
       [&] {
         h.say(Pin{CellRef{2, 0}});
         alt(Key::j);
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李雷帮");
         ctrl(Key::z);
         alt(Key::i);
         EXPECT_EQ(shown_tokens(state())->tokens[2].raw, "李");
         EXPECT_EQ(shown_tokens(state())->tokens[3].raw, "雷");
         ctrl(Key::z);
         h.say(Pin{});
       }},
      {{},
       [&] {
         ctrl(Key::digit_2);
         EXPECT_NE(document().source.text, kDefaultSentence);
         ctrl(Key::digit_1);
         EXPECT_EQ(document().source.text, kDefaultSentence);
       }},
      {{Act::dark_theme, Act::light_theme, Act::other_language},
       [&] {
         alt(Key::t);
         EXPECT_EQ(state().settings.theme, Theme::dark);
         alt(Key::t);
         EXPECT_EQ(state().settings.theme, Theme::light);
         ctrl(Key::t);
         EXPECT_EQ(state().settings.language, Language::zh);
         ctrl(Key::t);
         EXPECT_EQ(state().settings.language, Language::en);
       }},
      {{Act::fewer_lines, Act::more_lines, Act::lines_of_heads},
       [&] {
         h.say(ShowView{View::flow});
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
         h.say(SetFlow{}, ShowView{});
       }},
      {{Act::make_figure},
       [&] {
         ctrl_shift(Key::e);
         EXPECT_EQ(browsing(), Browser::Purpose::figure);
         close_browser();
       }},
      {{Act::keep_answer},
       [&] {
         shift(Key::digit_5);
         ASSERT_TRUE(state().kept);
         EXPECT_EQ(state().kept->trace, state().trace);
         EXPECT_EQ(state().view.view, View::heads) << "the view stays";
         h.say(DropKept{});
       }},
      {{Act::next_difference_order, Act::previous_difference_order, Act::swap_answers, Act::drop_answer},
       [&] {
         shift(Key::digit_5);
         const std::string text = document().source.text;
         h.say(SetText{"小猫饿坏了"}, EndGesture{}, ShowView{View::compare});
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
         h.say(Undo{}, Undo{}, ShowView{View::heads});
         h.settle();
       }},
      {{Act::zoom_in_compare, Act::zoom_out_compare, Act::zoom_whole_compare},
       [&] {
         shift(Key::digit_5);
         h.say(ShowView{View::compare});
         h.settle();
         key({Key::equal});
         EXPECT_NE(state().view.compared, Viewport{});
         key({Key::minus});
         EXPECT_EQ(state().view.compared, Viewport{});
         key({Key::equal});
         key({Key::home});
         EXPECT_EQ(state().view.compared, Viewport{});
         EXPECT_TRUE(state().kept);
         h.say(DropKept{}, ShowView{View::heads});
       }},
      {{Act::next_order, Act::previous_order},
       [&] {
         key({Key::semicolon});
         EXPECT_NE(state().view.order.by, HeadOrder::By::layer);
         shift(Key::semicolon);
         EXPECT_EQ(state().view.order.by, HeadOrder::By::layer);
       }},
      {{Act::find_heads},
       [&] {
         key({Key::slash});
         EXPECT_TRUE(state().view.find.on);
         EXPECT_TRUE(h.has("find from"));
         key({Key::escape});
         key({Key::escape});
         EXPECT_FALSE(state().view.find.on);
       }},
      {{Act::choose_lesson},
       [&] {
         take_lessons();
         key({Key::f2});
         key({Key::digit_2});
         EXPECT_EQ(state().view.lesson, (LessonPosition{1, 0}));
         EXPECT_EQ(state().view.view, View::heads) << "the list had the key";
         h.frame(2);
         key({Key::digit_2});
         EXPECT_EQ(state().view.view, View::inside) << "and gave it back";
         forget_looks();
         h.say(OpenLesson{}, ShowView{}, Pin{});
         h.settle();
       }},
      {{Act::next_page, Act::previous_page},
       [&] {
         take_lessons();
         h.say(OpenLesson{0});
         ctrl(Key::page_down);
         EXPECT_EQ(state().view.lesson, (LessonPosition{0, 1}));
         ctrl(Key::page_up);
         EXPECT_EQ(state().view.lesson, (LessonPosition{0, 0}));
         h.say(OpenLesson{});
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
         EXPECT_EQ(state().view.maps, MapKind::rollout);
         key({Key::backslash});
       }},
      {{Act::show_keys},
       [&] {
         key({Key::f1});
         EXPECT_TRUE(state().view.help);
         key({Key::f1});
         EXPECT_FALSE(state().view.help);
         shift(Key::slash);
         EXPECT_TRUE(state().view.help);
         shift(Key::slash);
         EXPECT_FALSE(state().view.help);
       }},
  };
}

TEST_F(KeyHelpTest, EveryRowWithKeysDoesWhatItSays) {
  harness->loop =
      std::make_unique<Loop>([] {}, std::string{}, LoopOptions{.training = {.folder = trained_.path(), .threads = 1}});
  std::set<Act> tried;
  for (const Promise& promise : promises()) {
    for (const Act act : promise.acts) tried.insert(act);
    SCOPED_TRACE(promise.acts.empty() ? "a sample" : action(promise.acts.front()).name.en);
    promise.keep();
    harness->say(DismissNotice{});
    harness->settle();
    EXPECT_TRUE(is_consistent(state()));
    EXPECT_EQ(state().view, ViewState{}) << "left as it was found";
    EXPECT_EQ(document().config, Config{});
    EXPECT_EQ(document().source.text, kDefaultSentence);
  }
  for (const Action& row : all_actions())
    EXPECT_TRUE(tried.contains(row.id) || row.keys.front() == Chord{}) << row.name.en << ": its keys were not tried";
}

}  // namespace
}  // namespace headlight
