// The output of `headlight heads`: text, csv or json.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/head_table.h"

namespace headlight {

/// Aligned columns for people; those that no head has are left out. What was looked for and what
/// an effect is stand below.
Result<std::string> text_table(const HeadTable& table);

/// stack,layer,head, every measure, effect, top_word, found, learned: an empty field where a head has none. Errors as
/// json_table.
Result<std::string> csv_table(const HeadTable& table);

/// {"heads": [{"stack", "layer", "head", …}], "sentences": …}; what a head does not have is not there. Errors name a
/// number that is not finite.
Result<std::string> json_table(const HeadTable& table);

}  // namespace headlight
