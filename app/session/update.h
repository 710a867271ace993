// The only function that changes the state: a pure function of the state and a command.
#pragma once

#include "session/state.h"

namespace headlight {

/// Documents that undo can bring back; older ones are forgotten.
inline constexpr std::size_t kMostUndo = 500;

/// A state that shows `document`; `lexicon` must outlive it. `model_warnings` are those of loading its checkpoint.
AppState initial_state(const Lexicon& lexicon, Document document, Settings settings,
                       std::vector<Error> model_warnings = {}, std::shared_ptr<const BundledModels> shipped = nullptr);

/// The only way the state changes. Reads no file, asks no clock, starts no thread; commands about files change only
/// what is known at once (`quit`, the notice), their outcome comes back as another command.
void update(AppState& state, Command command);

}  // namespace headlight
