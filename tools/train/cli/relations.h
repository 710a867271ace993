// `headlight heads --relations`: the heads of a trained model, measured on held-out sentences.
#pragma once

#include "cli/frame/tool_commands.h"

namespace headlight {

/// Adds the options; where --relations is given, measures and prints, as text or JSON.
InPlace add_relations(const QuestionCommand& command);

}  // namespace headlight
