#include "session/shown.h"

#include <algorithm>

#include "explain/moved_rows.h"
#include "math/attention.h"
#include "math/output.h"

namespace headlight {

Scale scale_of_colours(const AppState& state) {
  const ViewState& view = state.view;
  if (view.chose_scale || view.scale == Scale::log || !state.trace || shown_grids(state)) return view.scale;
  const Trace& trace = *state.trace;
  const Stack stack = view.chosen.stack;
  return std::max(trace.queries(stack), trace.keys(stack)) > kMostWords ? Scale::log : Scale::linear;
}

MapKind wanted_kind(const AppState& state) {
  const bool draws_maps = state.view.view == View::heads || state.view.view == View::train;
  return draws_maps ? state.view.maps : MapKind::weights;
}

const DerivedMaps* shown_maps(const AppState& state, Stack stack) {
  const DerivedMaps* maps = state.other_maps.get();
  if (wanted_kind(state) == MapKind::weights || !maps || maps->trace != state.trace) return nullptr;
  return maps->stacks[static_cast<std::size_t>(stack)].empty() ? nullptr : maps;
}

MapKind shown_kind(const AppState& state, Stack stack) {
  const DerivedMaps* maps = shown_maps(state, stack);
  return maps ? maps->kind : MapKind::weights;
}

namespace {

/// How many rows or columns the chosen stack's maps have, as they are shown.
Index words_of_maps(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack))
    return std::max(std::ssize(folded->fold.queries.groups), std::ssize(folded->fold.keys.groups));
  return std::max(state.trace->queries(stack), state.trace->keys(stack));
}

/// The tokens that a cell is shown with: those of its two words, or its own.
std::pair<FoldedAxis::Group, FoldedAxis::Group> tokens_of_words(const AppState& state, Stack stack,
                                                                const CellRef& cell) {
  const FoldedStack* folded = shown_fold(state, stack);
  const auto at = folded ? folded->fold.groups_of(cell) : std::nullopt;
  if (!at) return {{cell.query}, {cell.key}};
  return {folded->fold.queries.tokens_of(at->query), folded->fold.keys.tokens_of(at->key)};
}

/// The words of the longer joint axis of what is compared; 0: there are none whose weights could be subtracted.
Index words_compared(const AppState& state) {
  if (!state.comparison || state.comparison->heads->too_long || shows_picture(state) || state.trace->is_signed)
    return 0;
  const JointStack* stack = state.comparison->heads->stack(state.comparison->chosen.stack);
  return stack && !shares_no_cell(*stack) && stack->in_both
             ? std::max(std::ssize(stack->queries), std::ssize(stack->keys))
             : 0;
}

}  // namespace

bool offers_sentence(const AppState& state) {
  return state.trace && state.view.view == View::heads && !shows_picture(state) && !state.trace->is_signed &&
         words_of_maps(state) <= kMostWordsOfStage;
}

StageForm stage_form(const AppState& state) {
  const ViewState& view = state.view;
  const bool of_map = !state.trace || view.view != View::heads || view.painting ||
                      shown_kind(state, view.chosen.stack) != MapKind::weights;
  if (of_map) return StageForm::map;
  if (shows_picture(state))
    return view.text.form.value_or(StageForm::text) == StageForm::map ? StageForm::map : StageForm::text;
  const Index words = words_of_maps(state);
  const StageForm usual = view.lesson || state.trace->is_signed ? StageForm::map
                          : words > kUsualWordsOfStage          ? StageForm::text
                                                                : StageForm::sentence;
  StageForm form = view.text.form.value_or(usual);
  if (state.trace->is_signed && form == StageForm::sentence) form = StageForm::map;  // arcs are of weights
  if (form != StageForm::sentence) return form;
  return words > kMostWordsOfStage ? StageForm::text : view.viewport != Viewport{} ? StageForm::map : form;
}

ShadeChoice shade_choice(const ViewState& view) {
  ShadeChoice choice{view.chosen, view.text.heads, view.text.columns, view.text.words};
  if (choice.words.empty() && view.pinned)
    choice.words.push_back(choice.columns ? view.pinned->key : view.pinned->query);
  return choice;
}

ShadeChoice shade_choice(const AppState& state) {
  ShadeChoice choice = shade_choice(state.view);
  if (!shows_picture(state)) return choice;
  if (choice.columns && !is_all_of_picture(*state.trace)) {  // queries have no places
    choice.columns = false, choice.words.clear();
    if (state.view.pinned) choice.words.push_back(state.view.pinned->query);
  }
  if (choice.words.empty()) choice.words.push_back(first_token(*state.trace));
  return choice;
}

bool shows_picture(const AppState& state) { return state.trace && is_of_picture(*state.trace); }

const PictureGrids* shown_grids(const AppState& state) {
  const PictureGrids* grids = state.grids.get();
  return grids && grids->trace == state.trace && grid_question(state) ? grids : nullptr;
}

std::optional<GridQuestion> grid_question(const AppState& state) {
  if (!shows_picture(state) || state.view.view != View::heads ||
      shown_kind(state, state.view.chosen.stack) != MapKind::weights)
    return std::nullopt;
  ShadeChoice choice = shade_choice(state);
  choice.head = {};
  choice.heads = ShadeHeads::head;
  return GridQuestion{state.trace, std::move(choice)};
}

std::optional<ShadeQuestion> shade_question(const AppState& state) {
  if (!shows_text(state)) return std::nullopt;
  ShadeChoice choice = shade_choice(state);
  if (choice.words.empty()) return std::nullopt;
  const bool folds = shown_fold(state, choice.head.stack) != nullptr;
  return ShadeQuestion{state.trace, folds ? state.folded.answer() : nullptr, std::move(choice)};
}

bool shows_tokens(const AppState& state) {
  const FoldedStack* folded = shown_fold(state, state.view.chosen.stack);
  return !folded || is_of_tokens(folded->fold);
}

float weight_of_words(const AppState& state, const HeadRef& head, const CellRef& cell) {
  const auto [queries, keys] = tokens_of_words(state, head.stack, cell);
  const Matrix rows = attention_rows(*state.trace, head, queries.first, queries.count);
  float sum = 0;
  for (Index i = 0; i < queries.count; ++i)
    for (Index key = keys.first; key < keys.first + keys.count; ++key) {
      const WeightEdit* edit = edited_weight(state.document.edits, head, {queries.first + i, key});
      sum += edit ? edit->weight : std::max(0.0f, rows(i, key));
    }
  return sum / static_cast<float>(queries.count);
}

void set_weight_of_words(const AppState& state, Edits& edits, const SetWeight& wish) {
  const HeadRef& head = wish.head;
  const bool is_there = state.trace && state.trace->has(head.stack) &&
                        head.layer < state.trace->num_layers(head.stack) &&
                        head.head < state.trace->num_heads(head.stack);
  if (!is_there) return set_weight(edits, head, wish.cell, wish.weight);
  const auto [queries, keys] = tokens_of_words(state, head.stack, wish.cell);
  if (queries.count == 1 && keys.count == 1) return set_weight(edits, wish.head, wish.cell, wish.weight);
  const Matrix rows = attention_rows(*state.trace, wish.head, queries.first, queries.count).cwiseMax(0.0f);
  for (Index i = 0; i < queries.count; ++i) {
    const float sum = rows.row(i).segment(keys.first, keys.count).sum();
    for (Index key = keys.first; key < keys.first + keys.count; ++key) {
      const float share = sum > 0 ? rows(i, key) / sum : 1 / static_cast<float>(keys.count);
      set_weight(edits, wish.head, {queries.first + i, key},
                 wish.weight ? std::optional(*wish.weight * share) : std::nullopt);
    }
  }
}

bool compares_edits(const AppState& state) { return !state.kept && state.trace && is_edited(state); }

std::shared_ptr<const Trace> compared_trace(const AppState& state) {
  if (state.trace && state.trace->is_signed) return nullptr;
  if (state.kept) return state.kept->trace;
  return compares_edits(state) ? state.baseline.answer() : nullptr;
}

std::shared_ptr<const Trace> moved_from(const AppState& state) {
  if (auto compared = compared_trace(state)) return compared;
  if (state.kept || !state.trace || !state.before_edit) return nullptr;
  return changed_word(state.before_edit->request, state.trace->request) ? state.before_edit : nullptr;
}

bool is_read_later(const Trace& trace, const HeadRef& head) {
  return head.stack == Stack::encoder || head.layer + 1 < trace.num_layers(head.stack);
}

bool only_unread_heads_off(const AppState& state) {
  if (!compares_edits(state)) return false;
  Request rest = state.trace->request;
  const std::vector<HeadRef> off = std::exchange(rest.edits.off, {});
  return rest == unedited(state.trace->request) &&
         std::ranges::none_of(off, [&](const HeadRef& head) { return is_read_later(*state.trace, head); });
}

std::optional<ComparisonQuestion> comparison_question(const AppState& state) {
  if (state.view.view != View::compare || !state.trace) return std::nullopt;
  auto other = compared_trace(state);
  if (!other) return std::nullopt;
  const auto guess = guess_question(state);
  return ComparisonQuestion{std::move(other),
                            state.trace,
                            state.view.chosen,
                            guess ? guess->hidden : std::nullopt,
                            state.view.alignment.value_or(Alignment::words),
                            drawn_fold(state.view)};
}

PatchMeasure patch_measure(const ViewState& view, const Trace& trace) {
  PatchMeasure measure{view.patch.metric, view.patch.words, {}};
  if (classifies(*trace.model)) return measure;
  const Token& read = trace.query_tokens().tokens[static_cast<std::size_t>(trace.answering)];
  const bool pinned = view.patch.at_pinned.value_or(trace.request.config.arch == Arch::encoder && !is_masked(read));
  if (pinned && view.pinned && view.chosen.stack != Stack::encoder && view.pinned->query < trace.queries())
    measure.query = view.pinned->query;
  return measure;
}

bool offers_changes(const AppState& state) {
  const Index words = words_compared(state);
  return words > 0 && words <= kMostWordsOfStage;
}

bool shows_changes(const AppState& state) {
  const bool usual = !state.view.lesson && words_compared(state) <= kUsualWordsOfStage;
  return offers_changes(state) && state.view.changes.value_or(usual) && state.view.compared == Viewport{};
}

Alignment drawn_alignment(const AppState& state) {
  const auto other = state.view.patch.on ? compared_trace(state) : nullptr;
  const Stack stack = state.view.chosen.stack;
  if (!other || !state.trace || !other->has(stack) || !state.trace->has(stack))
    return state.view.alignment.value_or(Alignment::words);
  return patch_alignment(static_cast<std::size_t>(other->queries(stack)),
                         static_cast<std::size_t>(state.trace->queries(stack)), state.view.alignment);
}

std::optional<PatchQuestion> patch_question(const AppState& state) {
  const ViewState& view = state.view;
  if (view.view != View::compare || !view.patch.on || !state.trace || is_stale(state)) return std::nullopt;
  auto other = compared_trace(state);
  if (!other) return std::nullopt;
  PatchQuestion question{std::move(other), state.trace.answer(),
                         patch_choice(view.patch.form, view.chosen, view.alignment, patch_measure(view, *state.trace))};
  const PatchMap* last = state.patch.get();
  if (!last || !last->is_of(question.a, question.b, question.choice)) return question;
  question.known = last->is_whole() || view.patch.stopped ? state.patch.question()->known : last->known;
  return question;
}

bool is_of_now(const AppState& state) {
  return state.comparison && state.trace &&
         state.comparison->heads->alignment == state.view.alignment.value_or(Alignment::words) &&
         state.comparison->heads->fold == drawn_fold(state.view) &&
         state.comparison->heads->a == compared_trace(state) && state.comparison->heads->b == state.trace.answer();
}

const Fold* fold_in_view(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack)) return &folded->fold;
  const JointStack* joint =
      state.view.view == View::compare && is_of_now(state) ? state.comparison->heads->stack(stack) : nullptr;
  return joint && joint->b.done != FoldChoice{} ? &joint->b : nullptr;
}

std::optional<ArcsQuestion> arcs_question(const AppState& state) {
  const auto& card = state.document.card;
  if (!state.trace || !card || state.trace->request.model != state.document.model) return std::nullopt;
  return ArcsQuestion{state.trace.answer(), card};
}

std::shared_ptr<const SentenceArcs> arcs_in(const ArcsQuestion& question, const std::atomic<bool>&) {
  const auto trace = question.trace.lock();
  const auto card = question.card.lock();
  if (!trace || !card) return nullptr;
  return std::make_shared<const SentenceArcs>(named_arcs(*card, *trace));
}

}  // namespace headlight
