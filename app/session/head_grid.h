// How the look arranges the heads: their order, the number beside each title, and which of them were found.
#pragma once

#include <optional>
#include <vector>

#include "session/state.h"

namespace headlight {

/// Whether the chosen stack of the answer has 64 heads or more: only so many are worth a table without words.
bool has_many_heads(const AppState& state);

/// The heads of which GridShow::maps shows a part: of stacks with more; of these at least, and as many as have room.
inline constexpr std::size_t kMostShown = 16, kLeastShownHeads = 6;
/// Whether the chosen stack has more.
bool has_more_heads(const AppState& state);
/// Whether some of them are shown: in the order of layers, while nothing is looked for.
bool shows_some_heads(const AppState& state);
/// Its heads, those that show most of the sentence first (derived/head_ranking.h). Those that rest are left out of more
/// than kLeastShownHeads.
std::vector<HeadRef> telling_heads(const AppState& state);
/// Of these the first so many at most, by layer and head; the chosen head is among them.
std::vector<HeadRef> first_with(std::vector<HeadRef> telling, const HeadRef& chosen, std::size_t most);

/// The form in which the heads are shown: the one of the look where the view and the model have it, else maps.
GridShow shown_grid(const AppState& state);

/// The last measures of a head, perhaps of an earlier answer; null where there are none.
const HeadMeasures* last_measures(const AppState& state, const HeadRef& head);

/// The statistics of the answer on the screen; null where they are not known (yet).
const HeadStats* known_heads(const AppState& state);
const std::vector<HeadEffect>* known_effects(const AppState& state);
/// The scores of the document's model; null where they are not known (yet).
const std::vector<RelationScore>* known_layer_scores(const AppState& state);

/// The chosen head's attention in the order of the look; empty where that is the order of the layers. Until the numbers
/// of the new answer are known the heads keep the order of the previous answer.
std::vector<HeadRef> shown_order(const AppState& state);

/// The value by which a head of the answer on the screen is sorted; nothing where it has none.
std::optional<float> order_value(const AppState& state, const HeadRef& head);

/// Whether the head was looked for in vain: it is shown, but dimmed.
bool is_passed_over(const AppState& state, const HeadRef& head);

/// How many heads of the chosen stack were found; nothing where none are looked for or it is not known yet. No heads
/// where a word is not in the sentence.
std::optional<Index> count_found(const AppState& state);
/// Whether one of the words looked for is on neither side of the chosen stack.
bool lacks_words(const AppState& state);

/// The words of a cell of the answer on the screen, as a search takes them.
WordPair words_of_cell(const AppState& state, const CellRef& cell);

}  // namespace headlight
