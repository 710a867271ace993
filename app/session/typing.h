// A text that is being typed. Until typing pauses it is not requested, and neither model nor chosen head changes.
#pragma once

#include "session/state.h"

namespace headlight {

/// Seconds after its last key at which a typed text rests: the loop ends the gesture then.
inline constexpr double kTextRests = 0.4;

/// Whether a command of this kind (Command::kind) is an edit in a text box.
bool is_typed(CommandKind kind);

/// Whether a text is being typed: such edits are going on.
bool is_typing(const AppState& state);

/// After a typed text came to rest: the model that suits it answers, and where the user chose neither the head nor the
/// cell, the answer chooses them (start_cell.h).
void rest_text(AppState& state);

/// The cell of the same words in another answer; none where a word is missing there. Of the same text words are found
/// by their position in it, of another by their occurrence.
std::optional<CellRef> same_words(const Trace& from, const Trace& to, Stack stack, const CellRef& cell);

}  // namespace headlight
