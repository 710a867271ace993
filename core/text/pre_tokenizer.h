// Rules that cut a normalised text into the pieces a model sees, as tokenizer.json names them.
// https://huggingface.co/docs/tokenizers/api/pre-tokenizers
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/normalized_text.h"
#include "text/normalizer.h"
#include "text/pattern.h"
#include "text/subwords.h"

namespace headlight {

struct Lexicon;

/// What becomes of the stretches at which a piece is cut: dropped, separate pieces, or part of a neighbour; contiguous
/// joins those that touch.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };

enum class CharacterKind { white_space, punctuation, numeric };

struct SplitAtKind {
  CharacterKind kind = CharacterKind::white_space;
  Delimiters delimiters = Delimiters::removed;
};
/// At what is found; `invert`: at what is not.
struct SplitAtPattern {
  Pattern pattern;
  Delimiters delimiters = Delimiters::isolated;
  bool invert = false;
};
/// Runs of word characters and runs of others; white space is dropped. \w+|[^\w\s]+
struct SplitWords {};
/// After every `length` characters.
struct SplitEvenly {
  std::size_t length = 5;
};
/// A space before a piece that does not begin with one; after that usually a split, then bytes in the byte alphabet.
struct PrefixSpace {};
/// Bytes in the byte alphabet, cutting nothing.
struct PiecesToBytes {};
/// Spaces become `replacement`, which is put before pieces, and begins a new one if `split`.
struct Metaspace {
  enum class Prepend { always, first, never };
  char32_t replacement = 0x2581;
  Prepend prepend = Prepend::always;
  bool split = true;
};
/// Words as text/words.h cuts them (Split::words), the lexicon being the vocabulary. White space is part of no word,
/// but of the bytes that the word after it stands for; behind the last word it is dropped. A rule that only Headlight
/// has, `Words`.
struct SplitLexiconWords {
  std::shared_ptr<const Lexicon> lexicon;  // not null
};

using PreTokenizer = std::variant<SplitAtKind, SplitAtPattern, SplitWords, SplitEvenly, PrefixSpace, PiecesToBytes,
                                  Metaspace, SplitLexiconWords>;

/// Pieces of a text in their order; what was dropped is in none of them.
struct Pieces {
  struct Piece {
    std::size_t begin = 0, end = 0;  // letters
    std::int32_t added = -1;         // the added token (AddedTokens) that it is; none: < 0
  };
  Letters letters;
  std::vector<Piece> pieces;

  LetterSpan span(const Piece& piece) const {
    return LetterSpan(letters).subspan(piece.begin, piece.end - piece.begin);
  }
  /// Adds a piece, unless it is empty.
  void add(LetterSpan piece, std::int32_t added = -1);
};

/// The expression by which GPT-2 cuts (Radford et al. 2019, encoder.py): the default of ByteLevel.
extern const char* const kGpt2Split;

/// Applies the rules to all pieces but added tokens; `cut_by_hand`: rules that find words leave them whole. Errors: a
/// regular expression that does not come to an end.
Status pre_tokenize(const std::vector<PreTokenizer>& rules, Pieces& pieces, bool cut_by_hand = false);

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;                      // not where a word character touches it
  bool strip_left = false, strip_right = false;  // the white space beside it is part of it
  bool normalized = true;                        // found in the normalised text, its content normalised too
  bool special = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Contents are not empty. `rules` are the tokenizer's.
  static Result<AddedTokens> make(std::vector<AddedToken> tokens, const std::vector<Normalizer>& rules);

  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// Adds the letters as pieces, cut at the added tokens that are, or are not, looked for in a normalised text: of
  /// those that begin at the same letter the longest. Pieces hold the token's index in tokens().
  void split(LetterSpan letters, bool normalized, Pieces& pieces) const;

 private:
  std::vector<AddedToken> tokens_;
  WordTable contents_, normalized_contents_;
};

}  // namespace headlight
