// Words of the Chinese examples in English, for readers of the English window.
#pragma once

#include <string_view>

namespace headlight {

/// What a word is in English where it stands in the examples: "ticket" of 机票; empty for other words.
std::string_view gloss_of(std::string_view word);

}  // namespace headlight
