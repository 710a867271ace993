// A word of a command line, quoted where a POSIX shell would not read it back as it is.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// Letters, digits, `_-./+=:` and the characters of `also_plain` need no quotes.
inline std::string shell_word(std::string_view word, std::string_view also_plain = {}) {
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
