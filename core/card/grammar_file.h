// Helpers that the readers of a grammar's file share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "card/grammar.h"

namespace headlight {

class JsonField;

/// Patterns and word lists are separated by spaces.
std::vector<std::string> parts_of(std::string_view text);

/// A part of the file in a message.
std::string in_quotes(std::string_view part);

/// Reads the dictionary, the English patterns and the English of the literals of a grammar that was read from `root`.
/// Mistakes go to the field's problems: names that no word has, words without English, positions beyond the end.
void read_translations(const JsonField& root, Grammar& grammar);

/// Whether one draw in some hundred gives a training sentence, one a held-out one and, where a kind has pairs, one a
/// minimal pair: then draw_sentence and draw_minimal_pair come to an end. Errors name what is too rare.
Status check_draws(std::string_view where, const Grammar& grammar);

}  // namespace headlight
