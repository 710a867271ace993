// Numbers and lists as text, and numbers back.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headlight {

/// What printf prints.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// The fewest digits that are read back as the same float.
std::string shortest_text(float value);

/// The number that all of `text` spells; nothing where it spells none.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The texts of all items, in order, with `between` between them.
template <class List, class Text = std::identity>
std::string joined_texts(const List& list, std::string_view between, const Text& text_of = {}) {
  std::string text;
  bool first = true;
  for (const auto& item : list) {
    if (!first) text += between;
    text += std::invoke(text_of, item);
    first = false;
  }
  return text;
}

}  // namespace headlight
