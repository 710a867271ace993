#include "write/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace headlight {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// 10^n = mantissa · 2^exponent, mantissa in [2^63, 2^64): exact up to 10^27, beyond to 2^-58 of itself.
struct PowerOfTen {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};
constexpr int kPowers = 46;
constexpr std::array<PowerOfTen, kPowers> powers_of_ten() {
  std::array<PowerOfTen, kPowers> powers{};
  powers[0] = {std::uint64_t{1} << 63, -63};
  for (std::size_t n = 1; n < kPowers; ++n) {
    Wide product = Wide{powers[n - 1].mantissa} * 10;
    int exponent = powers[n - 1].exponent;
    for (; product >> 64 != 0; product >>= 1) ++exponent;
    powers[n] = {static_cast<std::uint64_t>(product), exponent};
  }
  return powers;
}
constexpr std::array<PowerOfTen, kPowers> kPowersOfTen = powers_of_ten();

/// digits · 10^exponent
struct Decimal {
  std::uint32_t digits = 0;
  int exponent = 0;
};

constexpr int kFraction = 32;  // bits behind the point
constexpr std::uint64_t kOne = std::uint64_t{1} << kFraction;
/// What lies as near as this to a border is not decided here. More than the error of all that is computed, and more than
/// a double of so many digits is rounded by: a decimal that lies farther inside reads back by way of a double as well.
constexpr std::uint64_t kNear = 1024;

bool is_near(std::uint64_t a, std::uint64_t b) { return a - b + kNear <= 2 * kNear; }

/// The shortest decimal that reads back to `bits`, a positive float below 2^24, and of those the nearest; nothing where
/// that takes more exact numbers, which is rare. Of all decimals that read back, those with the fewest digits are found
/// where one unit of their last place is the largest power of ten within the interval that rounds to the float
/// (R. Giulietti, The Schubfach way to render doubles, 2020).
std::optional<Decimal> shortest(std::uint32_t bits) {
  const std::uint32_t stored = bits & 0x7FFFFF, biased = bits >> 23;
  if (stored == 0) return std::nullopt;  // a power of two: the floats below it lie closer than those above
  const std::uint32_t c = biased == 0 ? stored : stored | 0x800000;
  const int q = biased == 0 ? -149 : static_cast<int>(biased) - 150;  // the float is c·2^q
  const int k = (q * 1262611) >> 22;                                  // floor(q·log10 2)
  const PowerOfTen& power = kPowersOfTen[static_cast<std::size_t>(-k)];
  const int shift = -(q + power.exponent + kFraction);
  // In units of 10^k: the float, and half of the way to its neighbours, which is from 1/2 to 5.
  const auto value = static_cast<std::uint64_t>((Wide{c} * power.mantissa) >> shift);
  const auto half = static_cast<std::uint64_t>(Wide{power.mantissa} >> (shift + 1));
  const std::uint64_t lower = value - half, upper = value + half;

  const std::uint64_t units = value >> kFraction, tens = units / 10;
  const std::uint64_t below = tens * 10 * kOne, above = below + 10 * kOne;
  if (is_near(below, lower) || is_near(above, upper)) return std::nullopt;
  if (below > lower || above < upper) {
    Decimal result{static_cast<std::uint32_t>(below > lower ? tens : tens + 1), k + 1};
    while (result.digits % 10 == 0 && result.digits > 0) {
      result.digits /= 10;
      ++result.exponent;
    }
    if (result.digits == 0) return std::nullopt;
    return result;
  }
  const std::uint64_t floor = units * kOne, fraction = value - floor;
  if (is_near(floor, lower) || is_near(floor + kOne, upper) || is_near(fraction, kOne / 2)) return std::nullopt;
  const bool floor_fits = floor > lower, next_fits = floor + kOne < upper;
  const bool next = next_fits && (!floor_fits || fraction > kOne / 2);
  if (!next && !floor_fits) return std::nullopt;
  return Decimal{static_cast<std::uint32_t>(next ? units + 1 : units), k};
}

/// "00" to "99", one after another.
constexpr std::array<char, 200> pairs_of_digits() {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr std::array<char, 200> kPairs = pairs_of_digits();

/// At most ten digits, and what is copied with them where a fixed number of bytes is the quicker copy.
struct Digits {
  static constexpr std::size_t kMost = 10;
  char space[2 * kMost] = {};
  int count = 0;

  explicit Digits(std::uint32_t number) {
    char* at = space + kMost;
    const auto put = [&](std::uint32_t pair) { std::memcpy(at -= 2, kPairs.data() + 2 * pair, 2); };
    for (; number >= 100; number /= 100) put(number % 100);
    put(number);
    if (*at == '0') ++at;
    count = static_cast<int>(space + kMost - at);
  }
  const char* begin() const { return space + kMost - count; }
};

/// As std::to_chars writes it: fixed where that is not longer than scientific. Gives the end; writes a few bytes beyond.
char* put_decimal(const Decimal& decimal, char* to) {
  const Digits digits(decimal.digits);
  const char* const begin = digits.begin();
  const int count = digits.count, exponent = decimal.exponent, one = count == 1;
  if (exponent < -(count + 3) + one || exponent > 5 - one) {
    to[0] = begin[0];
    to[1] = '.';
    std::memcpy(to + 2, begin + 1, Digits::kMost);
    to += one ? 1 : count + 1;
    const int power = exponent + count - 1;
    to[0] = 'e';
    to[1] = power < 0 ? '-' : '+';
    std::memcpy(to + 2, kPairs.data() + 2 * std::abs(power), 2);
    return to + 4;
  }
  const int whole = count + exponent;  // digits before the point
  if (whole <= 0) {
    std::memcpy(to, "0.000000", 8);
    std::memcpy(to + 2 - whole, begin, Digits::kMost);
    return to + 2 - whole + count;
  }
  std::memcpy(to, begin, Digits::kMost);
  if (exponent >= 0) return std::fill_n(to + count, exponent, '0');
  to[whole] = '.';
  std::memcpy(to + whole + 1, begin + whole, Digits::kMost);
  return to + count + 1;
}

char* put_exactly(float value, char* to, char* end) {
  char* stop = std::to_chars(to, end, value).ptr;
  // The shortest text of a float may lie so near the middle between two floats that a reader who rounds to a double
  // first ends at the other one (7.038531e-26 does); the text of the value as a double cannot.
  double read = 0;
  std::from_chars(to, stop, read);
  return static_cast<float>(read) == value ? stop : std::to_chars(to, end, static_cast<double>(value)).ptr;
}

}  // namespace

char* put_number(float value, char* to) {
  const auto bits = std::bit_cast<std::uint32_t>(value), positive = bits & 0x7FFFFFFF;
  if (positive == 0 || positive == std::bit_cast<std::uint32_t>(1.0f)) {
    if (bits != positive) *to++ = '-';
    *to++ = positive == 0 ? '0' : '1';
    return to;
  }
  if (positive < std::bit_cast<std::uint32_t>(16777216.0f)) {
    if (const auto decimal = shortest(positive)) {
      if (bits != positive) *to++ = '-';
      return put_decimal(*decimal, to);
    }
  }
  return put_exactly(value, to, to + kLongestNumber);
}

bool append_number(std::string& text, float value) {
  if (!std::isfinite(value)) return false;
  char digits[kLongestNumber];
  text.append(digits, put_number(value, digits));
  return true;
}

}  // namespace headlight
