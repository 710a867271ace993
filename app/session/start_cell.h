// The head and the cell that a window begins with: those in which an answer shows most.
#pragma once

#include <optional>

#include "session/state.h"

namespace headlight {

struct StartCell {
  HeadRef head;
  CellRef cell;
};

/// The head and the cell to show first. Relations are compared by order: pronoun → its noun, then the same person, then
/// all others by their gain over position alone (document/bundled_models.h).
///  - The sentence is of the grammar: of the relations that it has, the first; in the word's row its largest weight.
///  - It is not: of all heads that show a relation, the cell with the largest product of weight and gain, among rows
///    that look at a word most. A row of "pronoun → its noun" is a pronoun of the grammar; a cell of "the same person"
///    joins equal words.
///  - No such cell, as in a translation: the largest weight of the best head.
/// Without relations, as of random weights: the head that shows most of the sentence (derived/head_ranking.h). Its cell
/// is the largest weight of a word at another, in a row with two open words at least, of a causal model not at the
/// first one. No cell has a weight below 0.1. Nothing where there is none, and for long texts without relations.
std::optional<StartCell> start_cell(const AppState& state);

/// Chooses that head and pins that cell where the state awaits it and the answer is there; without one, the first head.
/// A change of the text awaits it again until the user chooses a head or pins a cell.
void choose_start(AppState& state);

}  // namespace headlight
