// Numbers and lists as text, and numbers back.
#pragma once

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// What printf prints, without the sign of a number that is rounded to zero: 0.00, not -0.00.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// The fewest digits that are read back as the same float.
std::string shortest_text(float value);

/// "1 head", "4 heads"; `many`: the plural where it is not `one` with an s.
inline std::string counted(std::ptrdiff_t count, const std::string& one, const std::string& many = {}) {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

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

/// The texts of at most `most` items, and how many more there are: `a, b and 3 more`.
template <class Item, class Text = std::identity>
std::string first_texts(const std::vector<Item>& list, std::size_t most, const Text& text_of = {}) {
  const std::string text = joined_texts(std::span(list).first(std::min(most, list.size())), ", ", text_of);
  return list.size() > most ? text + " and " + std::to_string(list.size() - most) + " more" : text;
}

/// Room for the text of any number.
inline constexpr int kLongestNumber = 32;

/// Writes the text of append_number to `to`, which has room for kLongestNumber; gives its end. `value` must be finite.
char* put_number(float value, char* to);

/// Appends the shortest decimal text that reads back to `value`, by way of a float or of a double (as JavaScript,
/// Python and most JSON readers go). False, and nothing appended, where `value` is not finite.
bool append_number(std::string& text, float value);

/// A word of a command line, quoted where a POSIX shell would not read it back as it is. Letters, digits, `_-./+=:` and
/// the characters of `also_plain` need no quotes.
std::string shell_word(std::string_view word, std::string_view also_plain = {});

}  // namespace headlight
