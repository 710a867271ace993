// What the C++20 library of Debian's emscripten (LLVM 14) lacks. Included before each file of the preset `web`.
#pragma once

#ifdef __cplusplus
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
#endif
