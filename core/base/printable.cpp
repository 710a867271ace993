#include "base/printable.h"

#include "base/utf8.h"

namespace headlight {
namespace {

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

std::string printable(std::string_view name) { return shown(name, 80); }
std::string printable_message(std::string_view message) { return shown(message, 4000); }

}  // namespace headlight
