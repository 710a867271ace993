#include "base/formatted.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>

namespace headlight {
namespace {

/// The text by the standard library alone.
std::string plainly(float value) {
  char digits[64];
  char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  double read = 0;
  std::from_chars(digits, end, read);
  if (static_cast<float>(read) != value)
    end = std::to_chars(digits, digits + sizeof digits, static_cast<double>(value)).ptr;
  return {digits, end};
}

std::string text_of(float value) {
  std::string text;
  EXPECT_TRUE(append_number(text, value));
  return text;
}

void expect_plain(std::uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  ASSERT_EQ(text_of(value), plainly(value)) << "bits " << bits;
}

constexpr std::uint32_t kInfinite = 0x7F800000;

TEST(Formatted, ANumberThatIsRoundedToZeroHasNoSign) {
  EXPECT_EQ(formatted("%.4f", -0.00004), "0.0000");
  EXPECT_EQ(formatted("[%.3f, %.3f]", -0.0, -1e-9), "[0.000, 0.000]");
  EXPECT_EQ(formatted("%.4f", -0.0001), "-0.0001");
  EXPECT_EQ(formatted("%+.2f %.0e", -0.6, -0.0), "-0.60 -0e+00");
  EXPECT_EQ(formatted("head-%.1f x%s", 0.0, "-0.0a"), "head-0.0 x-0.0a");
  EXPECT_EQ(formatted("%.17g", -0.00012), "-0.00012");
}

/// All of them were once compared by hand; here every so many-th, and those about every power of two and of ten.
TEST(Formatted, OneIsNoPlural) {
  EXPECT_EQ(headlight::counted(1, "head"), "1 head");
  EXPECT_EQ(headlight::counted(0, "head"), "0 heads");
  EXPECT_EQ(headlight::counted(1, "query", "queries"), "1 query");
  EXPECT_EQ(headlight::counted(2, "query", "queries"), "2 queries");
}

TEST(Number, IsTheTextOfTheStandardLibrary) {
  for (std::uint32_t bits = 1; bits < kInfinite; bits += 4099) {
    expect_plain(bits);
    if (HasFatalFailure()) return;
  }
}

TEST(Number, IsThatTextAboutPowersOfTwoAndOfTen) {
  for (std::uint32_t bits = 0; bits < kInfinite; bits += 1u << 23)
    for (std::uint32_t near = bits > 40 ? bits - 40 : 0; near < bits + 40; ++near) {
      expect_plain(near);
      expect_plain(near | 0x80000000);
    }
  for (float power = 1e-44f; power < 1e38f; power *= 10)
    for (const float times : {1.0f, 2.0f, 5.0f, 9.0f})
      for (std::uint32_t bits = std::bit_cast<std::uint32_t>(power * times), near = bits - 20; near < bits + 20; ++near)
        if (near < kInfinite) expect_plain(near);
}

TEST(Number, OfWeightsReadsBackBothWays) {
  std::uint32_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 1664525 + 1013904223;
    const float value = static_cast<float>(state >> 8) / 16777216.0f;
    const std::string text = text_of(value);
    float as_float = 0;
    double as_double = 0;
    std::from_chars(text.data(), text.data() + text.size(), as_float);
    std::from_chars(text.data(), text.data() + text.size(), as_double);
    ASSERT_EQ(as_float, value) << text;
    ASSERT_EQ(static_cast<float>(as_double), value) << text;
  }
}

TEST(Number, RefusesWhatIsNotFinite) {
  std::string text = "x";
  EXPECT_FALSE(append_number(text, std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(append_number(text, -std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(append_number(text, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(text, "x");
  EXPECT_EQ(text_of(-0.0f), "-0");
  EXPECT_EQ(text_of(7.038531e-26f), plainly(7.038531e-26f));
}

}  // namespace
}  // namespace headlight
