#include "session/start_cell.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "derived/head_stats.h"
#include "document/sentence_facts.h"
#include "session/state_rules.h"
#include "train/grammar/sentence_match.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// The relations that a reader understands at once, in order.
constexpr std::string_view kPronoun = "IT", kSamePerson = "CO";
constexpr std::array kFirst{kPronoun, kSamePerson};
/// A smaller weight means nothing in a sentence that was not measured.
constexpr float kLeastWeight = 0.3f;
/// Longer sentences are not searched: the matrices of all heads would be read before a picture is drawn.
constexpr Index kLongestSearched = 512;

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

/// A cell of a sentence that was not measured, and its value: its weight times the relation's gain.
struct WeighedCell {
  const RelationScore* relation = nullptr;
  CellRef cell;
  double value = 0;
};

bool fits(std::string_view relation, const Token& query, const Token& key) {
  if (relation == kSamePerson) return query.text == key.text;
  return relation != kPronoun || (shipped_grammar() && stands_for_a_noun(*shipped_grammar(), query.text));
}

/// The most valuable cell of one head, among the rows that look at a word most.
WeighedCell best_cell_of(const Trace& trace, const RelationScore& relation) {
  const HeadRef head = head_of(relation);
  const auto& tokens = trace.key_tokens(head.stack).tokens;
  WeighedCell best{&relation, {}, 0};
  const Matrix weights = attention_rows(trace, head, 0, trace.queries(head.stack));
  for (Index query = 0; query < weights.rows(); ++query) {
    Index key = 0;
    const float weight = weights.row(query).maxCoeff(&key);
    const Token &from = tokens[at(query)], &to = tokens[at(key)];
    if (query == key || weight < kLeastWeight || from.special || from.pad || to.special || to.pad) continue;
    const double value = static_cast<double>(weight) * gain(relation);
    if (value > best.value && fits(relation.relation, from, to)) best = {&relation, {query, key}, value};
  }
  return best;
}

/// A head that is wrong more often than right comes last.
bool is_better(const WeighedCell& a, const WeighedCell& b) {
  const auto rank = [](const WeighedCell& one) {
    return std::pair(rank_of(*one.relation), one.relation->score.accuracy < 0.5);
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.value > b.value;
}

/// The relations that heads of the answer show, the best first.
std::vector<const RelationScore*> shown_relations(const Trace& trace, const TrainingCard& card) {
  std::vector<const RelationScore*> shown;
  for (const RelationScore& one : card.scores->relations)
    if (is_worn(one) && trace.has(one.stack) && one.chosen.layer < trace.num_layers(one.stack) &&
        one.chosen.head < trace.num_heads(one.stack))
      shown.push_back(&one);
  std::stable_sort(shown.begin(), shown.end(), [](const auto* a, const auto* b) { return is_better(*a, *b); });
  return shown;
}

/// Of the relations that the sentence has: in the word's row the word that the head looks at most.
std::optional<CellRef> cell_of_sentence(const AppState& state, const RelationScore& relation) {
  for (const RelatedWords& words : facts_of(state, relation.stack).relations) {
    if (words.relation != relation.relation) continue;
    const Index query = relation.chosen.reversed ? words.key : words.query;
    if (const auto found = strongest_of_row(*state.trace, head_of(relation), query)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StartCell> start_cell(const AppState& state) {
  const TrainingCard* card = state.document.card.get();
  if (!state.trace || !card || !card->scores) return std::nullopt;
  const Trace& trace = *state.trace;
  const auto shown = shown_relations(trace, *card);
  if (shown.empty()) return std::nullopt;
  for (const RelationScore* one : shown)
    if (const auto cell = cell_of_sentence(state, *one)) return StartCell{head_of(*one), *cell};
  const RelationScore& best = *shown.front();
  if (best.stack == Stack::self && trace.queries(best.stack) <= kLongestSearched) {
    std::optional<WeighedCell> start;
    for (const RelationScore* one : shown) {
      if (one->stack != Stack::self) continue;
      const WeighedCell found = best_cell_of(trace, *one);
      if (found.value > 0 && (!start || is_better(found, *start))) start = found;
    }
    if (start) return StartCell{head_of(*start->relation), start->cell};
  }
  return StartCell{head_of(best), strongest_cell(trace, head_of(best))};
}

void choose_start(AppState& state) {
  if (!state.awaits_start || !state.trace || is_stale(state)) return;
  state.awaits_start = false;
  ViewState& view = state.view;
  const auto start = start_cell(state);
  state.chose_start = start.has_value();
  choose_head(view, start ? start->head : HeadRef{});
  view.pinned = start ? std::optional(start->cell) : std::nullopt;
  view.pinned_kept.reset();
}

}  // namespace headlight
