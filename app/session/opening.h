// What a file that was opened changes: the question on the screen, or A of View::compare beside it.
#pragma once

#include <vector>

#include "base/result.h"
#include "session/command.h"
#include "session/file/session_file.h"
#include "session/state.h"

namespace headlight {

/// Takes over what a file held; `kind` is that of the command.
void take_opened(AppState& state, FileOpened& opened, CommandKind kind);
/// Asks the question on the screen of the model that was opened, or a session's question, as A of View::compare. A
/// notice where something else was opened.
void keep_opened(AppState& state, FileOpened& opened);
/// What a session has beside its question and its look: A of View::compare, which is computed again, and the lesson
/// that was read in it. The lines name the parts of the session that are missing now.
std::vector<Error> take_kept_and_lesson(AppState& state, Session& session);

}  // namespace headlight
