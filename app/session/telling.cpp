#include "session/telling.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "derived/head_stats.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// What tells most to a reader who sees it for the first time.
constexpr std::array<std::string_view, 2> kFirst{"IT", "CO"};

std::size_t rank_of(const RelationScore& relation) {
  return static_cast<std::size_t>(std::find(kFirst.begin(), kFirst.end(), relation.relation) - kFirst.begin());
}

bool is_better(const RelationScore& a, const RelationScore& b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  return gain(a) > gain(b);
}

HeadRef head_of(const RelationScore& relation) { return {relation.chosen.layer, relation.chosen.head, relation.stack}; }

/// The word that a row looks at most, itself left out.
std::optional<CellRef> strongest_of_row(const Trace& trace, const HeadRef& head, Index query) {
  if (query >= trace.queries(head.stack)) return std::nullopt;
  const Matrix row = attention_rows(trace, head, query, 1);
  const auto& keys = trace.key_tokens(head.stack).tokens;
  std::optional<CellRef> best;
  for (Index key = 0; key < row.cols(); ++key)
    if (key != query && !keys[static_cast<std::size_t>(key)].special && (!best || row(0, key) > row(0, best->key)))
      best = CellRef{query, key};
  return best;
}

}  // namespace

std::optional<TellingCell> telling_cell(const AppState& state) {
  const Document& document = state.document;
  if (!state.trace || !document.card || !document.card->scores) return std::nullopt;
  const Trace& trace = *state.trace;
  const RelationScore *of_sentence = nullptr, *best = nullptr;
  std::optional<CellRef> cell;
  for (const RelationScore& one : document.card->scores->relations) {
    const HeadRef head = head_of(one);
    if (!is_worn(one) || !trace.has(head.stack) || head.layer >= trace.num_layers(head.stack) ||
        head.head >= trace.num_heads(head.stack))
      continue;
    if (!best || is_better(one, *best)) best = &one;
    for (const RelatedWords& words : facts_of(state, head.stack).relations) {
      if (words.relation != one.relation || (of_sentence && !is_better(one, *of_sentence))) continue;
      const auto found = strongest_of_row(trace, head, one.chosen.reversed ? words.key : words.query);
      if (!found) continue;
      of_sentence = &one;
      cell = found;
    }
  }
  if (of_sentence) return TellingCell{head_of(*of_sentence), *cell};
  if (!best) return std::nullopt;
  return TellingCell{head_of(*best), strongest_cell(trace, head_of(*best))};
}

void tell(AppState& state) {
  if (!state.telling || !state.trace || is_stale(state)) return;
  state.telling = false;
  ViewState& view = state.view;
  const auto told = telling_cell(state);
  const HeadRef head = told ? told->head : HeadRef{};
  if (head.stack != view.chosen.stack) view.viewport = view.compared = {};
  view.chosen = head;
  view.pinned = told ? std::optional(told->cell) : std::nullopt;
  view.pinned_kept.reset();
  view.look.matrix = matrix_id(view.look.matrix.quantity, head);
}

}  // namespace headlight
