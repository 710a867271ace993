// JSON from outside, checked while it is parsed: nothing nests deep, no key stands twice, nothing throws.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace headlight {

/// Objects and arrays inside one another; a document that goes deeper is an Error.
inline constexpr int kMostJsonDepth = 64;

/// Parses one JSON document (UTF-8). Errors name the line and column, the repeated key, or the depth.
Result<nlohmann::json> parse_json(std::string_view where, std::string_view text);

}  // namespace headlight
