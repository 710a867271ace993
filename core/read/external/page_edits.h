// The edits in the data of a page (docs/page.md).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/edits.h"

namespace headlight {

/// Tokens of a side at most, and so the largest number of a row or column.
inline constexpr Index kMostPageTokens = 16384;

/// Adds the heads that are off, the weights set by hand and the dropout of `answer`, the object that has `edits` and
/// `stacks`. Errors name `where` and the field.
Status read_page_edits(const std::string& where, const nlohmann::json& answer, Edits& edits);

}  // namespace headlight
