// Names for characters that fonts often lack.
#pragma once

#include <string>

namespace headlight {

/// The character's name in the Unicode character database, in small letters (`bubble tea`), cut after 24 characters;
/// `U+10FFFF` where it has none.
std::string character_name(char32_t character);

/// Whether it is a picture by default (Unicode Technical Standard 51: Emoji_Presentation), which outline fonts lack.
bool is_picture(char32_t character);
/// Whether it only changes the picture before it: a skin tone, a joiner, the request for a picture.
bool is_picture_modifier(char32_t character);

}  // namespace headlight
