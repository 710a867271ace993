// SentencePiece's compiled rules of normalisation: a double-array trie (Aoe 1989, as Darts-clone lays it out) from
// strings to offsets in a blob of replacements, each ended by a zero byte.
// https://github.com/google/sentencepiece/blob/master/src/normalizer.cc
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/normalized_text.h"

namespace headlight {

class Charsmap {
 public:
  /// `bytes`: four of the trie's size, the trie, the replacements (valid UTF-8). Whatever the trie can reach must lie
  /// inside it, and every offset that it gives inside the replacements, at the beginning of a character.
  static Result<Charsmap> parse(std::string_view where, std::string_view bytes);

  /// Replaces what the trie knows. As in Hugging Face's tokenizers, it is asked about every grapheme cluster of less
  /// than six bytes as a whole, else about its characters one by one, and its shortest prefix counts.
  void normalize(Letters& letters) const;

 private:
  std::optional<std::string_view> replacement(std::string_view key) const;
  Status check(std::string_view where) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace headlight
