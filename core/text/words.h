// Cutting text without a model: into words, into characters, or at cuts made by hand.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/tokens.h"
#include "model/weights.h"
#include "text/likely_words.h"

namespace headlight {

struct Tokenizer;  // text/tokenizer.h

enum class Split { words, characters };

/// Words that a user knows better than the segmentation does (李雷, 订了).
struct Lexicon {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> words;
  std::vector<std::size_t> lengths;  // of the words, in bytes, each once, longest first
  /// The words in the order of their bytes, ids hashed: what a model with fresh weights can predict. Never null.
  std::shared_ptr<const Vocabulary> vocabulary = std::make_shared<const Vocabulary>();

  /// Where words begin and end before `words` are laid over them; null: ICU decides.
  std::shared_ptr<const LikelyWords> likely = {};

  friend bool operator==(const Lexicon& a, const Lexicon& b) { return a.words == b.words && a.likely == b.likely; }
};

/// One word a line, of at most 64 characters; spaces around it are dropped, those inside it (New York) are part of it.
/// `#` at the start of a line or after a space begins a comment. Errors name the line.
Result<Lexicon> parse_lexicon(std::string_view where, std::string_view text);

/// The lexicon of these words, leaving out what no line of a file could be: longer ones, and control characters.
Lexicon lexicon_of(const std::vector<std::string>& words);

/// The byte offsets at which `text` (valid UTF-8) is cut, ascending, 0 and text.size() left out. No cut falls inside
/// a grapheme cluster. The time is linear in the text.
///
/// characters: every grapheme cluster (UAX #29) is a token, spaces too.
///
/// words: the word boundaries of ICU's root locale (UAX #29 and its dictionaries; a mark is a separate token), or those
/// of Lexicon::likely where it is there, with the words of the lexicon laid over them:
///   1. The words of the lexicon are looked up in the text, the longest first, of equal ones the leftmost; no two
///      overlap. Inside a run of letters of a script that writes spaces between its words, nothing is found.
///   2. A word found across such a boundary is cut out whole: that boundary goes, the ends of the word become cuts.
///   3. A word found inside a longer one does not cut it, unless such words fill the longer one without a
///      gap. So a stretch made of nothing but words of the lexicon is cut the same by every version of ICU.
///   4. White space goes to the token after it; at the end of the text it is a separate token.
std::vector<std::size_t> cut_points(std::string_view text, Split split, const Lexicon& lexicon);

/// Whether `offset` is at a code point's first byte or at the end of `text`.
bool is_boundary(std::string_view text, std::size_t offset);

/// Whether `cuts` ascend strictly, lie inside `text` (neither 0 nor its size) and cut no code point: what
/// tokens_between and mark_tokens demand. For cuts that come from a file.
bool are_cuts(std::string_view text, const std::vector<std::size_t>& cuts);

/// The tokens between the cuts, ids hashed from their texts. Joining their ranges gives `text` back.
Tokens tokens_between(std::string text, const std::vector<std::size_t>& cuts);

struct MarkedText {
  std::string text;
  std::vector<std::size_t> cuts;

  friend bool operator==(const MarkedText&, const MarkedText&) = default;
};

/// `我|请|李雷` → the text without the bars, and its cuts; `\|` is a bar, `\\` a backslash. An empty token is an error.
Result<MarkedText> parse_marked_tokens(std::string_view where, std::string_view marked);

/// The reverse: the text with its cuts as bars.
std::string mark_tokens(std::string_view text, const std::vector<std::size_t>& cuts);

/// The lexicon with more words, which a model with fresh weights does not predict; those that no line of a file could
/// be are left out. In a lexicon with words, `likely` decides where words of Chinese characters begin and end, and ICU
/// the rest; text beside kana is cut by ICU alone, whose dictionary has Japanese.
Lexicon with_words(Lexicon lexicon, const std::vector<std::string>& more);

/// Makes a tokenizer whose tokens are whole words cut text as this lexicon does, with the words of its vocabulary
/// besides. Other tokenizers stay as they are.
void cut_by(Tokenizer& tokenizer, const Lexicon& lexicon);

}  // namespace headlight
