// Which head and which cell say most of an answer: what a window begins with.
#pragma once

#include <optional>

#include "session/state.h"

namespace headlight {

struct TellingCell {
  HeadRef head;
  CellRef cell;
};

/// Of the relations that the sentence has and heads wear (document/bundled_models.h): first what a pronoun stands for, then the
/// same person again, else what is farthest above position alone; in the word's row the word that the head looks at
/// most. Where the sentence is of no kind that was measured, as of a translation, the strongest cell of the best head.
/// Nothing for random weights and models of which nothing was measured.
std::optional<TellingCell> telling_cell(const AppState& state);

/// Chooses that head and pins that cell where the state awaits it and the answer is there; without one, the first head.
void tell(AppState& state);

}  // namespace headlight
