// Options that take a number from a range.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace headlight {

/// A check of a whole number, 0 or more: CLI11 reads -1 as the largest one there is.
inline std::string not_negative(const std::string& value) {
  return value.starts_with('-') ? "expected a whole number, 0 or more, found " + value : std::string{};
}

/// A number from `low` to `high`; unlike CLI::Range it refuses "nan", which is neither below one nor above the other.
inline CLI::Validator number_between(double low, double high) {
  const auto text = [](double number) {
    std::string digits = std::to_string(number);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return digits;
  };
  const std::string range = text(low) + " to " + text(high);
  return CLI::Validator(
      [low, high, range](std::string& found) {
        double number = 0;
        const bool is_number = CLI::detail::lexical_cast(found, number);
        if (is_number && number >= low && number <= high) return std::string();
        return "expected " + range + ", found " + found;
      },
      range);
}

}  // namespace headlight
