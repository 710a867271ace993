#include "text/normalized_text.h"

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <cassert>
#include <limits>

#include "base/utf8.h"

namespace headlight {

Letters letters_of(std::string_view text) {
  assert(text.size() < std::numeric_limits<std::uint32_t>::max());
  Letters letters;
  letters.reserve(text.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t at = 0; at < size;) {
    const int64_t start = at;
    UChar32 c;
    U8_NEXT_OR_FFFD(bytes, at, size, c);
    letters.push_back({static_cast<char32_t>(c), static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(at)});
  }
  return letters;
}

void append_letters(Letters& letters, std::u32string_view codes, std::uint32_t begin, std::uint32_t end) {
  for (const char32_t code : codes) letters.push_back({code, begin, end});
}

void spell(LetterSpan letters, Spelling& spelling) {
  spelling.text.clear();
  spelling.letter_of_byte.clear();
  for (std::uint32_t i = 0; i < letters.size(); ++i) {
    append_utf8(spelling.text, letters[i].code);
    spelling.letter_of_byte.resize(spelling.text.size(), i);
  }
}

std::string utf8_of(LetterSpan letters) {
  std::string text;
  for (const Letter& letter : letters) append_utf8(text, letter.code);
  return text;
}

void to_utf16(LetterSpan letters, Utf16& utf16) {
  utf16.text.clear();
  utf16.letter_of_unit.clear();
  for (std::uint32_t i = 0; i < letters.size(); ++i) {
    const auto code = static_cast<UChar32>(letters[i].code);
    if (U16_LENGTH(code) == 2) {
      utf16.text += U16_LEAD(code);
      utf16.text += U16_TRAIL(code);
      utf16.letter_of_unit.push_back(i);
    } else {
      utf16.text += static_cast<char16_t>(code);
    }
    utf16.letter_of_unit.push_back(i);
  }
  utf16.letter_of_unit.push_back(static_cast<std::uint32_t>(letters.size()));
}

}  // namespace headlight
