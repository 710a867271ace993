#include "session/telling.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "derived/head_stats.h"
#include "document/sentence_facts.h"
#include "train/grammar/sentence_match.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

/// The relations that a reader understands at once, in order.
constexpr std::string_view kPronoun = "IT", kSamePerson = "CO";
constexpr std::array kFirst{kPronoun, kSamePerson};
/// A weight below this says nothing of a sentence that was not measured.
constexpr float kLeastTelling = 0.3f;
/// Longer sentences are not searched: the matrices of all heads would be read before a picture is drawn.
constexpr Index kLongestTold = 512;

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

/// A cell of a sentence that was not measured, and what it tells: its weight times the relation's gain.
struct Told {
  const RelationScore* relation = nullptr;
  CellRef cell;
  double telling = 0;
};

bool fits(std::string_view relation, const Token& query, const Token& key) {
  if (relation == kSamePerson) return query.text == key.text;
  return relation != kPronoun || (shipped_grammar() && stands_for_a_noun(*shipped_grammar(), query.text));
}

/// The most telling cell of one head, among the rows that look at a word most.
Told told_of(const Trace& trace, const RelationScore& relation) {
  const HeadRef head = head_of(relation);
  const auto& tokens = trace.key_tokens(head.stack).tokens;
  Told best{&relation, {}, 0};
  const Matrix weights = attention_rows(trace, head, 0, trace.queries(head.stack));
  for (Index query = 0; query < weights.rows(); ++query) {
    Index key = 0;
    const float weight = weights.row(query).maxCoeff(&key);
    const Token &from = tokens[at(query)], &to = tokens[at(key)];
    if (query == key || weight < kLeastTelling || from.special || from.pad || to.special || to.pad) continue;
    const double telling = static_cast<double>(weight) * gain(relation);
    if (telling > best.telling && fits(relation.relation, from, to)) best = {&relation, {query, key}, telling};
  }
  return best;
}

/// A head that is wrong more often than right comes last.
bool is_better(const Told& a, const Told& b) {
  const auto rank = [](const Told& one) {
    return std::pair(rank_of(*one.relation), one.relation->score.accuracy < 0.5);
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.telling > b.telling;
}

/// The relations that heads of the answer wear, the best first.
std::vector<const RelationScore*> worn_relations(const Trace& trace, const TrainingCard& card) {
  std::vector<const RelationScore*> worn;
  for (const RelationScore& one : card.scores->relations)
    if (is_worn(one) && trace.has(one.stack) && one.chosen.layer < trace.num_layers(one.stack) &&
        one.chosen.head < trace.num_heads(one.stack))
      worn.push_back(&one);
  std::stable_sort(worn.begin(), worn.end(), [](const auto* a, const auto* b) { return is_better(*a, *b); });
  return worn;
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

std::optional<TellingCell> telling_cell(const AppState& state) {
  const TrainingCard* card = state.document.card.get();
  if (!state.trace || !card || !card->scores) return std::nullopt;
  const Trace& trace = *state.trace;
  const auto worn = worn_relations(trace, *card);
  if (worn.empty()) return std::nullopt;
  for (const RelationScore* one : worn)
    if (const auto cell = cell_of_sentence(state, *one)) return TellingCell{head_of(*one), *cell};
  const RelationScore& best = *worn.front();
  if (best.stack == Stack::self && trace.queries(best.stack) <= kLongestTold) {
    std::optional<Told> told;
    for (const RelationScore* one : worn) {
      if (one->stack != Stack::self) continue;
      const Told found = told_of(trace, *one);
      if (found.telling > 0 && (!told || is_better(found, *told))) told = found;
    }
    if (told) return TellingCell{head_of(*told->relation), told->cell};
  }
  return TellingCell{head_of(best), strongest_cell(trace, head_of(best))};
}

void tell(AppState& state) {
  if (!state.telling || !state.trace || is_stale(state)) return;
  state.telling = false;
  ViewState& view = state.view;
  const auto told = telling_cell(state);
  const HeadRef head = told ? told->head : HeadRef{};
  if (head.stack != view.chosen.stack) view.viewport = view.compared = {};
  state.told = told.has_value();
  view.chosen = head;
  view.pinned = told ? std::optional(told->cell) : std::nullopt;
  view.pinned_kept.reset();
  view.look.matrix = matrix_id(view.look.matrix.quantity, head);
}

}  // namespace headlight
