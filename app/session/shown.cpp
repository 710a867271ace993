#include "session/shown.h"

#include "explain/moved_rows.h"

namespace headlight {

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

bool compares_edits(const AppState& state) { return !state.kept && state.trace && is_edited(state); }

std::shared_ptr<const Trace> compared_trace(const AppState& state) {
  if (state.kept) return state.kept->trace;
  return compares_edits(state) ? state.baseline.answer() : nullptr;
}

std::shared_ptr<const Trace> moved_from(const AppState& state) {
  if (auto compared = compared_trace(state)) return compared;
  if (state.kept || !state.trace || !state.before_edit) return nullptr;
  return changed_word(state.before_edit->request, state.trace->request) ? state.before_edit : nullptr;
}

std::optional<ComparisonQuestion> comparison_question(const AppState& state) {
  if (state.view.view != View::compare || !state.trace) return std::nullopt;
  auto other = compared_trace(state);
  if (!other) return std::nullopt;
  return ComparisonQuestion{std::move(other), state.trace, state.view.chosen};
}

bool is_of_now(const AppState& state) {
  return state.comparison && state.trace && state.comparison->heads->a == compared_trace(state) &&
         state.comparison->heads->b == state.trace.answer();
}

Viewport zoomed(const AppState& state, float factor, const CellRef& around) {
  const Stack stack = state.view.chosen.stack;
  return zoomed(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), factor, around);
}

Viewport panned(const AppState& state, Index queries, Index keys) {
  const Stack stack = state.view.chosen.stack;
  return panned(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), {queries, keys});
}

}  // namespace headlight
