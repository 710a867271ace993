// The state of the window as a line for a shell: `headlight export shipped:encoder --text '…' --mask causal`.
#pragma once

#include <string>
#include <vector>

#include "session/state.h"

namespace headlight {

/// The words of the command that asks the same and shows what is seen: export, explain, figure or train. A session
/// without unsaved changes is named by its file. Errors: what no option can say, as cells painted by hand.
Result<std::vector<std::string>> command_words(const AppState& state);

/// SOURCE and REQUEST alone (cli/request_options.h).
Result<std::vector<std::string>> request_words(const Document& document);

/// The words as a POSIX shell reads them, quoted where they must be.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace headlight
