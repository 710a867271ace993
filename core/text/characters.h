// Kinds of characters, as Hugging Face's tokenizers distinguish them: Unicode's properties, in the versions of Unicode
// that those tokenizers were written with, a newer character being of no kind; and the alphabet of byte-level
// tokenizers, one visible character for every byte (Radford et al. 2019, encoder.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headlight {

/// White_Space.
bool is_white_space(char32_t c);
/// Nd, Nl and No.
bool is_numeric(char32_t c);
/// Letters, marks, decimal digits, connectors and the two joiners: \w of UTS #18.
bool is_word_character(char32_t c);
/// ASCII's punctuation and symbols, and P as of Unicode 8.
bool is_punctuation(char32_t c);
/// Mn as of Unicode 8.
bool is_nonspacing_mark(char32_t c);
/// Mn, Mc and Me as of Unicode 9.
bool is_mark(char32_t c);
/// Cc, Cf and Co as of Unicode 8, without tab and line ends.
bool is_control(char32_t c);
/// The blocks of Chinese characters that BERT sets apart (Devlin et al. 2019, tokenization.py).
bool is_chinese_character(char32_t c);
bool has_chinese(std::string_view text);

/// The lower case of one character, whatever stands around it: İ becomes two characters, Σ always σ.
std::u32string lower_case(char32_t c);

/// Printable bytes of Latin-1 stand for themselves, the other 68 are counted up from U+0100: a space is Ġ.
char32_t letter_of_byte(std::uint8_t byte);

/// The reverse; nothing for characters outside the alphabet.
std::optional<std::uint8_t> byte_of_letter(char32_t letter);

/// How a vocabulary spells its words. They are shown to people with bytes decoded and the marks for spaces and
/// for pieces of words resolved.
struct WordSpelling {
  bool byte_level = false;  // in the byte alphabet: Ġthe
  bool metaspace = false;   // ▁ is a space: ▁the
  bool byte_words = false;  // <0xE6> is a byte
  std::string prefix = {};  // of words inside a word: ##ing
  std::string suffix = {};  // of words at the end of a word: ing</w>
};

/// The bytes that a word stands for, a leading space among them.
std::string bytes_of_word(const WordSpelling& spelling, std::string_view word);

/// Bytes as text. What is no whole character is shown by its bytes, ⟨E6 9C⟩; invisible characters (joiners and
/// selectors inside an emoji) by their number, ⟨U+200D⟩; a mark that begins the text stands on a dotted circle.
std::string visible(std::string_view bytes);

/// A word out of a file for a one-line message: in quotes, control characters as ⟨0A⟩, a long one cut.
std::string quoted_word(std::string_view word);

/// Without the white space before it, unless there is nothing else.
std::string_view without_leading_space(std::string_view text);

}  // namespace headlight
