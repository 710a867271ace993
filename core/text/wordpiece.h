// WordPiece: from the left, always the longest word of the vocabulary (Wu et al. 2016). And WordLevel: a piece is a
// word or unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/word_table.h"

namespace headlight {

struct WordPiece {
  WordTable words;
  std::string unknown = "[UNK]";    // the word for a piece that cannot be spelt
  std::string prefix = "##";        // before words that do not begin a piece
  std::size_t longest_piece = 100;  // characters; a longer piece is unknown
  /// Where no word of the vocabulary goes on: a character on its own, without the prefix; a Chinese character as its
  /// bytes, <0xE9>; any other is unknown, alone or with unknown neighbours. No piece is too long then.
  bool character_fallback = false;
  /// The smallest id of a word with the prefix. A vocabulary that begins with the words of its text, and goes on with
  /// pieces of words, has whole words alone below. 0: there is none.
  std::int32_t word_rows = 0;
};

struct WordLevel {
  WordTable words;
  std::string unknown = "<unk>";
};

/// Errors: an unknown piece where the word for it is not in the vocabulary.
Status tokenize(const WordPiece& model, std::string_view piece, std::vector<ModelToken>& tokens);
Status tokenize(const WordLevel& model, std::string_view piece, std::vector<ModelToken>& tokens);

}  // namespace headlight
