// Helpers that the readers of a grammar's file share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// Patterns and word lists are separated by spaces.
std::vector<std::string> parts_of(std::string_view text);

/// A part of the file in a message.
std::string in_quotes(std::string_view part);

}  // namespace headlight
