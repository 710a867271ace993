#include "session/head_grid.h"

#include <algorithm>

#include "derived/derived_maps.h"
#include "session/shown.h"

namespace headlight {
namespace {

using By = HeadOrder::By;

const StrongestCell* found_cell(const AppState& state, const HeadRef& head) {
  if (!state.view.find.on || !state.heads || state.heads->words != state.view.find.words) return nullptr;
  return entry_of(state.heads->found, head);
}

bool is_found(const AppState& state, const StrongestCell& cell) {
  return cell.cell && cell.weight > state.view.find.above;
}

/// Heads are named by what they do wherever that takes no longer than the answer did: unless the sentence is very long.
bool is_quickly_measured(const Trace& trace) {
  constexpr Index kMostCells = 40'000'000;
  Index cells = 0;
  for (const Stack stack : kStacks)
    if (trace.has(stack))
      cells += trace.num_layers(stack) * trace.num_heads(stack) * trace.queries(stack) * trace.keys(stack);
  return cells <= kMostCells;
}

}  // namespace

std::optional<HeadQuestion> head_question(const AppState& state) {
  const ViewState& view = state.view;
  if (!state.trace) return std::nullopt;
  HeadQuestion question{.trace = state.trace, .measures = is_quickly_measured(*state.trace)};
  if (view.view != View::heads) return question.measures ? std::optional(std::move(question)) : std::nullopt;
  question.measures = question.measures || view.order.by == By::measure;
  if (view.find.on) question.words = view.find.words;
  const bool asks = question.measures || question.words;
  return asks ? std::optional(std::move(question)) : std::nullopt;
}

bool has_more_heads(const AppState& state) {
  return state.trace && heads_of(*state.trace, state.view.chosen.stack).size() > kMostShown;
}

bool has_many_heads(const AppState& state) {
  constexpr std::size_t kMany = 64;
  return state.trace && heads_of(*state.trace, state.view.chosen.stack).size() >= kMany;
}

bool shows_some_heads(const AppState& state) {
  const ViewState& view = state.view;
  return state.trace && view.view == View::heads && view.grid == GridShow::maps && view.order.by == By::layer &&
         !view.find.on && !is_of_layers(shown_kind(state, view.chosen.stack)) && has_more_heads(state);
}

std::vector<HeadRef> telling_heads(const AppState& state) {
  std::vector<HeadRef> heads = heads_of(*state.trace, state.view.chosen.stack);
  const auto value = [&](const HeadRef& head) {
    const auto* entry = state.ranking ? entry_of(state.ranking->entries, head) : nullptr;
    return entry ? entry->value : 0.0f;
  };
  std::ranges::stable_sort(heads, [&](const HeadRef& a, const HeadRef& b) { return value(a) > value(b); });
  const auto resting = std::ranges::find_if(heads, [&](const auto& it) { return value(it) < kLeastShown; });
  const auto active = std::max(kLeastShownHeads, static_cast<std::size_t>(resting - heads.begin()));
  heads.resize(std::min(active, heads.size()));
  return heads;
}

std::vector<HeadRef> first_with(std::vector<HeadRef> telling, const HeadRef& chosen, std::size_t most) {
  telling.resize(std::min(most, telling.size()));
  if (!telling.empty() && std::ranges::find(telling, chosen) == telling.end()) telling.back() = chosen;
  std::ranges::sort(telling);
  return telling;
}

GridShow shown_grid(const AppState& state) {
  if (state.view.view != View::heads) return GridShow::maps;
  return state.view.grid == GridShow::all && !has_more_heads(state) ? GridShow::maps : state.view.grid;
}

const HeadMeasures* last_measures(const AppState& state, const HeadRef& head) {
  return state.heads ? entry_of(state.heads->measures, head) : nullptr;
}

const HeadStats* known_heads(const AppState& state) {
  return state.heads && state.trace && state.heads->trace == state.trace.answer() ? state.heads.get() : nullptr;
}

const std::vector<HeadEffect>* known_effects(const AppState& state) { return state.effects.to({state.trace}); }

const std::vector<RelationScore>* known_layer_scores(const AppState& state) {
  return state.layer_scores.to({state.document.model});
}

std::vector<HeadRef> shown_order(const AppState& state) {
  if (!state.trace || (state.view.order.by == By::found && !state.view.find.on)) return {};
  const bool failed = state.effects.error_of({state.trace}) != nullptr;
  return heads_in_order(heads_of(*state.trace, state.view.chosen.stack), state.view.order, state.heads.get(),
                        failed ? nullptr : state.effects.get());
}

std::optional<float> order_value(const AppState& state, const HeadRef& head) {
  if (state.view.order.by == By::found && !state.view.find.on) return std::nullopt;
  return order_number(state.view.order, head, known_heads(state), known_effects(state));
}

bool is_passed_over(const AppState& state, const HeadRef& head) {
  const StrongestCell* cell = found_cell(state, head);
  return cell && !is_found(state, *cell);
}

std::optional<Index> count_found(const AppState& state) {
  if (!state.view.find.on || !known_heads(state) || state.heads->words != state.view.find.words) return std::nullopt;
  return std::ranges::count_if(state.heads->found, [&](const StrongestCell& cell) {
    return cell.head.stack == state.view.chosen.stack && is_found(state, cell);
  });
}

bool lacks_words(const AppState& state) {
  const StrongestCell* cell = known_heads(state) ? found_cell(state, state.view.chosen) : nullptr;
  return cell && !cell->cell;
}

WordPair words_of_cell(const AppState& state, const CellRef& cell) {
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack)) {
    const auto word = [](const FoldedAxis& axis, Index token) {
      const auto group = axis.group(token);
      return group ? axis.tokens[static_cast<std::size_t>(*group)].text : std::string();
    };
    return {word(folded->fold.queries, cell.query), word(folded->fold.keys, cell.key)};
  }
  const auto text = [](const Tokens& tokens, Index at) { return tokens.tokens[static_cast<std::size_t>(at)].text; };
  return {text(state.trace->query_tokens(stack), cell.query), text(state.trace->key_tokens(stack), cell.key)};
}

}  // namespace headlight
