#include <algorithm>

#include "gui/compare/compare.h"
#include "gui/compare/joint_map.h"
#include "gui/flow/flow.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/scope.h"
#include "gui/frame/start_training.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/heads.h"
#include "gui/lesson/lesson_panel.h"
#include "gui/question/question.h"
#include "gui/shell/actions.h"
#include "gui/shell/shell.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "view/viewport.h"
#include "words/pair_words.h"

namespace headlight {
namespace {

/// Starts, pauses and goes on; with Shift stops.
void training_key(Gui& gui, bool shift) {
  const auto& run = gui.state.training;
  const bool active = run && is_active(*run);
  if (shift && active) return gui.say(StopTraining{});
  if (shift) return;
  if (run && can_resume(*run)) gui.say(ResumeTraining{});
  else if (active) gui.say(PauseTraining{});
  else if (gui.state.view.view == View::train) say_start(gui, false);
}

void file_keys(Gui& gui, bool shift) {
  if (key_pressed(Key::z, true)) shift ? gui.say(Redo{}) : gui.say(Undo{});
  if (key_pressed(Key::y, true)) gui.say(Redo{});
  if (key_pressed(Key::o, false)) gui.say(Browse{Browser::Purpose::open, {}});
  if (key_pressed(Key::e, false)) gui.say(Browse{shift ? Browser::Purpose::figure : Browser::Purpose::export_to, {}});
  if (key_pressed(Key::s, false)) shift ? gui.say(Browse{Browser::Purpose::save, {}}) : save_session(gui);
  if (key_pressed(Key::c, false) && shift) copy_as_command(gui);
  if (key_pressed(Key::p, false)) gui.say(ShowPalette{CommandPalette{}});
  if (key_pressed(Key::q, false)) gui.say(Quit{});
  if (key_pressed(Key::l, false)) gui.say(FocusText{true});
  if (key_pressed(Key::enter, false)) training_key(gui, shift);
  if (key_pressed(Key::page_down, false)) turn_page(gui, false);
  if (key_pressed(Key::page_up, false)) turn_page(gui, true);
  for (std::size_t i = 0; i < std::min<std::size_t>(9, gui.samples.size()); ++i)
    if (key_pressed(static_cast<Key>('1' + i), false)) take_sample(gui, gui.samples[i]);
  if (key_pressed(Key::equal)) resize_window(gui, true);
  if (key_pressed(Key::minus)) resize_window(gui, false);
  if (key_pressed(Key::t, false)) switch_language(gui);
}

void escape(Gui& gui) {
  const AppState& state = gui.state;
  if (state.view.help) gui.say(ShowHelp{false});
  else if (state.browser.purpose != Browser::Purpose::none) gui.say(Browse{});
  else if (gui.work.writing) gui.say(CancelFileWork{});
  else if (state.view.painting) gui.say(SetPainting{false});
  else if (gui.work.sweeping) gui.say(OrderHeads{});
  else if (state.view.find.on)
    gui.say(FindHeads{{.on = false, .words = state.view.find.words, .above = state.view.find.above}});
  else if (state.view.pinned || state.view.pinned_kept) gui.say(Pin{});
  else if (state.notice) gui.say(DismissNotice{});
}

void choose_head(Gui& gui, Index layers, Index heads) {
  const Trace& trace = *gui.state.trace;
  HeadRef head = gui.state.view.chosen;
  if (const std::vector<HeadRef> order = shown_order(gui.state); !order.empty() && layers == 0) {
    const auto count = static_cast<Index>(order.size());
    const Index at = std::find(order.begin(), order.end(), head) - order.begin();
    return gui.say(ChooseHead{order[static_cast<std::size_t>((at + heads + count) % count)]});
  }
  const Index all = trace.num_heads(head.stack);
  head.layer = std::clamp<Index>(head.layer + layers, 0, trace.num_layers(head.stack) - 1);
  head.head = (head.head + heads + all) % all;
  gui.say(ChooseHead{head});
}

void move_cell(Gui& gui, Index queries, Index keys) {
  const Trace& trace = *gui.state.trace;
  const Stack stack = gui.state.view.chosen.stack;
  const auto from = gui.state.view.pinned ? gui.state.view.pinned : gui.state.view.hovered;
  CellRef cell = from.value_or(CellRef{});
  if (const FoldedStack* folded = shown_fold(gui.state, stack))
    return gui.say(Pin{moved(folded->fold, cell, from ? queries : 0, from ? keys : 0)});
  if (from)
    cell = {std::clamp<Index>(cell.query + queries, 0, trace.queries(stack) - 1),
            std::clamp<Index>(cell.key + keys, 0, trace.keys(stack) - 1)};
  gui.say(Pin{cell});
}

void next_stack(Gui& gui, bool back) {
  const AppState& state = gui.state;
  std::vector<Stack> stacks;
  for (const Stack stack : kStacks)
    if (state.trace->has(stack)) stacks.push_back(stack);
  const auto at =
      static_cast<std::size_t>(std::find(stacks.begin(), stacks.end(), state.view.chosen.stack) - stacks.begin());
  const Stack next = stacks[(at + (back ? stacks.size() - 1 : 1)) % stacks.size()];
  gui.say(ChooseHead{{state.view.chosen.layer, state.view.chosen.head, next}});
}

/// In the Inside view the arrows move the cell whose terms are shown.
void move_look(Gui& gui, Index rows, Index cols) {
  const Look& look = gui.state.view.look;
  if (!exists(*gui.state.trace, look.matrix)) return;
  const Shape size = shape(*gui.state.trace, look.matrix);
  const MatrixCell from = look.cell.value_or(MatrixCell{});
  const MatrixCell to{std::clamp<Index>(from.row + (look.cell ? rows : 0), 0, size.rows - 1),
                      std::clamp<Index>(from.col + (look.cell ? cols : 0), 0, size.cols - 1)};
  gui.say(LookAt{{look.matrix, to}});
}

void move(Gui& gui, Index rows, Index cols) {
  if (gui.state.view.view == View::inside) move_look(gui, rows, cols);
  else if (gui.state.view.view == View::compare && compared_trace(gui.state)) move_joint_cell(gui, rows, cols);
  else move_cell(gui, rows, cols);
}

void fold_key(Gui& gui, bool FoldChoice::*which) {
  const AppState& state = gui.state;
  if (!state.folded || !folds_tokens(state.view.view)) return;
  const auto& possible = state.folded->possible[static_cast<std::size_t>(state.view.chosen.stack)];
  if (shown_maps(state, state.view.chosen.stack)) return;
  if (possible.too_long || !(possible.choice.*which)) return;
  FoldChoice fold = state.view.fold;
  fold.*which = !(fold.*which);
  gui.say(SetFold{fold});
}

/// Of two sentences the next part of who looks at whom, or the one before.
void pair_key(Gui& gui, bool back) {
  const AppState& state = gui.state;
  if (!state.folded || !folds_tokens(state.view.view)) return;
  const auto& possible = state.folded->possible[static_cast<std::size_t>(state.view.chosen.stack)];
  if (shown_maps(state, state.view.chosen.stack) || possible.too_long || possible.choice.pair == PairPart::all) return;
  FoldChoice fold = state.view.fold;
  fold.pair = static_cast<PairPart>((static_cast<int>(fold.pair) + (back ? kPairParts - 1 : 1)) % kPairParts);
  gui.say(SetFold{fold});
}

/// Over the kept steps of a training, the newest behind the last.
void time_keys(Gui& gui) {
  const auto& run = gui.state.training;
  if (!run || run->shots.empty()) return;
  const auto& shots = run->shots;
  if (key_pressed(Key::end, false)) gui.say(ChooseShot{});
  const auto at = std::find_if(shots.begin(), shots.end(), [&](const Shot& shot) { return run->shown == shot.step; });
  if (key_pressed(Key::page_up) && at != shots.begin()) gui.say(ChooseShot{std::prev(at)->step});
  if (key_pressed(Key::page_down) && at != shots.end())
    gui.say(ChooseShot{std::next(at) == shots.end() ? std::nullopt : std::optional(std::next(at)->step)});
}

/// Of the lines between the words: how many of them, and of which heads.
void flow_keys(Gui& gui) {
  FlowLook flow = gui.state.view.flow;
  if (key_pressed(Key::equal)) flow.threshold = std::min(1.0f, std::max(kLeastThreshold, flow.threshold * 1.25f));
  if (key_pressed(Key::minus)) flow.threshold = flow.threshold / 1.25f < kLeastThreshold ? 0 : flow.threshold / 1.25f;
  if (key_pressed(Key::home, false))
    flow.heads = flow.heads ? std::nullopt : std::optional(all_heads_of_layer(gui.state));
  if (!(flow == gui.state.view.flow)) gui.say(SetFlow{flow});
}

/// The part of the three maps that is seen.
void compare_zoom_keys(Gui& gui) {
  const AppState& state = gui.state;
  const JointStack* stack = state.comparison ? state.comparison->heads->stack(state.view.chosen.stack) : nullptr;
  if (!stack) return;
  const auto queries = static_cast<Index>(stack->queries.size()), keys = static_cast<Index>(stack->keys.size());
  const CellRef around = lit_joint_cell(state, *stack).value_or(CellRef{queries / 2, keys / 2});
  const auto zoom = [&](float factor) {
    gui.say(SetComparedPart{zoomed(state.view.compared, queries, keys, factor, around)});
  };
  if (key_pressed(Key::equal)) zoom(1.5f);
  if (key_pressed(Key::minus)) zoom(1 / 1.5f);
}

/// Of two answers: the order of their heads, what is seen of the maps, and what becomes of A.
void compare_keys(Gui& gui, bool shift) {
  if (key_pressed(Key::semicolon)) step_differences(gui, shift);
  compare_zoom_keys(gui);
  if (key_pressed(Key::home, false) && gui.state.view.compared != Viewport{}) gui.say(SetComparedPart{});
  else if (key_pressed(Key::home, false)) gui.say(SwapKept{});
  if (key_pressed(Key::del, false)) gui.say(DropKept{});
}

void look_keys(Gui& gui, bool shift) {
  const AppState& state = gui.state;
  if (key_pressed(Key::left_bracket)) choose_head(gui, shift ? -1 : 0, shift ? 0 : -1);
  if (key_pressed(Key::right_bracket)) choose_head(gui, shift ? 1 : 0, shift ? 0 : 1);
  if (key_pressed(Key::left)) move(gui, 0, -1);
  if (key_pressed(Key::right)) move(gui, 0, 1);
  if (key_pressed(Key::up)) move(gui, -1, 0);
  if (key_pressed(Key::down)) move(gui, 1, 0);
  if (key_pressed(Key::enter, false) && (state.view.hovered || state.view.hovered_kept))
    gui.say(Pin{state.view.hovered, state.view.hovered_kept});
  const Stack stack = state.view.chosen.stack;
  const CellRef middle{state.trace->queries(stack) / 2, state.trace->keys(stack) / 2};
  const auto& lit = state.view.pinned ? state.view.pinned : state.view.hovered;
  const bool folded = shown_fold(state, stack) != nullptr;  // then there are no single cells to zoom to or to paint
  const MapKind kind = shown_kind(state, stack);
  const bool zooms = state.view.view != View::flow && state.view.view != View::compare && kind == MapKind::weights;
  if (state.view.view == View::flow) flow_keys(gui);
  if (state.view.view == View::compare) compare_keys(gui, shift);
  if (key_pressed(Key::equal) && !folded && zooms) gui.say(SetViewport{zoomed(state, 1.5f, lit.value_or(middle))});
  if (key_pressed(Key::minus) && !folded && zooms) gui.say(SetViewport{zoomed(state, 1 / 1.5f, lit.value_or(middle))});
  if (key_pressed(Key::home, false) && zooms) gui.say(SetViewport{});
  if (key_pressed(Key::g, false) && shift) gui.say(SetOwnRange{!state.view.own_range});
  else if (key_pressed(Key::g, false))
    gui.say(SetColourScale{state.view.scale == Scale::log ? Scale::linear : Scale::log});
  if (key_pressed(Key::z, false)) fold_key(gui, shift ? &FoldChoice::words : &FoldChoice::special);
  if (key_pressed(Key::digit_6)) pair_key(gui, shift);
  if (key_pressed(Key::n) && state.requests.size() > 1) {
    const std::size_t count = state.requests.size();
    gui.say(ChooseSentence{(state.view.sentence + (shift ? count - 1 : 1)) % count});
  }
  if (key_pressed(Key::p, false) && !folded) gui.say(SetPainting{!state.view.painting});
  if (key_pressed(Key::x, false) && state.view.pinned && !folded && !nothing_asked(state))
    gui.say_once(PaintCell{*state.view.pinned,
                           !mask_of_chosen(state).allowed(state.view.pinned->query, state.view.pinned->key), stack,
                           scoped_layer(state)});
  if (key_pressed(Key::space, false) && kind != MapKind::rollout)  // that has no heads
    gui.say_once(SwitchHead{state.view.chosen, !is_off(state.document.edits, state.view.chosen)});
  if (key_pressed(Key::tab, false)) next_stack(gui, shift);
  if (key_pressed(Key::digit_1, false)) {
    if (state.view.view == View::heads) step_grid(gui, shift);
    else gui.say(ShowView{View::heads});
  }
  if (key_pressed(Key::digit_2, false)) gui.say(ShowView{View::inside});
  if (key_pressed(Key::digit_3, false)) gui.say(ShowView{View::flow});
  if (key_pressed(Key::digit_4, false)) gui.say(ShowView{View::train});
  if (key_pressed(Key::digit_5, false)) shift ? gui.say(KeepAnswer{}) : gui.say(ShowView{View::compare});
  if (state.view.view == View::train) time_keys(gui);
  if (key_pressed(Key::backslash, false) && (state.view.view == View::heads || state.view.view == View::train))
    step_map_kind(gui, shift);
  if (key_pressed(Key::y, false)) gui.say(ShowSteps{!state.view.steps});
  if (key_pressed(Key::u, false)) gui.say(LookBack{});
  if (key_pressed(Key::c, false)) gui.say(SetScope{!state.view.one_layer});
  if (state.view.view != View::heads) return;
  if (key_pressed(Key::slash, false) && !shift) begin_search(gui);
  if (key_pressed(Key::semicolon)) step_order(gui, shift);
}

/// The boundary after the pinned row's token goes, or a new one halves the token.
void boundary_keys(Gui& gui) {
  const AppState& state = gui.state;
  const bool target = state.trace && state.trace->encoder && state.view.chosen.stack != Stack::encoder;
  const TextSide side = target ? TextSide::target : TextSide::source;
  const Tokens* tokens = shown_tokens(state, side);
  if (!state.view.pinned || !tokens || static_cast<std::size_t>(state.view.pinned->query) >= tokens->size()) return;
  const Token& token = tokens->tokens[static_cast<std::size_t>(state.view.pinned->query)];
  if (token.special) return;
  if (key_pressed(Key::j, false)) {
    const auto next = static_cast<std::size_t>(state.view.pinned->query) + 1;
    if (next < tokens->size() && !tokens->tokens[next].special)
      gui.say_once(ToggleCut{sentence_begin(state, side) + token.end, side});
  }
  if (key_pressed(Key::i, false)) {
    const auto characters = cut_points(token.raw, Split::characters, *state.lexicon);
    if (!characters.empty())
      gui.say_once(ToggleCut{sentence_begin(state, side) + token.begin + characters[characters.size() / 2], side});
  }
}

Position next_position(Position position) {
  switch (position) {
    case Position::none: return Position::sinusoidal;
    case Position::sinusoidal:
    case Position::sinusoidal_halves: return Position::learned;
    case Position::learned: return Position::rotary;
    case Position::rotary: break;
  }
  return Position::none;
}

/// The parts of a block that have no slider's key.
Config with_block_keys(Config config, int direction) {
  if (key_pressed(Key::k, false))
    config.arch = config.arch == Arch::encoder   ? Arch::decoder
                  : config.arch == Arch::decoder ? Arch::encoder_decoder
                                                 : Arch::encoder;
  if (key_pressed(Key::r, false)) config.norm = config.norm == Norm::post ? Norm::pre : Norm::post;
  if (key_pressed(Key::a, false))
    config.activation = static_cast<Activation>((static_cast<int>(config.activation) + 1) % 4);
  if (key_pressed(Key::q, false))
    config.norm_kind = config.norm_kind == NormKind::layer_norm ? NormKind::rms_norm : NormKind::layer_norm;
  if (key_pressed(Key::e, false)) config.gated = !config.gated;
  if (key_pressed(Key::f)) config.ffn = std::clamp<Index>(config.ffn + 32 * direction, 0, kMostSliderFfn);
  if (key_pressed(Key::b, false)) {
    const bool on = !config.bias.any();
    config.bias = {on, on, on, on, on};
  }
  return config;
}

void scale_keys(Gui& gui, bool shift) {
  const AppState& state = gui.state;
  const auto set = [&](std::optional<float> scale) {
    say_scale(gui, scale);
    gui.say(EndGesture{});
  };
  if (key_pressed(Key::digit_0, false) && scoped_scale(state)) set(std::nullopt);
  if (!key_pressed(Key::v) || !state.trace) return;
  const float now = scoped_scale(state).value_or(shown_scale(state));
  set(std::clamp(shift ? now / 1.25f : now * 1.25f, 0.001f, 1000.0f));
}

void question_keys(Gui& gui, bool shift) {
  const Document& document = gui.state.document;
  const int direction = shift ? -1 : 1;
  if (key_pressed(Key::m, false)) {
    const MaskSpec& mask = scoped_mask(gui.state);
    gui.say_once(SetMask{shift ? mask.causal : !mask.causal, shift ? !mask.padding : mask.padding,
                         gui.state.view.chosen.stack, scoped_layer(gui.state)});
  }
  if (key_pressed(Key::backspace, false) && !scoped_mask(gui.state).painted.empty())
    gui.say_once(ClearPaint{gui.state.view.chosen.stack, scoped_layer(gui.state)});
  scale_keys(gui, shift);
  if (!takes_shape(document)) return;
  if (key_pressed(Key::comma) && document.pad > 0) gui.say_once(SetPad{document.pad - 1});
  const Request* request = wanted(gui.state);
  if (key_pressed(Key::period) && request && document.pad < request->tokens.size())
    gui.say_once(SetPad{document.pad + 1});
  boundary_keys(gui);
  Config config = with_block_keys(document.config, direction);
  if (key_pressed(Key::d)) config = with_d_model(config, config.d_model + 4 * direction);
  if (key_pressed(Key::h)) config = with_heads_moved(config, direction);
  if (key_pressed(Key::l)) config.num_layers = std::clamp<Index>(config.num_layers + direction, 1, kMostSliderLayers);
  if (key_pressed(Key::s) && (direction > 0 || config.seed > 0)) config.seed += static_cast<std::uint64_t>(direction);
  if (key_pressed(Key::o, false)) config = with_position(config, next_position(config.position));
  if (!(config == document.config)) gui.say_once(SetConfig{config});
  if (key_pressed(Key::w, false))
    gui.say_once(SetSplit{document.source.split == Split::words ? Split::characters : Split::words});
}

}  // namespace

void shortcuts(Gui& gui) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool typing = io.WantTextInput || gui.state.view.focus_text || gui.state.view.focus_find;
  if (gui.state.view.palette) return;  // the keys are its own
  if (key_pressed(Key::f1, false)) gui.say(ShowHelp{!gui.state.view.help});
  if (key_pressed(Key::escape, false) && !typing) escape(gui);
  if (io.KeyCtrl && !io.KeyAlt) {
    // While text is typed its own undo has Ctrl-Z.
    if (!typing || !(key_pressed(Key::z) || key_pressed(Key::y))) file_keys(gui, io.KeyShift);
    return;
  }
  if (typing || io.KeyAlt || io.KeySuper || gui.state.browser.purpose != Browser::Purpose::none) return;
  if (key_pressed(Key::slash, false) && io.KeyShift) gui.say(ShowHelp{!gui.state.view.help});
  if (key_pressed(Key::t, false)) switch_theme(gui);
  question_keys(gui, io.KeyShift);
  if (gui.state.trace) look_keys(gui, io.KeyShift);
}

}  // namespace headlight
