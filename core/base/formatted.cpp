#include "base/formatted.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <iterator>

namespace headlight {

std::string formatted(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  for (std::size_t at = text.find("-0."); at != std::string::npos; at = text.find("-0.", at + 1)) {
    const std::size_t end = std::min(text.find_first_not_of('0', at + 3), text.size());
    const auto is_in_a_word = [&](std::size_t i) {
      return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
    };
    if (!is_in_a_word(end) && (at == 0 || !is_in_a_word(at - 1))) text.erase(at, 1);
  }
  return text;
}

std::string shortest_text(float value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

char* put_number(float value, char* to) {
  char* const end = to + kLongestNumber;
  char* const stop = std::to_chars(to, end, value).ptr;
  // The shortest text of a float may lie so near the middle between two floats that a reader that rounds to a double
  // first ends at the other one (7.038531e-26 does); the text of the value as a double cannot.
  double read = 0;
  std::from_chars(to, stop, read);
  return static_cast<float>(read) == value ? stop : std::to_chars(to, end, static_cast<double>(value)).ptr;
}

bool append_number(std::string& text, float value) {
  if (!std::isfinite(value)) return false;
  char digits[kLongestNumber];
  text.append(digits, put_number(value, digits));
  return true;
}

std::string shell_word(std::string_view word, std::string_view also_plain) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:";
  bool plain = !word.empty();
  for (const char c : word)
    plain = plain && (kPlain.find(c) != std::string_view::npos || also_plain.find(c) != std::string_view::npos);
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace headlight
