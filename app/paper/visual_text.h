// Text from right to left in the order in which it is drawn, for painters that set glyphs from left to right.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// Each line in visual order by the Unicode bidirectional algorithm (UAX 9; its first strong letter gives its
/// direction), brackets mirrored, Arabic letters as the forms in which they join (presentation forms, lam-alef a
/// ligature). A text without letters from right to left is unchanged. The result begins with U+202D and ends with
/// U+202C, which are not drawn: it stays as it is when it, or a text with it inside, is ordered again.
std::string visual_text(std::string_view text);

/// A script of the text whose letters change their forms and places by rules that figures and the window do not follow
/// (Devanagari and its relatives, Tibetan, Burmese, Khmer), by its name; empty: none.
std::string unshaped_script(std::string_view text);

}  // namespace headlight
