// Words of the Chinese examples in English, for readers of the English window.
#pragma once

#include <string_view>

namespace headlight {

/// The English translation of a word of the examples: "ticket" of 机票; empty for other words.
std::string_view gloss_of(std::string_view word);

}  // namespace headlight
