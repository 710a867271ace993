#include "session/state_rules.h"

#include <algorithm>

#include "derived/answer_comparison.h"
#include "models/model_choice.h"
#include "question/tokenizers.h"
#include "read/external/page_text.h"
#include "session/file/open_file.h"
#include "session/lesson_commands.h"
#include "session/number_commands.h"
#include "session/shown.h"
#include "session/tool_state.h"
#include "session/typing.h"
#include "session/update.h"
#include "view/start_cell.h"

namespace headlight {
namespace {

/// A head that the answer has.
HeadRef fitted(const Trace& trace, HeadRef head) {
  if (!trace.has(head.stack)) head.stack = Stack::self;
  head.layer = std::clamp<Index>(head.layer, 0, trace.num_layers(head.stack) - 1);
  head.head = std::clamp<Index>(head.head, 0, trace.num_heads(head.stack) - 1);
  return head;
}

/// Whether a notice offers to undo such edits. A typed text is visible in its box and needs none.
bool is_announced(CommandKind kind) {
  return is_one_of<SetSplit, ToggleCut, SetPad, SetConfig, UseTrained, SetScale, SetMask, GiveMask, PaintCell,
                   ClearPaint, SetLayerScale, ClearLayer, SwitchPart, SwitchPartsOn, SwitchHead, SwitchAllOn, SetOffAs,
                   SetWeight, ClearWeights, SetDropout, TakeNumbers, SetOwnNumber>(kind);
}

/// Removes a notice that offers to undo: it is about the last change only.
void forget_change(AppState& state) {
  if (state.notice && state.notice->kind == Notice::Kind::changed) state.notice.reset();
}

/// Longer sentences' answers are not kept for a mark beside a row.
constexpr std::size_t kMostKeptTokens = 128;

void keep_before_edit(AppState& state) {
  if (is_stale(state)) return;
  const Request& asked = state.trace->request;
  state.before_edit = asked.tokens.size() + asked.target.size() <= kMostKeptTokens ? state.trace.answer() : nullptr;
}

/// The answer on the screen, which must be that to what is asked.
AnswerSnapshot answer_now(const AppState& state) {
  return {state.trace, state.document, state.view.sentence, state.view.prefix, shown_step(state)};
}

}  // namespace

Document first_document(const BundledModels* models, Language language) {
  Document document = default_document(models);
  if (language == Language::en) document.source.text = kEnglishSentence;
  return document;
}

const BundledModel* trained_before(const AppState& state) {
  if (!state.shipped || state.shipped->empty()) return nullptr;
  const Config& now = state.document.config;
  for (auto step = state.undo.rbegin(); step != state.undo.rend(); ++step) {
    if (!step->trained || !is_shipped(*step)) continue;
    if (is_any_sentence(*step)) return &state.shipped->front();  // the sentence chooses between the two
    for (const BundledModel& one : *state.shipped)
      if (one.source == step->model_path && one.model->config.arch == now.arch) return &one;
    break;
  }
  return nearest_model(*state.shipped, now);
}

void drop_foreign_edits(Document& document, const Config& before) {
  const Config& now = config_of(document);
  if (now.ffn == 0)  // there is none to be switched off
    for (const LayerEdit& edit : std::vector<LayerEdit>(document.edits.layers))
      if (edit.parts.ffn) switch_off(document.edits, edit.stack, edit.layer, BlockPart::ffn, false);
  if (now.arch == before.arch && now.num_heads == before.num_heads && now.num_layers == before.num_layers &&
      now.layers_of_encoder() == before.layers_of_encoder())
    return;
  document.edits.off.clear();
  document.edits.weights.clear();
  document.edits.layers.clear();
  if (now.arch != before.arch)
    for (const Stack stack : kStacks) mask_of(document, stack).painted.clear();
}

void choose_start(AppState& state) {
  if (!state.awaits_start || !state.trace || is_stale(state)) return;
  state.awaits_start = false;
  ViewState& view = state.view;
  const auto start = start_cell(state.document, *state.trace, arcs_of(state));
  state.chose_start = start.has_value();
  choose_head(view, start ? start->head : HeadRef{});
  view.pinned = start ? std::optional(start->cell) : std::nullopt;
  view.pinned_kept.reset();
}

void move_pin(AppState& state, const Trace& before) {
  ViewState& view = state.view;
  if (view.pinned) view.pinned = same_words(before, *state.trace, view.chosen.stack, *view.pinned);
}

void choose_by_sentence(AppState& state) {
  std::vector<const Document*> seen;
  for (const auto* steps : {&state.undo, &state.redo})
    for (const Document& one : *steps) seen.push_back(&one);
  if (state.gesture) seen.push_back(&*state.gesture);
  const auto model = state.document.model;
  const Config shape = config_of(state.document);
  if (const Status chosen = choose_model(state.document, state.shipped.get(), seen, true); !chosen)
    state.notice = notice_of(chosen.error());
  else if (state.document.model != model) {
    drop_foreign_edits(state.document, shape);
    state.awaits_start = true;  // the chosen head means nothing in another model
  }
}

void cut_prefix(AppState& state) {
  state.prefix.reset();
  const Request* whole = whole_request(state);
  if (!whole || state.view.prefix == 0) return;
  state.prefix = prefix_of(*whole, state.view.prefix);
  if (*state.prefix == *whole) state.prefix.reset();
}

void ask_again(AppState& state) {
  auto requests = requests_of(state.document, *state.lexicon);
  state.problem = requests ? std::optional<Error>() : requests.error();
  state.requests = requests ? std::move(*requests) : std::vector<Request>{};
  if (!state.requests.empty()) state.view.sentence = std::min(state.view.sentence, state.requests.size() - 1);
  cut_prefix(state);
  // An answer of another model cannot be compared, and would keep that model in memory.
  if (state.before_edit && state.before_edit->request.model != state.document.model) state.before_edit.reset();
  if (state.document.numbers != state.checked_numbers) {
    state.checked_numbers = state.document.numbers;
    const auto check = of_tools(&Tool::check_numbers);
    state.numbers_found.reset();
    if (check && state.checked_numbers)
      state.numbers_found = std::make_shared<const std::vector<Mistake>>(check(*state.checked_numbers));
    if (state.view.numbers) state.view.numbers = dialog_on_first(state);  // samples, Undo
  }
  if (is_shipped(state.document) && !loaded_model(state)) await_check(state, {});  // chosen without being opened
}

void end_gesture(AppState& state) {
  if (!state.gesture) return;
  const bool typed = is_typing(state);
  if (typed && !(*state.gesture == state.document)) rest_text(state);
  if (!(*state.gesture == state.document)) {
    if (is_announced(state.gesture_kind)) state.notice = Notice{Notice::Kind::changed, {}};
    state.undo.push_back(std::move(*state.gesture));
    if (state.undo.size() > kMostUndo) state.undo.erase(state.undo.begin());
    state.redo.clear();
  }
  state.gesture.reset();
  if (typed) choose_start(state);
}

Document& edited(AppState& state, CommandKind kind) {
  if (state.gesture && state.gesture_kind != kind) end_gesture(state);
  forget_change(state);
  if (!state.gesture) {
    keep_before_edit(state);
    state.gesture = state.document;
    state.gesture_kind = kind;
  }
  return state.document;
}

void step_through(AppState& state, std::vector<Document>& from, std::vector<Document>& to) {
  end_gesture(state);
  forget_change(state);
  if (from.empty()) return;
  // What was opened is no longer what is asked.
  if (state.notice && state.notice->kind == Notice::Kind::opened) state.notice.reset();
  to.push_back(std::move(state.document));
  state.document = std::move(from.back());
  from.pop_back();
  if (to.back().source.text != state.document.source.text) state.awaits_start = state.awaits_start || state.chose_start;
  ask_again(state);
}

void fit_view(AppState& state) {
  const Trace& trace = *state.trace;
  ViewState& view = state.view;
  view.chosen = fitted(trace, view.chosen);
  const auto outside = [&](const std::optional<CellRef>& cell, Stack stack) {
    return cell && (cell->query >= trace.queries(stack) || cell->key >= trace.keys(stack));
  };
  if (view.hovered_head && fitted(trace, *view.hovered_head) != *view.hovered_head) view.hovered_head.reset();
  if (outside(view.hovered, view.hovered_head ? view.hovered_head->stack : view.chosen.stack)) view.hovered.reset();
  const Stack stack = view.chosen.stack;
  if (outside(view.pinned, stack)) view.pinned.reset();
  std::erase_if(view.text.words, [&, most = view.text.columns ? trace.keys(stack) : trace.queries(stack)](Index word) {
    return word >= most;
  });
  if (const auto other = compared_trace(state); !other || !other->has(stack)) {
    view.hovered_kept.reset();
    view.pinned_kept.reset();
  } else {
    for (auto* cell : {&view.hovered_kept, &view.pinned_kept})
      if (*cell && ((*cell)->query >= other->queries(stack) || (*cell)->key >= other->keys(stack))) cell->reset();
  }
  const Viewport& part = view.viewport;
  if (part.first_query + part.num_queries > trace.queries(stack) || part.first_key + part.num_keys > trace.keys(stack))
    view.viewport = {};
  const Viewport& both = view.compared;
  if (const JointStack* joint = state.comparison ? state.comparison->heads->stack(stack) : nullptr;
      joint && (both.num_queries <= 0 || both.num_keys <= 0 ||
                both.first_query + both.num_queries > static_cast<Index>(joint->queries.size()) ||
                both.first_key + both.num_keys > static_cast<Index>(joint->keys.size())))
    view.compared = {};
}

void fold_maps(AppState& state) {
  const bool of_now = state.folded && state.folded->trace == state.trace.answer();
  const FoldChoice fold = drawn_fold(state.view);
  if (of_now && state.folded->wanted == fold) return;
  if (folds_at_once(*state.trace) || fold == FoldChoice{})
    state.folded.put({state.trace, fold}, folded_maps(state.trace, fold));
  else if (!of_now)
    state.folded.put({state.trace, {}}, folded_maps(state.trace, {}));  // until a worker has folded them
}

void choose_head(ViewState& view, const HeadRef& head) {
  if (head.stack != view.chosen.stack) {
    view.viewport = view.compared = {};
    view.pinned.reset();
    view.pinned_kept.reset();
    view.text.words.clear();
  }
  view.chosen = head;
  view.look.matrix = matrix_id(view.look.matrix.quantity, head);
}

void look_at(ViewState& view, Look look) {
  const MatrixId& id = look.matrix;
  if (is_per_head(id.quantity)) choose_head(view, {id.layer, id.head, id.stack});
  view.look = std::move(look);
}

void keep_baseline(AppState& state) {
  Request plain = unedited(state.trace->request);
  if (plain == state.trace->request) state.baseline.put(std::move(plain), state.trace);
  else if (state.baseline && !(state.baseline->request == plain)) state.baseline.reset();
}

void stop_generating(AppState& state) {
  if (!state.generation) return;
  state.generation.reset();
  end_gesture(state);
}

void generate(AppState& state) {
  if (!state.generation || is_stale(state)) return;
  const auto word = next_word(*state.trace, state.generation->sampling);
  if (!word) {
    state.notice = notice_of(word.error());
    return stop_generating(state);
  }
  if (is_end(state.document.tokenizers.get(), word->id)) return stop_generating(state);
  append_word(state.document, state.view.sentence, *word, *state.lexicon);
  ask_again(state);
  if (--state.generation->left == 0 || state.requests.empty()) stop_generating(state);
}

void keep(AppState& state, AnswerSnapshot answer) {
  SnapshotQuestion question{answer, answer.trace != nullptr};
  state.kept.put(std::move(question), std::make_shared<const AnswerSnapshot>(std::move(answer)));
}

void keep_answer(AppState& state) {
  if (!state.trace || is_stale(state)) return;
  keep(state, answer_now(state));
  state.view.pinned_kept.reset();
  state.seeks_most_changed = true;
}

/// The cell of a head that changed most of those that both answers have, in place of the one that an answer began with.
void pin_most_changed(AppState& state, const HeadDifference& head, const JointStack& stack) {
  const bool whole = head.map.rows() == static_cast<Index>(stack.queries.size()) &&
                     head.map.cols() == static_cast<Index>(stack.keys.size());
  if (!whole || !state.chose_start) return;
  CellRef cell;
  head.map.unaryExpr([](float b_minus_a) { return std::isfinite(b_minus_a) ? std::abs(b_minus_a) : -1; })
      .maxCoeff(&cell.query, &cell.key);
  state.view.pinned = cells_behind(stack, cell).b;
  state.view.pinned_kept.reset();
}

void seek_most_changed(AppState& state) {
  if (!state.seeks_most_changed || state.view.view != View::compare || !is_of_now(state) || is_stale(state)) return;
  state.seeks_most_changed = false;
  const ComparedHeads& compared = *state.comparison->heads;
  const auto order = heads_by(compared, state.view.chosen.stack, state.view.differences);
  const HeadDifference* first = order.empty() ? nullptr : compared.head(order.front());
  if (!first || !order_value(*first, DifferenceOrder::largest).value_or(0)) return;
  choose_head(state.view, first->head);
  pin_most_changed(state, *first, *compared.stack(first->head.stack));
}

void swap_kept(AppState& state, CommandKind kind) {
  if (!state.kept || !state.trace || is_stale(state)) return;
  stop_generating(state);
  end_gesture(state);
  AnswerSnapshot before = answer_now(state);
  AnswerSnapshot asked = *state.kept;
  if (const auto show_step = of_tools(&ToolState::show_step); show_step && asked.step)
    show_step(state, *asked.step, asked.document);
  edited(state, kind) = std::move(asked.document);
  end_gesture(state);
  state.view.sentence = asked.sentence;
  state.view.prefix = asked.prefix;
  state.view.pinned_kept.reset();
  keep(state, std::move(before));
  ask_again(state);
}

void await_check(AppState& state, std::vector<Error> warnings) {
  std::erase_if(state.loaded, [](const LoadedModel& loaded) { return loaded.model.expired(); });
  if (!state.document.model || has_own_inputs(state.document)) return;
  if (!loaded_model(state)) state.loaded.push_back({state.document.model, std::move(warnings)});
}

}  // namespace headlight
