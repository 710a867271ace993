#include "session/update.h"

#include <cassert>
#include <unordered_map>

#include "session/file_update.h"
#include "session/lesson_commands.h"
#include "session/number_commands.h"
#include "session/shown.h"
#include "session/state_rules.h"
#include "session/tool_state.h"
#include "view/view_names.h"

namespace headlight {
namespace {

constexpr std::size_t kMostLooked = 100;

/// The user's commands about the question, the look at the answer, trainings and lessons: one function a command;
/// `kind` is the command's.
struct Update {
  AppState& state;
  CommandKind kind;

  /// The document, for a change by the user.
  Document& document() {
    stop_generating(state);
    return edited(state, kind);
  }
  /// Sets a part of document().
  template <class Part>
  void set(Part& part, Part value) {
    part = std::move(value);
    ask_again(state);
  }
  /// Changes the mask of a stack, or of one layer, which begins with its stack's.
  template <class Change>
  void change_mask(Stack stack, std::optional<Index> layer, Change change) {
    Document& changed = document();
    if (!layer) {
      change(mask_of(changed, stack));
    } else {
      LayerEdit edit = layer_edit_or_none(changed.edits, stack, *layer);
      edit.mask = mask_of(changed, stack, *layer);
      change(*edit.mask);
      set_layer_edit(changed.edits, std::move(edit));
    }
    ask_again(state);
  }
  void change_text(TextSide side, std::string text) {
    set_text(document(), side, std::move(text), *state.lexicon);
    ask_again(state);
  }
  /// The user's view replaces that of a session being opened.
  ViewState& looked_at() {
    state.opened_view.reset();
    return state.view;
  }

  template <Part part, auto member>
  void operator()(Set<part, member>& c) {
    if constexpr (part == Part::document) set(document().*member, std::move(c.value));
    else if constexpr (part == Part::edits) set(document().edits.*member, std::move(c.value));
    else if constexpr (part == Part::browser) state.browser.*member = std::move(c.value);
    else (part == Part::look ? looked_at() : state.view).*member = std::move(c.value);
  }

  void operator()(SetText& c) { change_text(TextSide::source, std::move(c.text)); }
  void operator()(SetTarget& c) { change_text(TextSide::target, std::move(c.text)); }
  void operator()(SetChat& c) {
    Document& changed = document();
    changed.chat = std::move(c.chat);
    changed.source.ids.clear(), changed.source.id_cuts.clear();
    changed.token_types.clear();
    ask_again(state);
  }
  void operator()(const SetSplit& c) {
    Document& changed = document();
    for (TextInput* text : {&changed.source, &changed.target}) {
      text->split = c.split;
      text->hand_cuts.reset();
    }
    ask_again(state);
  }
  void operator()(const ToggleCut& c) {
    if (!cuts_words(state.document, c.side)) return;
    toggle_cut(document(), c.side, c.offset, *state.lexicon);
    choose_by_sentence(state);
    ask_again(state);
  }
  void operator()(SetIds& c) {
    Document& changed = document();
    if (c.types) changed.token_types = std::move(*c.types);
    // Ids that are added are of the last type.
    else if (std::vector<int>& types = changed.token_types;
             c.side == TextSide::source && !types.empty() && !c.ids.empty())
      types.resize(c.ids.size(), types.back());
    text_input(changed, c.side).ids = std::move(c.ids);
    text_input(changed, c.side).id_cuts = std::move(c.cuts);
    ask_again(state);
  }
  void operator()(const SetConfig& c) {
    if (!takes_shape(state.document)) return;
    const Arch before = state.document.config.arch;
    Document& changed = document();
    const Config shape = config_of(changed);
    if (changed.trained) reshape(changed, c.config, state.shipped.get());
    else changed.config = c.config;
    drop_foreign_edits(changed, shape);
    if (c.config.arch != before) changed.mask.causal = is_causal_by_default(c.config.arch);
    ask_again(state);
  }
  void operator()(const UseTrained& c) {
    if (!takes_shape(state.document)) return;
    const BundledModel* nearest = trained_before(state);
    if (c.on && !nearest) return;
    Document& changed = document();
    const Config shape = config_of(changed);
    if (c.on) take_model(changed, *nearest);
    else reshape(changed, changed.config, nullptr);
    drop_foreign_edits(changed, shape);
    changed.trained = c.on;
    changed.mask.causal = is_causal_by_default(changed.config.arch);
    choose_by_sentence(state);
    ask_again(state);
  }
  void operator()(const SetMask& c) {
    change_mask(c.stack, c.layer, [&](MaskSpec& mask) {
      mask.causal = c.causal;
      mask.padding = c.padding;
    });
  }
  void operator()(GiveMask& c) {
    change_mask(c.stack, c.layer, [&](MaskSpec& mask) {
      mask.given = std::move(c.mask);
      mask.batch = nullptr, mask.heads = 1;
    });
  }
  void operator()(const PaintCell& c) {
    change_mask(c.stack, c.layer, [&](MaskSpec& mask) { paint(mask.painted, {c.cell.query, c.cell.key, c.allowed}); });
  }
  void operator()(const ClearPaint& c) {
    change_mask(c.stack, c.layer, [](MaskSpec& mask) { mask.painted.clear(); });
  }
  void operator()(const SetLayerScale& c) {
    Edits& edits = document().edits;
    LayerEdit edit = layer_edit_or_none(edits, c.stack, c.layer);
    edit.scale = c.scale;
    set_layer_edit(edits, std::move(edit));
    ask_again(state);
  }
  void operator()(const ClearLayer& c) {
    set_layer_edit(document().edits, {c.stack, c.layer});
    ask_again(state);
  }
  void operator()(const SwitchPart& c) {
    switch_off(document().edits, c.stack, c.layer, c.part, c.off);
    ask_again(state);
  }
  void operator()(const SwitchPartsOn&) {
    Edits& edits = document().edits;
    for (LayerEdit& edit : std::vector<LayerEdit>(edits.layers)) {
      edit.parts = {};
      set_layer_edit(edits, std::move(edit));
    }
    ask_again(state);
  }
  void operator()(const SwitchHead& c) {
    if (state.view.view == View::compare) state.seeks_most_changed = false;  // the user looks at this change
    switch_off(document().edits, c.head, c.off);
    ask_again(state);
  }
  void operator()(const SwitchAllOn&) { set(document().edits.off, {}); }
  void operator()(const SetWeight& c) {
    set_weight_of_words(state, document().edits, c);
    ask_again(state);
  }
  void operator()(const ClearWeights& c) {
    std::erase_if(document().edits.weights, [&](const WeightEdit& edit) { return !c.head || edit.head == *c.head; });
    ask_again(state);
  }
  void operator()(const SetDropout& c) {
    document().edits.dropout = c.probability;
    state.document.edits.dropout_seed = c.seed;
    ask_again(state);
  }
  void operator()(TakeNumbers& c) { take_numbers(state, c, kind); }
  void operator()(const SetOwnNumber& c) { set_own_number(state, c, kind); }
  void operator()(const ClearEdits&) {
    document().edits = {};
    for (const Stack stack : kStacks) mask_of(state.document, stack).painted.clear();
    ask_again(state);
  }
  void operator()(const AppendWord& c) {
    if (!whole_request(state) || has_own_inputs(state.document)) return;
    append_word(document(), state.view.sentence, c.word, *state.lexicon);
    ask_again(state);
  }
  void operator()(const Generate& c) {
    stop_generating(state);
    end_gesture(state);
    state.view.prefix = 0;
    cut_prefix(state);
    if (c.count <= 0 || problem_of(state)) return;
    edited(state, kind);  // the whole is one step of undo
    state.generation = Generation{c.count, c.sampling};
    generate(state);
  }
  void operator()(const StopGenerating&) { stop_generating(state); }
  void operator()(const Reset&) {
    document() = first_document(state.shipped.get(), state.settings.language);
    ViewState& view = state.view;
    view.one_layer = view.painting = false;
    view.sentence = view.prefix = 0;
    view.viewport = view.compared = {};
    ask_again(state);
    (*this)(ChooseStart{});
  }
  void operator()(const EndGesture&) {
    if (!state.generation) end_gesture(state);
  }
  void operator()(const Undo&) { stop_generating(state), step_through(state, state.undo, state.redo); }
  void operator()(const Redo&) { stop_generating(state), step_through(state, state.redo, state.undo); }

  void operator()(const ChoosePrefix& c) {
    stop_generating(state);
    state.view.prefix = c.count;
    cut_prefix(state);
  }
  void operator()(const ChooseSentence& c) {
    if (c.sentence >= state.requests.size()) return;
    stop_generating(state);
    state.view.sentence = c.sentence;
    cut_prefix(state);
  }
  void operator()(const ChooseHead& c) {
    state.seeks_most_changed = state.chose_start = false;
    choose_head(looked_at(), c.head);
  }
  void operator()(const ChooseStart&) {
    state.opened_view.reset();
    state.awaits_start = true;
    choose_start(state);
  }
  void operator()(const Hover& c) {
    state.view.hovered_head = c.head;
    state.view.hovered = c.cell;
    state.view.hovered_kept = c.kept;
  }
  void operator()(const Pin& c) {
    ViewState& view = looked_at();
    state.chose_start = false;
    Look& look = view.look;
    // A look at the pinned weight moves with the pin.
    if (looks_at_matrices(view.view) && view.pinned && c.cell && look == look_of_weight(view.chosen, *view.pinned))
      look = look_of_weight(view.chosen, *c.cell);
    view.pinned = c.cell;
    view.pinned_kept = c.kept;
    view.text.words.clear();
  }
  void operator()(const SetColourScale& c) {
    ViewState& view = state.view;
    view.scale = Scale::linear;
    view.chose_scale = false;
    if (scale_of_colours(state) == c.scale) return;  // the default of this text is not stored as a choice
    view.scale = c.scale;
    view.chose_scale = true;
  }
  void operator()(const SetFold& c) {
    if (!state.view.stroke) state.view.fold = c.fold;  // during a stroke the cells must not move
  }
  void operator()(FocusText& c) {
    state.view.focus_text = c.on;
    if (c.on) state.view.focus = {};
    state.view.typed = std::move(c.typed);
  }
  void operator()(const ShowView& c) {
    ViewState& view = looked_at();
    const View before = std::exchange(view.view, c.view);
    if (looks_at_matrices(c.view) && !looks_at_matrices(before) && state.trace) look_at_weight();
    if (c.view == View::compare && before != View::compare) state.seeks_most_changed = true;
    seek_most_changed(state);
  }
  /// A view of matrices begins with the weight that is asked about.
  void look_at_weight() {
    ViewState& view = state.view;
    if (!view.pinned) view.pinned = brightest_of_last_row(*state.trace, view.chosen);
    (*this)(LookAt{look_of_weight(view.chosen, *view.pinned)});
  }
  void operator()(LookAt&& c) { (*this)(c); }
  void operator()(LookAt& c) {
    ViewState& view = looked_at();
    if (c.look == view.look && (!c.pin || c.pin == view.pinned) && c.tab.value_or(view.tab) == view.tab) return;
    view.looked.push_back({view.view, std::move(view.look), view.tab, view.chosen, view.pinned});
    if (view.looked.size() > kMostLooked) view.looked.erase(view.looked.begin());
    look_at(view, std::move(c.look));
    if (c.pin) view.pinned = c.pin;
    if (c.tab) view.tab = *c.tab;
  }
  void operator()(const LookBack&) {
    ViewState& view = looked_at();
    if (view.looked.empty()) return;
    LookedAt before = std::move(view.looked.back());
    view.looked.pop_back();
    choose_head(view, before.head);
    look_at(view, std::move(before.look));
    view.tab = before.tab;
    if (!looks_at_matrices(before.view)) view.view = before.view;
    view.pinned = before.pinned;
  }
  void operator()(SetSettings& c) { take_settings(state, std::move(c.settings), kind); }

  void operator()(const Answered& c) { c.take(state); }

  void operator()(const Quit&) { state.quit = true; }

  void operator()(const KeepAnswer&) { keep_answer(state); }
  void operator()(const SwapKept&) { swap_kept(state, kind); }
  void operator()(const DropKept&) {
    state.seeks_most_changed = false;
    state.kept.reset();
    state.comparison.reset();
    state.view.compared = {};
  }
  void operator()(const OpenLesson& c) { open_lesson(state, c.lesson, kind); }
  void operator()(const GoToStep& c) { go_to_step(state, c.step, kind); }
};

using Handlers = std::unordered_map<CommandKind, void (*)(AppState&, Command&)>;

/// These commands are carried out by members of Functions.
template <class Functions, class... Commands>
void add_handlers(Handlers& handlers) {
  (handlers.emplace(command_kind<Commands>,
                    [](AppState& state, Command& command) {
                      Functions{state, command.kind()}(*command.as<Commands>());
                    }),
   ...);
}

/// The viewer's, and those of the tools.
Handlers all_handlers() {
  Handlers handlers;
  add_handlers<Update, SetText, SetTarget, SetSplit, ToggleCut, SetIds, SetTokenTypes, SetPad, SetConfig, UseTrained,
               SetScale, SetMask, GiveMask, PaintCell, ClearPaint, SetLayerScale, ClearLayer, SwitchPart, SwitchPartsOn,
               SwitchHead, SwitchAllOn, SetOffAs, SetWeight, ClearWeights, SetDropout, ClearEdits, AppendWord, Generate,
               StopGenerating, Reset, EndGesture, Undo, Redo, ChoosePrefix, ChooseSentence, ChooseHead, Hover, Pin,
               SetColourScale, SetFold, SetViewport, SetPainting, SetStroke, FocusText, ShowView, LookAt, LookBack,
               ShowTab, SetLens, SetPatch, ShowChanges, SetAlignment, SetScope, SetSampling, SearchWord, ShowHelp,
               SetGradients, SetSettings, NameFile, Quit, OrderHeads, FindHeads, FocusFind, SetFlow, SetTextLook,
               TryWord, SetOwnRange, SetRange, ShowMaps, ShowGrid, ShowPalette, KeepAnswer, SwapKept, DropKept,
               OpenLesson, GoToStep, ChooseExport, OrderDifferences, SetTextPair, SetChat, SetComparedPart, ChooseStart,
               OpenInsideLine, ChooseList, PointAt, FocusControl, SetCode, TakeNumbers, SetOwnNumber, ShowNumbers,
               Answered>(handlers);
  add_handlers<FileUpdate, Browse, OpenPath, SaveSession, ExportTo, CancelFileWork, ModelsListed, FolderListed,
               FileOpened, FileSaved, FileFailed, DismissNotice, ChooseFigure, FigureTo, Copied, Changed, OpenFailed,
               ShowFailure, LeaveFailure>(handlers);
  for (const Tool* tool : tools())
    if (tool->state)
      for (const Handler& handler : tool->state->handlers) handlers.emplace(handler.kind, handler.run);
  return handlers;
}

/// Of a session, a lesson, the settings of another build: a view that is not here, or has nothing to show.
void leave_missing_view(AppState& state) {
  const View view = state.view.view;
  if (can_show(state, view)) return;
  state.view.view = View::heads;
  if (!is_there(view)) state.notice = notice_of(missing_tool("view " + std::string(name(view)), tool_of(view)));
}

}  // namespace

AppState initial_state(const Lexicon& lexicon, Document document, Settings settings, std::vector<Error> model_warnings,
                       std::shared_ptr<const BundledModels> shipped) {
  AppState state;
  state.shipped = std::move(shipped);
  state.lexicon = &lexicon;
  share_model(document, state.shipped.get());
  state.document = state.saved_document = std::move(document);
  state.settings = std::move(settings);
  state.browser.folder = state.settings.folder;
  ask_again(state);
  await_check(state, std::move(model_warnings));
  return state;
}

void update(AppState& state, Command command) {
  static const Handlers handlers = all_handlers();
  assert(handlers.contains(command.kind()));
  handlers.at(command.kind())(state, command);
  leave_missing_view(state);
  if (state.trace) {
    fit_view(state);
    fold_maps(state);
  }
  if (state.view.lesson) mark_done(state);
}

}  // namespace headlight
