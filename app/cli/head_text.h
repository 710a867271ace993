// The output of `headlight heads`: text, csv or json.
#pragma once

#include <string>

#include "cli/head_table.h"
#include "cli/values.h"

namespace headlight {

/// Aligned columns for people; those that no head has are left out. What was looked for and what
/// an effect is stand below.
std::string heads_text(const HeadTable& table);

/// stack,layer,head, every measure, effect, top_word, found, learned: an empty field where a head has none. Errors name
/// a number that is not finite.
Result<Table> heads_table(const HeadTable& heads);

/// {"heads": [{"stack", "layer", "head", …}], "sentences": …}; what a head does not have is not there. Errors as
/// heads_table.
Result<Value> heads_json(const HeadTable& table);

}  // namespace headlight
