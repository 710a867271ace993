// Text on its way to tokens: characters that remember which bytes of the original they came from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

struct Letter {
  char32_t code = 0;
  std::uint32_t begin = 0, end = 0;  // bytes of the original text; of what was put in, begin == end
};

using Letters = std::vector<Letter>;
using LetterSpan = std::span<const Letter>;

/// The characters of valid UTF-8 of less than 4 GiB.
Letters letters_of(std::string_view text);

/// Characters that all stand for the bytes [begin, end).
void append_letters(Letters& letters, std::u32string_view codes, std::uint32_t begin, std::uint32_t end);

/// The characters as UTF-8, and for each byte the letter that it belongs to.
struct Spelling {
  std::string text;
  std::vector<std::uint32_t> letter_of_byte;
};
void spell(LetterSpan letters, Spelling& spelling);
std::string utf8_of(LetterSpan letters);

/// The characters as UTF-16, and for each unit and the end the letter that begins there or before.
struct Utf16 {
  std::u16string text;
  std::vector<std::uint32_t> letter_of_unit;
};
void to_utf16(LetterSpan letters, Utf16& utf16);

}  // namespace headlight
