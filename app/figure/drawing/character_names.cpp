#include "figure/drawing/character_names.h"

#include <unicode/uchar.h>

#include "base/formatted.h"

namespace headlight {

std::string character_name(char32_t character) {
  constexpr std::size_t kLongest = 24;
  char name[128];
  UErrorCode status = U_ZERO_ERROR;
  const auto length = u_charName(static_cast<UChar32>(character), U_UNICODE_CHAR_NAME, name, sizeof name, &status);
  if (U_FAILURE(status) || length <= 0) return formatted("U+%04X", static_cast<unsigned>(character));
  std::string text(name, static_cast<std::size_t>(length));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (text.size() <= kLongest) return text;
  return text.substr(0, text.rfind(' ', kLongest));
}

bool is_picture(char32_t character) {
  // Below the first picture, a watch, ICU is not asked: about each letter of a long text that costs a frame a
  // millisecond.
  constexpr char32_t kFirst = 0x231A;
  return character >= kFirst && u_hasBinaryProperty(static_cast<UChar32>(character), UCHAR_EMOJI_PRESENTATION);
}

bool is_picture_modifier(char32_t character) {
  constexpr char32_t kJoiner = 0x200D, kAsPicture = 0xFE0F;
  return character == kJoiner || character == kAsPicture ||
         (character > kAsPicture && u_hasBinaryProperty(static_cast<UChar32>(character), UCHAR_EMOJI_MODIFIER));
}

}  // namespace headlight
