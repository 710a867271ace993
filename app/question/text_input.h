// A text and how it is cut into tokens: by a split, or by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/words.h"

namespace headlight {

/// The limits of a text: it is cut anew at every keystroke.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSentences = 4096;

struct TextInput {
  std::string text = {};  // UTF-8; each line that is not empty is a sentence
  Split split = Split::words;
  std::optional<std::vector<std::size_t>> hand_cuts = {};  // byte offsets into `text`, ascending; instead of `split`
  std::vector<std::int64_t> ids = {};                      // what a checkpoint reads instead of `text`
  std::vector<std::size_t> id_cuts = {};                   // where sentences of `ids` behind the first begin, ascending

  friend bool operator==(const TextInput&, const TextInput&) = default;
};

/// A sentence of the text: the bytes [begin, end).
struct Line {
  std::size_t begin = 0, end = 0;
};
std::vector<Line> sentences(std::string_view text);

/// The sentences of the ids, as ranges of them; none where there are no ids.
std::vector<Line> id_sentences(const TextInput& input);
/// `1,2,3` for each of them, `between` them.
std::string ids_text(const TextInput& input, std::string_view between);
/// What `1,2,3` names. Errors: another text, numbers below 0.
Result<std::vector<std::int64_t>> parse_ids(std::string_view where, std::string_view text);

/// One sentence as a separate input, cut as it was.
TextInput text_input_of(const TextInput& input, Line line);

/// An Error, its line beginning with `where`, for a text that is too long or not UTF-8.
Status check_text(std::string_view where, std::string_view text);

/// The byte offsets at which the whole text is cut now, by hand or by `split`.
std::vector<std::size_t> current_cuts(const TextInput& input, const Lexicon& lexicon);

/// The tokens of each sentence. Errors as check_text, and for more than `most` tokens in a sentence.
Result<std::vector<Tokens>> tokens_of_lines(std::string_view where, const TextInput& input, const Lexicon& lexicon,
                                            std::size_t most);

/// Changes the text. Boundaries set by hand stay where the text did not change; new text is cut by `split`, also
/// from its neighbours where it was put between two tokens or at an end.
void set_text(TextInput& input, std::string text, const Lexicon& lexicon);

/// Cuts at `offset`, or joins there; from then on the boundaries are the user's.
void toggle_cut(TextInput& input, std::size_t offset, const Lexicon& lexicon);

/// Inserts a word into a sentence as one token, `from_end` tokens before the sentence's end; Latin words are separated
/// by a space.
void insert_word(TextInput& input, std::size_t sentence, std::size_t from_end, std::string_view word,
                 const Lexicon& lexicon);

/// The ids as tokens: the text of each is its number, for want of a vocabulary.
Tokens tokens_of_ids(const std::vector<std::int64_t>& ids);

}  // namespace headlight
