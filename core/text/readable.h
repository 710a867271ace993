// How the words of a vocabulary are shown to people: bytes decoded, marks for spaces and for pieces of words resolved.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// How a vocabulary spells its words.
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
