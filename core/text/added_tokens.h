// Tokens that are looked for in a text before it is cut otherwise: <s>, [MASK], <|endoftext|>.
// https://huggingface.co/docs/tokenizers/api/added-tokens
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/normalized_text.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/word_table.h"

namespace headlight {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;                      // not where a word character touches it
  bool strip_left = false, strip_right = false;  // the white space beside it is part of it
  bool normalized = true;                        // found in the normalised text, by its own normalised content
  bool special = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Contents are not empty. `rules` are the tokenizer's.
  static Result<AddedTokens> make(std::vector<AddedToken> tokens, const std::vector<Normalizer>& rules);

  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// Adds the letters as pieces, cut at the added tokens that are, or are not, looked for in a normalised text: of
  /// those that begin at the same place the longest. Pieces name the token by its place in tokens().
  void split(LetterSpan letters, bool normalized, Pieces& pieces) const;

 private:
  std::vector<AddedToken> tokens_;
  WordTable contents_, normalized_contents_;
};

}  // namespace headlight
