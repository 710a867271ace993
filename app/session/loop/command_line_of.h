// The state of the window as a line for a shell: `headlight export shipped:encoder --text '…' --mask causal`.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace headlight {

/// What a command gives: the picture of the view (figure; of a training its numbers, of View::code its program, of
/// GridShow::relations the scores), the numbers (export), or those
/// behind the pinned weight (explain).
enum class CommandGives { picture, numbers, explanation };

/// The words of the command that asks the same and gives that. A session without unsaved changes is named by its file.
/// A figure of a batch shows the chosen sentence. Errors: a setting without an option, such as cells painted by hand.
Result<std::vector<std::string>> command_words(const AppState& state, CommandGives gives = CommandGives::picture);

/// The words as a POSIX shell reads them, quoted where they must be.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace headlight
