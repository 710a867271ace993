// What the C++20 library of Debian's emscripten (LLVM 14) lacks. Included before each file of the preset `web`.
#pragma once

#ifdef __cplusplus
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

/// The fewest digits that are read back as the same number, as the standard asks for.
template <class Number, enable_if_t<is_floating_point_v<Number>, int> = 0>
to_chars_result to_chars(char* begin, char* end, Number number, chars_format format = chars_format::general) {
  const bool is_float = sizeof(Number) == 4;
  char text[40], fixed[400];
  int digits = 1;
  for (; digits < 18; ++digits) {
    snprintf(text, sizeof text, "%.*e", digits - 1, static_cast<double>(number));
    if ((is_float ? static_cast<Number>(strtof(text, nullptr)) : static_cast<Number>(strtod(text, nullptr))) == number)
      break;
  }
  const char* shortest = text;
  if (const char* const at = strchr(text, 'e'); at && format == chars_format::general) {
    const int exponent = atoi(at + 1), decimals = digits - 1 - exponent;
    snprintf(fixed, sizeof fixed, "%.*f", decimals > 0 ? decimals : 0, static_cast<double>(number));
    if (strlen(fixed) <= strlen(text)) shortest = fixed;
  }
  const size_t size = strlen(shortest);
  if (static_cast<size_t>(end - begin) < size) return {end, errc::value_too_large};
  memcpy(begin, shortest, size);
  return {begin + size, errc()};
}

template <class Number, enable_if_t<is_floating_point_v<Number>, int> = 0>
from_chars_result from_chars(const char* begin, const char* end, Number& number) {
  const string text(begin, end);
  const char first = text.empty() ? ' ' : text[0];
  if (first == '+' || first == ' ' || (first >= '\t' && first <= '\r')) return {begin, errc::invalid_argument};
  char* stop = nullptr;
  number = sizeof(Number) == 4 ? static_cast<Number>(strtof(text.c_str(), &stop))
                               : static_cast<Number>(strtod(text.c_str(), &stop));
  if (stop == text.c_str()) return {begin, errc::invalid_argument};
  return {begin + (stop - text.c_str()), errc()};
}

}  // namespace std

/// The algorithms over ranges that the house uses, by those over iterators.
namespace std::ranges {

struct Itself {
  template <class T>
  constexpr T&& operator()(T&& value) const {
    return static_cast<T&&>(value);
  }
};

template <class Range, class Test, class Of = Itself>
constexpr auto find_if(Range&& range, Test test, Of of = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& one) -> bool { return std::invoke(test, std::invoke(of, one)); });
}
template <class Range, class Value, class Of = Itself>
constexpr auto find(Range&& range, const Value& value, Of of = {}) {
  return ranges::find_if(
      range, [&](const auto& one) { return one == value; }, of);
}
template <class Range, class Test, class Of = Itself>
constexpr bool any_of(Range&& range, Test test, Of of = {}) {
  return ranges::find_if(range, test, of) != std::end(range);
}
template <class Range, class Test, class Of = Itself>
constexpr bool all_of(Range&& range, Test test, Of of = {}) {
  return !ranges::any_of(
      range, [&](const auto& one) { return !std::invoke(test, one); }, of);
}
template <class Range, class Test, class Of = Itself>
constexpr auto count_if(Range&& range, Test test, Of of = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](auto&& one) -> bool { return std::invoke(test, std::invoke(of, one)); });
}
template <class Range, class Value, class Of = Itself>
constexpr auto count(Range&& range, const Value& value, Of of = {}) {
  return ranges::count_if(
      range, [&](const auto& one) { return one == value; }, of);
}
template <class Range, class Less = std::less<>, class Of = Itself>
constexpr auto max_element(Range&& range, Less less = {}, Of of = {}) {
  return std::max_element(std::begin(range), std::end(range), [&](const auto& a, const auto& b) -> bool {
    return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
  });
}
template <class Range>
constexpr void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <class Range, class Less = std::less<>, class Of = Itself>
void sort(Range&& range, Less less = {}, Of of = {}) {
  std::sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) -> bool {
    return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
  });
}
template <class Range, class Less = std::less<>, class Of = Itself>
void stable_sort(Range&& range, Less less = {}, Of of = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) -> bool {
    return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
  });
}
template <class One, class Other>
constexpr auto mismatch(One&& one, Other&& other) {
  const auto found = std::mismatch(std::begin(one), std::end(one), std::begin(other), std::end(other));
  struct Places {
    decltype(found.first) in1;
    decltype(found.second) in2;
  };
  return Places{found.first, found.second};
}

}  // namespace std::ranges
#endif
