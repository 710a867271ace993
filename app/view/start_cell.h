// The head and the cell that a window or a page begins with: those in which an answer shows most.
#pragma once

#include <optional>

#include "names/named_arcs.h"

namespace headlight {

struct StartCell {
  HeadRef head;
  CellRef cell;
};

/// The head and the cell to show first.
///  - Of the cells that have names, pronoun → its noun first, then the same person, then subjects, objects and the
///    like, then small words such as articles: the one with the largest product of weight and precision.
///    Before subjects comes the surest word of a head that was taught pronouns (SentenceArcs::referring).
///  - There is none: of all heads that show a relation (document/bundled_models.h), the cell with the largest product
///    of weight and gain over position alone, among rows that look at a word most. A row of "pronoun → its noun" is a
///    pronoun of the grammar; a cell of "the same person" joins equal words. It has no name.
///  - No such cell, as in a translation: the largest weight of the best head.
/// Without relations, as of random weights: the head that shows most of the sentence (derived/head_ranking.h). Its cell
/// is the largest weight of a word at another, in a row with two open words at least, of a causal model not at the
/// first one. No cell has a weight below 0.1. Nothing where there is none, and for long texts without relations.
std::optional<StartCell> start_cell(const Document& document, const Trace& trace, const SentenceArcs& arcs);

}  // namespace headlight
