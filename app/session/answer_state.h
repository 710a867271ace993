// The state of the area of the maps: the answer, or why there is none. Maps of one model are never shown under the name
// of another.
#pragma once

#include <optional>
#include <string>

#include "session/command.h"
#include "session/state.h"

namespace headlight {

struct AnswerState {
  enum class Kind {
    shown,        // the answer, perhaps to the question before
    computing,    // none yet
    empty,        // no sentence
    cannot_open,  // the file cannot be opened; the previous document stays
    cannot_ask,   // the open model cannot answer this question
  } kind = Kind::shown;
  std::string path = {};            // of cannot_open and cannot_ask: the file or folder
  std::optional<Error> error = {};  // … and what is wrong
  bool details = false;             // the user asked for the error's line
};

AnswerState answer_state(const AppState& state);

/// The one sentence, or its target, was refused because the model reads no more than `most` tokens of that side.
struct TooLong {
  TextSide side = TextSide::source;
  Index most = 0;
};
std::optional<TooLong> too_long(const AppState& state);

/// The command that cuts this text, or these ids, to what the model reads, behind a whole word; nothing where no text
/// is too long, or not even its first word is read.
std::optional<Command> read_first_tokens(const AppState& state);

/// Whether the answer to a text has one word alone, which can look at nothing but itself.
bool has_one_word(const AppState& state);

}  // namespace headlight
