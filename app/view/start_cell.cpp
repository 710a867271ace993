#include "view/start_cell.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

#include "base/utf8.h"
#include "card/grammar.h"
#include "card/training_card.h"
#include "derived/head_ranking.h"
#include "derived/head_stats.h"
#include "derived/shades.h"
#include "math/attention.h"
#include "models/bundled_models.h"
#include "names/sentence_facts.h"
#include "text/characters.h"

namespace headlight {
namespace {

/// The relations that a reader understands at once, in order.
constexpr std::string_view kSamePerson = "CO";
constexpr std::array kFirst{kPronounRelation, kSamePerson};
/// A cell of a smaller weight looks empty.
constexpr float kLeastSeen = 0.1f;
/// A window opens on a smaller weight only where no head has a larger one.
constexpr float kClearlySeen = 0.5f;
/// Of more cells than this of all heads none is searched for, before a picture is drawn.
constexpr Index kMostSearched = 4'000'000;
/// Cells of one head: of a longer text the first rows are searched, as the heads are read before a picture is drawn.
constexpr Index kMostOfHead = 512 * 512;

std::size_t rank_of(std::string_view relation) {
  return static_cast<std::size_t>(std::ranges::find(kFirst, relation) - kFirst.begin());
}

bool is_better(const RelationScore& a, const RelationScore& b) {
  return std::pair(rank_of(a.relation), -gain(a)) < std::pair(rank_of(b.relation), -gain(b));
}

HeadRef head_of(const RelationScore& relation) { return {relation.chosen.layer, relation.chosen.head, relation.stack}; }

/// A cell of a sentence that was not measured, and its value: its weight times the relation's gain.
struct WeighedCell {
  const RelationScore* relation = nullptr;
  CellRef cell;
  double value = 0;
};

bool fits(std::string_view relation, const Token& query, const Token& key) {
  if (relation == kSamePerson) return query.text == key.text;
  return relation != kPronounRelation || (shipped_grammar() && stands_for_a_noun(*shipped_grammar(), query.text));
}

/// The most valuable cell of one head, among the rows that look at a word most.
WeighedCell best_cell_of(const Trace& trace, const RelationScore& relation) {
  const HeadRef head = head_of(relation);
  const auto& tokens = trace.key_tokens(head.stack).tokens;
  WeighedCell best{&relation, {}, 0};
  const Index rows = std::min(trace.queries(head.stack), std::max<Index>(1, kMostOfHead / trace.keys(head.stack)));
  const Matrix weights = attention_rows(trace, head, 0, rows);
  for (Index query = 0; query < rows; ++query) {
    Index key = 0;
    const float weight = weights.row(query).maxCoeff(&key);
    const Token &from = tokens[at(query)], &to = tokens[at(key)];
    const bool pieces = from.continues || to.continues;
    if (query == key || pieces || weight < kLeastPointing || from.special || from.pad || to.special || to.pad) continue;
    const double value = static_cast<double>(weight) * gain(relation);
    if (value > best.value && fits(relation.relation, from, to)) best = {&relation, {query, key}, value};
  }
  return best;
}

/// The least comes first: a head that is wrong more often than right last.
auto rank_of(const WeighedCell& one) {
  return std::tuple(rank_of(one.relation->relation), one.relation->score.accuracy < 0.5, -one.value);
}

/// The relations that heads of the answer show, the best first.
std::vector<const RelationScore*> shown_relations(const Trace& trace, const TrainingCard& card) {
  std::vector<const RelationScore*> shown;
  for (const RelationScore& one : card.scores->relations)
    if (is_worn(one) && trace.has(one.stack) && one.chosen.layer < trace.num_layers(one.stack) &&
        one.chosen.head < trace.num_heads(one.stack))
      shown.push_back(&one);
  std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return is_better(*a, *b); });
  return shown;
}

/// Relations of function words, modifiers and parts of names: they rank behind subjects, objects and clauses, which
/// carry more of the meaning of a sentence.
constexpr std::string_view kSmall[] = {"det",  "case", "aux",    "cop",      "mark",   "cc",       "clf",
                                       "flat", "amod", "nummod", "compound", "advmod", "nmod:poss"};

/// A window opens on no name of a smaller weight: where heads hesitate, labels are wrong more often. Names of the
/// grammar are certain.
constexpr float kSureWeight = 0.9f;

/// Of the cells that have sure names the best relation's with the surest; of equally sure ones that with the most
/// weight.
const NamedArc* best_arc(const std::vector<NamedArc>& arcs) {
  const NamedArc* best = nullptr;
  const auto value = [](const NamedArc& arc) {
    const bool small = std::ranges::find(kSmall, arc.relation) != std::end(kSmall);
    return std::tuple(-static_cast<int>(rank_of(arc.relation)), !small, arc.precision * arc.probability, arc.weight);
  };
  for (const NamedArc& arc : arcs)
    if ((arc.probability == 1 || arc.weight >= kSureWeight) && (!best || value(arc) > value(*best))) best = &arc;
  return best;
}

/// The largest weight of a word at another, no marks, in a row that had a choice: it may look at two words and more. Of
/// a causal model the first word is none: rows rest there. No cell with a name: those are sure, or nothing to open on.
std::optional<CellRef> chosen_by(const Trace& trace, const HeadRef& head, const SentenceArcs& arcs,
                                 float most = kLeastSeen) {
  const Matrix& weights = trace.head(head).thumbnail;
  const auto &queries = trace.query_tokens(head.stack).tokens, &keys = trace.key_tokens(head.stack).tokens;
  if (weights.rows() != trace.queries(head.stack) || weights.cols() != trace.keys(head.stack)) return std::nullopt;
  const auto is_word = [](const Token& token) {
    const auto letters = code_points(token.text);
    return !token.special && !token.pad && std::ranges::any_of(letters, is_word_character);
  };
  const Index first =
      mask_spec(trace.request, head.stack).causal ? std::ranges::find_if(keys, is_word) - keys.begin() : -1;
  std::optional<CellRef> best;
  Index word = 0;  // where that of the query begins
  for (Index query = 0; query < weights.rows(); ++query) {
    if (!queries[at(query)].continues) word = query;
    if (!is_word(queries[at(query)])) continue;
    Index open = 0, strongest = -1, of_key = 0;
    float weight = 0;
    for (Index key = 0; key < weights.cols(); ++key) {
      if (!keys[at(key)].continues) of_key = key;
      if (of_key == word && key != query && head.stack != Stack::cross) continue;  // a piece of the same word
      if (weights(query, key) < 0 || !is_word(keys[at(key)])) continue;
      ++open;
      if (key != query && key != first && weights(query, key) > weight) weight = weights(query, key), strongest = key;
    }
    if (open >= 2 && weight >= most && !arcs.at(head, {query, strongest}))
      best = CellRef{query, strongest}, most = weight;
  }
  return best;
}

/// Of a text of one token the head in which it looks at itself most.
std::optional<StartCell> only_word(const Trace& trace, const std::vector<HeadRef>& heads) {
  const auto& tokens = trace.query_tokens().tokens;
  const auto is_read = [](const Token& token) { return !token.special && !token.pad; };
  const Index word = std::ranges::find_if(tokens, is_read) - tokens.begin();
  if (std::ranges::count_if(tokens, is_read) != 1 || trace.keys() != trace.queries() || heads.empty())
    return std::nullopt;
  const auto weight = [&](const HeadRef& head) { return attention_rows(trace, head, word, 1)(0, word); };
  return StartCell{*std::ranges::max_element(heads, {}, weight), {word, word}};
}

/// Of all heads the one that shows most of the sentence, and its cell.
std::optional<StartCell> any_cell(const Trace& trace, const SentenceArcs& arcs) {
  const std::vector<HeadRef> heads = heads_of(trace, Stack::self);
  if (static_cast<Index>(heads.size()) * trace.queries() * trace.keys() > kMostSearched) return std::nullopt;
  std::optional<StartCell> start;
  float most = 0;
  for (const HeadRef& head : heads) {
    const auto cell = chosen_by(trace, head, arcs);
    if (!cell) continue;
    const float value = shown_by_head(trace, head, 0) * trace.head(head).thumbnail(cell->query, cell->key);
    if (!start || value > most) start = StartCell{head, *cell}, most = value;
  }
  return start ? start : only_word(trace, heads);
}

/// What the first token of a picture looks at most in the last layer, among the patches.
StartCell start_patch(const Trace& trace) {
  const PatchGrid& grid = trace.key_tokens().picture->grid;
  StartCell best;
  float most = -1;
  for (Index head = 0; head < trace.num_heads(); ++head) {
    const HeadRef at{trace.num_layers() - 1, head};
    const Vector row = attention_rows(trace, at, first_token(trace), 1).row(0).tail(grid.rows * grid.cols);
    Index patch = 0;
    if (const float weight = row.maxCoeff(&patch); weight > most) {
      most = weight;
      best = {at, CellRef{first_token(trace), grid.first() + patch}};
    }
  }
  return best;
}

}  // namespace

std::optional<StartCell> start_cell(const Document& document, const Trace& trace, const SentenceArcs& arcs) {
  if (is_of_picture(trace)) return start_patch(trace);
  const TrainingCard* card = document.card.get();
  if (!card || !card->scores || trace.request.model != document.model) return any_cell(trace, arcs);
  const NamedArc* arc = best_arc(arcs.named);
  if ((!arc || rank_of(arc->relation) == kFirst.size()) && !arcs.referring.empty())
    arc = &*std::max_element(arcs.referring.begin(), arcs.referring.end(),
                             [](const NamedArc& a, const NamedArc& b) { return a.weight < b.weight; });
  if (arc) return StartCell{arc->head, arc->cell};
  const auto shown = shown_relations(trace, *card);
  if (shown.empty()) return any_cell(trace, arcs);
  const RelationScore& best = *shown.front();
  if (best.stack == Stack::self && arcs.named.empty()) {
    std::optional<WeighedCell> start;
    for (const RelationScore* one : shown) {
      if (one->stack != Stack::self) continue;
      const WeighedCell found = best_cell_of(trace, *one);
      if (found.value > 0 && (!start || rank_of(found) < rank_of(*start))) start = found;
    }
    if (start) return StartCell{head_of(*start->relation), start->cell};
  }
  if (best.stack == Stack::cross) return StartCell{head_of(best), strongest_cell(trace, head_of(best))};
  if (const auto cell = chosen_by(trace, head_of(best), arcs, kClearlySeen)) return StartCell{head_of(best), *cell};
  return any_cell(trace, arcs);
}

}  // namespace headlight
