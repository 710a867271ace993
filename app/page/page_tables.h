// Tables that a page takes from the window: the words in both languages, the colours in both themes.
#pragma once

#include <string>

namespace headlight {

/// {"en": {name: text}, "zh": {…}}: the words that web/ takes by their names.
std::string page_words_json();

/// {"light": {"maps": {name: 256 colours in base64}, "diverging": …, "ink": {…}, "heads": […]}, "dark": {…}}.
std::string page_colours_json();

}  // namespace headlight
