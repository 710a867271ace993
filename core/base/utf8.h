// Text is UTF-8 in std::string everywhere; these are the functions that look inside it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

/// The byte offset of the first byte that is not part of valid UTF-8, if there is one.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// An Error naming the offending byte and its offset, where `text` is not valid UTF-8.
Status check_utf8(std::string_view where, std::string_view text);

/// Characters of valid UTF-8, the offset behind the one that begins at `at`, and the longest beginning of at most
/// `most` bytes that cuts none in two.
std::size_t count_characters(std::string_view text);
std::size_t character_end(std::string_view text, std::size_t at);
std::string_view beginning(std::string_view text, std::size_t most);

/// The code points of valid UTF-8 (invalid bytes become U+FFFD).
std::vector<char32_t> code_points(std::string_view text);

/// `text`, padded with spaces at its end to at least `width` code points.
std::string padded(std::string text, std::size_t width);

/// Appends one code point; surrogates and values above U+10FFFF become U+FFFD.
void append_utf8(std::string& text, char32_t code_point);

/// The parts of a text between separators, one more than there are of these; an empty text has one empty part.
std::vector<std::string_view> split_at(char separator, std::string_view text);

/// A name from a file for a one-line message: control characters and invalid UTF-8 become `?`, long names are cut.
std::string printable(std::string_view name);

/// A whole message, which may hold such text, in one line without characters that control a terminal; cut behind 4,000
/// bytes.
std::string printable_message(std::string_view message);

}  // namespace headlight
