#include "base/utf8.h"

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "base/formatted.h"

namespace headlight {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Characters that control a terminal or hide text: control characters, breaks of lines, marks that change the
/// direction of writing.
bool obeyed(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0x9F)) return true;
  if (c == 0x061C || c == 0x200E || c == 0x200F) return true;  // marks of direction
  return (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string shown(std::string_view text, std::size_t most) {
  const std::string_view part = beginning(text, most);
  std::string result;
  if (first_invalid_utf8(part)) {
    for (const char c : part) result += c >= 0x20 && c < 0x7F ? c : '?';
  } else {
    for (const char32_t c : code_points(part)) {
      if (obeyed(c)) result += '?';
      else append_utf8(result, c);
    }
  }
  return part.size() < text.size() ? result + "…" : result;
}

}  // namespace

std::size_t count_characters(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::size_t character_end(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && continues(text[at]));
  return at;
}

std::string_view beginning(std::string_view text, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  while (size > 0 && size < text.size() && continues(text[size])) --size;
  return text.substr(0, size);
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t at = 0; at < size;) {
    const int64_t start = at;
    UChar32 c;
    U8_NEXT(bytes, at, size, c);
    if (c < 0) return static_cast<std::size_t>(start);
  }
  return std::nullopt;
}

Status check_utf8(std::string_view where, std::string_view text) {
  const auto bad = first_invalid_utf8(text);
  if (!bad) return Done{};
  return bad_input(where, where == "text" ? "" : "text", "valid UTF-8",
                   formatted("byte 0x%02x at offset %zu", static_cast<unsigned char>(text[*bad]), *bad),
                   ErrorCode::not_utf8);
}

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> result;
  result.reserve(text.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t at = 0; at < size;) {
    UChar32 c;
    U8_NEXT_OR_FFFD(bytes, at, size, c);
    result.push_back(static_cast<char32_t>(c));
  }
  return result;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t length = code_points(text).size();
  if (length < width) text.append(width - length, ' ');
  return text;
}

void append_utf8(std::string& text, char32_t code_point) {
  UChar32 c = static_cast<UChar32>(code_point);
  if (c < 0 || c > 0x10FFFF || U_IS_SURROGATE(c)) c = 0xFFFD;
  char bytes[U8_MAX_LENGTH];
  int size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  text.append(bytes, static_cast<std::size_t>(size));
}

std::vector<std::string_view> split_at(char separator, std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string printable(std::string_view name) { return shown(name, 80); }
std::string printable_message(std::string_view message) { return shown(message, 4000); }

}  // namespace headlight
