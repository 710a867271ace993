#include "gui/actions/actions.h"

#include <iterator>

#include "gui/actions/look.h"
#include "gui/actions/possible.h"
#include "gui/actions/pushes.h"
#include "gui/actions/question.h"
#include "gui/actions/window.h"
#include "gui/frame/stacks.h"
#include "session/number_commands.h"
#include "session/state_rules.h"
#include "words/action_words.h"

namespace headlight {
namespace {

using namespace possible;
using namespace pushes;
using Group = ActionGroup;

// A key, alone or with its modifiers.
constexpr Chord bare(Key key) { return {key}; }
constexpr Chord shift(Key key) { return {.key = key, .shift = true}; }
constexpr Chord ctrl(Key key) { return {.key = key, .ctrl = true}; }
constexpr Chord ctrl_shift(Key key) { return {.key = key, .ctrl = true, .shift = true}; }
constexpr Chord alt(Key key) { return {.key = key, .alt = true}; }
constexpr Chord alt_shift(Key key) { return {.key = key, .shift = true, .alt = true}; }

// Keys without Ctrl and Alt only change the view: a letter typed anywhere goes into the sentence, and no wrong key
// changes the model, the mask or the words. The one edit among them is Space, the switch of a head.
// clang-format off
constexpr Action kActions[] = {
    {Act::show_heads, Group::views, kActionWords.show_heads, {bare(Key{'1'})},
     [](const Gui& gui) { return !in_view(gui, View::heads); }, push_value<ShowView{View::heads}>},
    {Act::next_grid, Group::views, kActionWords.next_grid, {bare(Key{'1'})}, in_heads,
     [](Gui& gui) { step_grid(gui, false); }},
    {Act::previous_grid, Group::views, kActionWords.previous_grid, {shift(Key{'1'})}, in_heads,
     [](Gui& gui) { step_grid(gui, true); }},
    {Act::grid_maps, Group::views, kActionWords.grid_maps, {}, nullptr, show_grid<GridShow::maps>},
    {Act::grid_all, Group::views, kActionWords.grid_all, {}, has_more_heads, show_grid<GridShow::all>},
    {Act::grid_relations, Group::views, kActionWords.grid_relations, {}, nullptr, show_grid<GridShow::relations>},
    {Act::next_maps, Group::views, kActionWords.next_maps, {bare(Key::backslash)}, has_maps,
     [](Gui& gui) { step_map_kind(gui, false); }},
    {Act::previous_maps, Group::views, kActionWords.previous_maps, {shift(Key::backslash)}, has_maps,
     [](Gui& gui) { step_map_kind(gui, true); }},
    {Act::weight_maps, Group::views, kActionWords.weight_maps, {}, nullptr, show_maps_of<MapKind::weights>},
    {Act::norm_maps, Group::views, kActionWords.norm_maps, {}, nullptr, show_maps_of<MapKind::norms>},
    {Act::rollout_maps, Group::views, kActionWords.rollout_maps, {}, nullptr, show_maps_of<MapKind::rollout>},
    {Act::mean_maps, Group::views, kActionWords.mean_maps, {}, nullptr, show_maps_of<MapKind::mean>},
    {Act::largest_maps, Group::views, kActionWords.largest_maps, {}, nullptr, show_maps_of<MapKind::max>},
    {Act::sum_maps, Group::views, kActionWords.sum_maps, {}, nullptr, show_maps_of<MapKind::sum>},
    {Act::strongest_maps, Group::views, kActionWords.strongest_maps, {}, nullptr, show_maps_of<MapKind::strongest>},
    {Act::show_inside, Group::views, kActionWords.show_inside, {bare(Key{'2'})}, nullptr,
     push_value<ShowView{View::inside}>},
    {Act::next_tab, Group::views, kActionWords.next_tab, {alt(Key{'Y'})}, isnt<in_code>, step_tab},
    {Act::look_back, Group::views, kActionWords.look_back, {bare(Key::backspace)},
     [](const Gui& gui) { return !gui.state.view.looked.empty(); }, push_new<LookBack>},
    {Act::show_flow, Group::views, kActionWords.show_flow, {bare(Key{'3'})}, nullptr, push_value<ShowView{View::flow}>},
    {Act::show_compare, Group::views, kActionWords.show_compare, {bare(Key{'5'})}, nullptr,
     push_value<ShowView{View::compare}>},
    {Act::show_code, Group::views, kActionWords.show_code, {bare(Key{'7'})}, nullptr, push_value<ShowView{View::code}>},
    {Act::next_dialect, Group::views, kActionWords.next_dialect, {bare(Key::semicolon)}, in_code,
     [](Gui& gui) { step_dialect(gui, false); }},
    {Act::previous_dialect, Group::views, kActionWords.previous_dialect, {shift(Key::semicolon)}, in_code,
     [](Gui& gui) { step_dialect(gui, true); }},
    {Act::whole_block, Group::views, kActionWords.whole_block, {alt(Key{'Y'})}, in_code,
     [](Gui& gui) { gui.push(SetCode{{gui.state.view.code.dialect, !gui.state.view.code.block}}); }},
    {Act::next_code_line, Group::views, kActionWords.next_code_line, {bare(Key::page_down)}, in_code,
     [](Gui& gui) { step_code_line(gui, false); }, true},
    {Act::previous_code_line, Group::views, kActionWords.previous_code_line, {bare(Key::page_up)}, in_code,
     [](Gui& gui) { step_code_line(gui, true); }, true},
    {Act::copy_program, Group::views, kActionWords.copy_program, {alt(Key{'U'})}, in_code, copy_program},
    {Act::keep_answer, Group::views, kActionWords.keep_answer, {shift(Key{'5'})}, answered, push_new<KeepAnswer>},
    {Act::swap_answers, Group::views, kActionWords.swap_answers, {alt(Key::home)}, has_kept, push_new<SwapKept>},
    {Act::drop_answer, Group::views, kActionWords.drop_answer, {bare(Key::del)}, has_kept, push_new<DropKept>},
    {Act::take_from_a, Group::views, kActionWords.take_from_a,
     {alt(Key{'5'})}, answered, [](Gui& gui) { show_patch(gui, !in_patch(gui)); }},
    {Act::align_answers, Group::views, kActionWords.align_answers, {alt_shift(Key{'5'})}, has_joint, [](Gui& gui) {
       const bool words = drawn_alignment(gui.state) == Alignment::words;
       gui.push(SetAlignment{words ? Alignment::positions : Alignment::words});
     }},
    {Act::open_palette, Group::views, kActionWords.open_palette, {ctrl(Key{'P'})}, nullptr,
     [](Gui& gui) { gui.push(ShowPalette{CommandPalette{}}); }},
    {Act::show_keys, Group::views, kActionWords.show_keys, {bare(Key::f1), shift(Key::slash)}, nullptr,
     [](Gui& gui) { gui.push(ShowHelp{!gui.state.view.help}); }},
    {Act::leave, Group::views, kActionWords.leave, {bare(Key::escape)}, nullptr, leave},

    {Act::next_head, Group::head, kActionWords.next_head, {bare(Key::right_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 0, 1); }, true},
    {Act::previous_head, Group::head, kActionWords.previous_head, {bare(Key::left_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 0, -1); }, true},
    {Act::next_layer, Group::head, kActionWords.next_layer, {shift(Key::right_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, 1, 0); }, true},
    {Act::previous_layer, Group::head, kActionWords.previous_layer, {shift(Key::left_bracket)}, answered,
     [](Gui& gui) { choose_head(gui, -1, 0); }, true},
    {Act::next_stack, Group::head, kActionWords.next_stack, {ctrl(Key::tab)}, answered,
     [](Gui& gui) { step_stack(gui, false); }},
    {Act::previous_stack, Group::head, kActionWords.previous_stack, {ctrl_shift(Key::tab)}, answered,
     [](Gui& gui) { step_stack(gui, true); }},
    {Act::head_off, Group::head, kActionWords.head_off, {bare(Key::space)},
     [](const Gui& gui) { return has_head(gui) && !head_off(gui); }, switch_head<true>},
    {Act::head_on, Group::head, kActionWords.head_on, {bare(Key::space)},
     [](const Gui& gui) { return has_head(gui) && head_off(gui); }, switch_head<false>},
    {Act::pin_hovered, Group::head, kActionWords.pin_hovered, {bare(Key::enter)},
     [](const Gui& gui) { return answered(gui) && (gui.state.view.hovered || gui.state.view.hovered_kept); },
     [](Gui& gui) { gui.push(Pin{gui.state.view.hovered, gui.state.view.hovered_kept}); }},
    {Act::numbers, Group::head, kActionWords.numbers, {alt(Key::enter)},
     pins_head, [](Gui& gui) { explain_cell(gui, *gui.state.view.pinned, InsideTab::numbers); }},
    {Act::why, Group::head, kActionWords.why, {alt_shift(Key::enter)},
     pins_head, [](Gui& gui) { explain_cell(gui, *gui.state.view.pinned, InsideTab::why); }},
    {Act::lens, Group::views, kActionWords.lens, {alt(Key{'2'})}, answered, show_lens},
    {Act::copy_weight, Group::head, kActionWords.copy_weight, {ctrl(Key{'C'})}, has_pinned, copy_weight},
    {Act::text_or_map, Group::head, kActionWords.text_or_map, {bare(Key{'8'})},
     answered, step_form},
    {Act::text_direction, Group::head, kActionWords.text_direction, {shift(Key{'8'})}, in_text, turn_text},
    {Act::text_heads, Group::head, kActionWords.text_heads, {bare(Key{'9'})}, in_text, step_text_heads},
    {Act::picture_alone, Group::head, kActionWords.picture_alone, {shift(Key{'9'})},
     [](const Gui& gui) { return in_text(gui) && shows_picture(gui.state); }, show_picture_alone},
    {Act::move_left, Group::head, kActionWords.move_left, {bare(Key::left)}, answered,
     [](Gui& gui) { move_cell(gui, 0, -1); }, true},
    {Act::move_right, Group::head, kActionWords.move_right, {bare(Key::right)}, answered,
     [](Gui& gui) { move_cell(gui, 0, 1); }, true},
    {Act::move_up, Group::head, kActionWords.move_up, {bare(Key::up)}, answered,
     [](Gui& gui) { move_cell(gui, -1, 0); }, true},
    {Act::move_down, Group::head, kActionWords.move_down, {bare(Key::down)}, answered,
     [](Gui& gui) { move_cell(gui, 1, 0); }, true},
    {Act::next_order, Group::head, kActionWords.next_order, {bare(Key::semicolon)}, in_heads,
     [](Gui& gui) { step_order(gui, false); }, true},
    {Act::previous_order, Group::head, kActionWords.previous_order, {shift(Key::semicolon)}, in_heads,
     [](Gui& gui) { step_order(gui, true); }, true},
    {Act::find_heads, Group::head, kActionWords.find_heads, {bare(Key::slash)}, in_heads, begin_search},
    {Act::next_difference_order, Group::head, kActionWords.next_difference_order, {bare(Key::semicolon)},
     has_joint, [](Gui& gui) { step_differences(gui, false); }, true},
    {Act::previous_difference_order, Group::head, kActionWords.previous_difference_order,
     {shift(Key::semicolon)}, has_joint, [](Gui& gui) { step_differences(gui, true); }, true},
    {Act::zoom_in, Group::head, kActionWords.zoom_in, {bare(Key::equal)}, zooms,
     [](Gui& gui) { zoom(gui, 1.5f); }, true},
    {Act::zoom_out, Group::head, kActionWords.zoom_out, {bare(Key::minus)}, zooms,
     [](Gui& gui) { zoom(gui, 1 / 1.5f); }, true},
    {Act::zoom_whole, Group::head, kActionWords.zoom_whole, {bare(Key::home)}, has_weights, push_new<SetViewport>},
    {Act::zoom_in_compare, Group::head, kActionWords.zoom_in_compare, {bare(Key::equal)}, has_joint,
     [](Gui& gui) { zoom_compared(gui, 1.5f); }, true},
    {Act::zoom_out_compare, Group::head, kActionWords.zoom_out_compare, {bare(Key::minus)}, has_joint,
     [](Gui& gui) { zoom_compared(gui, 1 / 1.5f); }, true},
    {Act::zoom_whole_compare, Group::head, kActionWords.zoom_whole_compare, {bare(Key::home)}, has_joint,
     push_new<SetComparedPart>},
    {Act::fewer_lines, Group::head, kActionWords.fewer_lines, {bare(Key::equal)}, in_flow,
     [](Gui& gui) { change_threshold(gui, 1.25f); }, true},
    {Act::more_lines, Group::head, kActionWords.more_lines, {bare(Key::minus)}, in_flow,
     [](Gui& gui) { change_threshold(gui, 1 / 1.25f); }, true},
    {Act::lines_of_heads, Group::head, kActionWords.lines_of_heads, {bare(Key::home)}, in_flow, [](Gui& gui) {
       FlowLook flow = gui.state.view.flow;
       flow.heads = flow.heads ? std::nullopt : std::optional(all_heads_of_layer(gui.state));
       gui.push(SetFlow{flow});
     }},
    {Act::log_colours, Group::head, kActionWords.log_colours, {alt(Key{'G'})}, isnt<is_log>,
     push_value<SetColourScale{Scale::log}>},
    {Act::linear_colours, Group::head, kActionWords.linear_colours,
     {alt(Key{'G'})}, is_log, push_value<SetColourScale{Scale::linear}>},
    {Act::own_range, Group::head, kActionWords.own_range, {alt_shift(Key{'G'})}, isnt<is_own>,
     push_value<SetOwnRange{true}>},
    {Act::shared_range, Group::head, kActionWords.shared_range, {alt_shift(Key{'G'})}, is_own,
     push_value<SetOwnRange{false}>},
    {Act::fold_special, Group::head, kActionWords.fold_special, {alt(Key{'Z'})},
     [](const Gui& gui) { return can_fold(gui.state, &FoldChoice::special); },
     [](Gui& gui) { toggle_fold(gui, &FoldChoice::special); }},
    {Act::merge_words, Group::head, kActionWords.merge_words, {alt_shift(Key{'Z'})},
     [](const Gui& gui) { return can_fold(gui.state, &FoldChoice::words); },
     [](Gui& gui) { toggle_fold(gui, &FoldChoice::words); }},
    {Act::next_pair_part, Group::head, kActionWords.next_pair_part,
     {bare(Key{'6'})}, [](const Gui& gui) { return can_choose_pair_part(gui.state); },
     [](Gui& gui) { step_pair_part(gui, false); }, true},
    {Act::previous_pair_part, Group::head, kActionWords.previous_pair_part,
     {shift(Key{'6'})}, [](const Gui& gui) { return can_choose_pair_part(gui.state); },
     [](Gui& gui) { step_pair_part(gui, true); }, true},
    {Act::next_sentence, Group::head, kActionWords.next_sentence, {alt(Key{'N'})},
     [](const Gui& gui) { return gui.state.requests.size() > 1; }, [](Gui& gui) { step_sentence(gui, false); }, true},
    {Act::previous_sentence, Group::head, kActionWords.previous_sentence, {alt_shift(Key{'N'})},
     [](const Gui& gui) { return gui.state.requests.size() > 1; }, [](Gui& gui) { step_sentence(gui, true); }, true},
    {Act::scope, Group::head, kActionWords.scope, {alt(Key{'C'})}, answered,
     [](Gui& gui) { gui.push(SetScope{!gui.state.view.one_layer}); }},

    {Act::type_sentence, Group::question, kActionWords.type_sentence, {ctrl(Key{'L'})}, nullptr,
     [](Gui& gui) { gui.push(FocusText{true}); }},
    {Act::undo, Group::question, kActionWords.undo, {ctrl(Key{'Z'})},
     [](const Gui& gui) { return !gui.state.undo.empty() || gui.state.gesture; }, push_new<Undo>, true},
    {Act::redo, Group::question, kActionWords.redo, {ctrl_shift(Key{'Z'}), ctrl(Key{'Y'})},
     [](const Gui& gui) { return !gui.state.redo.empty(); }, push_new<Redo>, true},
    {Act::causal_on, Group::question, kActionWords.causal_on, {alt(Key{'M'})}, isnt<is_causal>,
     set_mask<&SetMask::causal, true>},
    {Act::causal_off, Group::question, kActionWords.causal_off, {alt(Key{'M'})},
     is_causal, set_mask<&SetMask::causal, false>},
    {Act::padding_on, Group::question, kActionWords.padding_on, {alt_shift(Key{'M'})},
     isnt<is_padded>, set_mask<&SetMask::padding, true>},
    {Act::padding_off, Group::question, kActionWords.padding_off, {alt_shift(Key{'M'})}, is_padded,
     set_mask<&SetMask::padding, false>},
    {Act::paint_mask, Group::question, kActionWords.paint_mask, {alt(Key{'P'})},
     answered, [](Gui& gui) { gui.push(SetPainting{!gui.state.view.painting}); }},
    {Act::block_cell, Group::question, kActionWords.block_cell, {alt(Key{'X'})},
     [](const Gui& gui) { return pins_tokens(gui) && !nothing_asked(gui.state); }, block_pinned},
    {Act::clear_paint, Group::question, kActionWords.clear_paint, {alt(Key::backspace)},
     [](const Gui& gui) { return !scoped_mask(gui.state).painted.empty(); },
     [](Gui& gui) { gui.push_once(ClearPaint{gui.state.view.chosen.stack, scoped_layer(gui.state)}); }},
    {Act::more_padding, Group::question, kActionWords.more_padding, {alt(Key::period)}, can_pad, pad<1>, true},
    {Act::less_padding, Group::question, kActionWords.less_padding, {alt(Key::comma)}, has_padding, pad<-1>, true},
    {Act::larger_scale, Group::question, kActionWords.larger_scale, {alt(Key{'V'})}, answered,
     [](Gui& gui) { multiply_scale(gui, 1.25f); }, true},
    {Act::smaller_scale, Group::question, kActionWords.smaller_scale, {alt_shift(Key{'V'})}, answered,
     [](Gui& gui) { multiply_scale(gui, 1 / 1.25f); }, true},
    {Act::own_scale_off, Group::question, kActionWords.own_scale_off, {alt(Key{'0'})},
     [](const Gui& gui) { return scoped_scale(gui.state).has_value(); },
     [](Gui& gui) {
       push_scale(gui, std::nullopt);
       gui.push(EndGesture{});
     }},
    {Act::join_tokens, Group::question, kActionWords.join_tokens, {alt(Key{'J'})}, can_join, join_pinned},
    {Act::cut_token, Group::question, kActionWords.cut_token, {alt(Key{'I'})}, can_cut, cut_pinned},
    {Act::split_text, Group::question, kActionWords.split_text, {alt(Key{'W'})}, takes_model, [](Gui& gui) {
       gui.push_once(SetSplit{gui.state.document.source.split == Split::words ? Split::characters : Split::words});
     }},
    {Act::next_kind, Group::model, kActionWords.next_kind, {alt(Key{'K'})}, takes_model, config<next_kind>},
    {Act::wider_model, Group::model, kActionWords.wider_model,
     {alt(Key{'D'})}, takes_model, config<d_model_moved<1>>, true},
    {Act::narrower_model, Group::model, kActionWords.narrower_model, {alt_shift(Key{'D'})}, takes_model,
     config<d_model_moved<-1>>, true},
    {Act::more_heads, Group::model, kActionWords.more_heads, {alt(Key{'H'})}, takes_model,
     config<heads_moved<1>>, true},
    {Act::fewer_heads, Group::model, kActionWords.fewer_heads,
     {alt_shift(Key{'H'})}, takes_model, config<heads_moved<-1>>, true},
    {Act::more_layers, Group::model, kActionWords.more_layers, {alt(Key{'L'})}, takes_model,
     config<moved<&Config::num_layers, 1, 1, kMostSliderLayers>>, true},
    {Act::fewer_layers, Group::model, kActionWords.fewer_layers, {alt_shift(Key{'L'})}, takes_model,
     config<moved<&Config::num_layers, -1, 1, kMostSliderLayers>>, true},
    {Act::next_seed, Group::model, kActionWords.next_seed, {alt(Key{'S'})}, takes_model, config<seed_moved<1>>, true},
    {Act::previous_seed, Group::model, kActionWords.previous_seed, {alt_shift(Key{'S'})}, has_seed_before,
     config<seed_moved<-1>>, true},
    {Act::next_positions, Group::model, kActionWords.next_positions, {alt(Key{'O'})},
     takes_model, config<next_positions>},
    {Act::norm_place, Group::model, kActionWords.norm_place, {alt(Key{'R'})}, takes_model, config<other_norm_place>},
    {Act::norm_kind, Group::model, kActionWords.norm_kind, {alt(Key{'Q'})}, takes_model, config<other_norm_kind>},
    {Act::next_activation, Group::model, kActionWords.next_activation, {alt(Key{'A'})}, takes_model,
     config<next_activation>},
    {Act::gated, Group::model, kActionWords.gated, {alt(Key{'E'})}, takes_model, config<other_gate>},
    {Act::wider_ffn, Group::model, kActionWords.wider_ffn, {alt(Key{'F'})}, takes_model,
     config<moved<&Config::ffn, 32, 0, kMostSliderFfn>>, true},
    {Act::narrower_ffn, Group::model, kActionWords.narrower_ffn, {alt_shift(Key{'F'})}, takes_model,
     config<moved<&Config::ffn, -32, 0, kMostSliderFfn>>, true},
    {Act::bias, Group::model, kActionWords.bias, {alt(Key{'B'})}, takes_model, config<other_biases>},
    {Act::all_heads_on, Group::question, kActionWords.all_heads_on, {},
     [](const Gui& gui) { return !gui.state.document.edits.off.empty(); }, push_new_once<SwitchAllOn>},
    {Act::residual_off, Group::question, kActionWords.residual_off, {}, can_switch<BlockPart::residual>,
     switch_part<BlockPart::residual>},
    {Act::norm_off, Group::question, kActionWords.norm_off, {}, can_switch<BlockPart::norm>,
     switch_part<BlockPart::norm>},
    {Act::scale_off, Group::question, kActionWords.scale_off, {}, can_switch<BlockPart::scale>,
     switch_part<BlockPart::scale>},
    {Act::ffn_off, Group::question, kActionWords.ffn_off, {}, can_switch<BlockPart::ffn>, switch_part<BlockPart::ffn>},
    {Act::all_parts_on, Group::question, kActionWords.all_parts_on, {}, any_parts_off, push_new_once<SwitchPartsOn>},
    {Act::own_numbers, Group::question, kActionWords.own_numbers,
     {ctrl_shift(Key{'N'})}, nullptr, [](Gui& gui) { gui.push(ShowNumbers{dialog_on_first(gui.state)}); }},
    {Act::clear_edits, Group::question, kActionWords.clear_edits, {},
     [](const Gui& gui) { return !(gui.state.document.edits == Edits{}); }, push_new_once<ClearEdits>},
    {Act::second_away, Group::question, kActionWords.second_away, {},
     [](const Gui& gui) { return !gui.state.document.text_pair.empty(); }, push_new_once<SetTextPair>},
    {Act::start_over, Group::question, kActionWords.start_over, {}, [](const Gui& gui) {
       return !(gui.state.document == first_document(gui.state.shipped.get(), gui.state.settings.language));
     },
     push_new_once<Reset>},

    {Act::choose_lesson, Group::lessons, kActionWords.choose_lesson, {bare(Key::f2)}, nullptr, nullptr},
    {Act::next_page, Group::lessons, kActionWords.next_page, {ctrl(Key::page_down)}, in_lesson,
     [](Gui& gui) { turn_page(gui, false); }},
    {Act::previous_page, Group::lessons, kActionWords.previous_page, {ctrl(Key::page_up)}, in_lesson,
     [](Gui& gui) { turn_page(gui, true); }},
    {Act::leave_lesson, Group::lessons, kActionWords.leave_lesson, {}, in_lesson, push_new<OpenLesson>},

    {Act::open_file, Group::files, kActionWords.open_file, {ctrl(Key{'O'})}, nullptr, browse<Browser::Purpose::open>},
    {Act::save_session, Group::files, kActionWords.save_session, {ctrl(Key{'S'})}, nullptr, save_session},
    {Act::save_session_as, Group::files, kActionWords.save_session_as, {ctrl_shift(Key{'S'})}, nullptr,
     browse<Browser::Purpose::save>},
    {Act::export_numbers, Group::files, kActionWords.export_numbers,
     {ctrl(Key{'E'})}, nullptr, browse<Browser::Purpose::export_to>},
    {Act::make_figure, Group::files, kActionWords.make_figure, {ctrl_shift(Key{'E'})},
     nullptr, browse<Browser::Purpose::figure>},
    {Act::copy_command, Group::files, kActionWords.copy_command, {ctrl_shift(Key{'C'})}, nullptr,
     [](Gui& gui) { copy_as_command(gui); }},
    {Act::copy_export, Group::files, kActionWords.copy_export, {}, nullptr,
     [](Gui& gui) { copy_as_command(gui, CommandGives::numbers); }},
    {Act::copy_explanation, Group::files, kActionWords.copy_explanation,
     {}, has_pinned, [](Gui& gui) { copy_as_command(gui, CommandGives::explanation); }},

    {Act::dark_theme, Group::window, kActionWords.dark_theme, {alt(Key{'T'})}, isnt<is_dark>, switch_theme},
    {Act::light_theme, Group::window, kActionWords.light_theme, {alt(Key{'T'})}, is_dark, switch_theme},
    {Act::other_language, Group::window, kActionWords.other_language, {ctrl(Key{'T'})}, nullptr, switch_language},
    {Act::larger, Group::window, kActionWords.larger, {ctrl(Key::equal)}, nullptr,
     [](Gui& gui) { resize_window(gui, true); }, true},
    {Act::smaller, Group::window, kActionWords.smaller, {ctrl(Key::minus)}, nullptr,
     [](Gui& gui) { resize_window(gui, false); }, true},
    {Act::quit, Group::window, kActionWords.quit, {ctrl(Key{'Q'})}, nullptr, push_new<Quit>},
};
// clang-format on

consteval bool in_order() {
  for (std::size_t i = 0; i < std::size(kActions); ++i)
    if (static_cast<std::size_t>(kActions[i].id) != i) return false;
  return std::size(kActions) == static_cast<std::size_t>(Act::count);
}
static_assert(in_order(), "one row for each Act, in its order");

}  // namespace

std::span<const Action> viewer_actions() { return kActions; }

}  // namespace headlight
