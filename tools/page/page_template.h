// What a page is besides its data, which is joined from web/ when the program is built (cmake/join_page.cmake), and the
// tables that it takes from the window.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headlight {

/// The parts of the file before the data and after it, to be written one after the other.
std::span<const std::string_view> page_head();
std::span<const std::string_view> page_tail();

/// The service worker of a site (web/worker.js), but for its version.
std::string_view page_worker();

/// words.json: {"page": {name: [English, Chinese]}}, the texts that the window does not have.
std::string_view page_texts();

/// {"en": {name: text}, "zh": {…}}: the words that web/ takes by their names.
std::string page_words_json();

/// {"light": {"maps": {name: 256 colours in base64}, "diverging": …, "ink": {…}, "heads": […]}, "dark": {…}}.
std::string page_colours_json();

}  // namespace headlight
