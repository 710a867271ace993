// UTF-8 as the Unicode Standard defines it (table 3-7): what is well-formed, and where it stops being so.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headlight {
namespace {

using namespace std::string_literals;

TEST(Utf8, AcceptsEveryLengthUpToItsLimits) {
  for (const std::string& text :
       {""s, "a"s, "\0"s, "a\0b"s, "\x7f"s, "\u0080"s, "\u07FF"s, "\u0800"s, "\uD7FF"s, "\uE000"s, "\uFFFD"s, "\uFFFE"s,
        "\uFFFF"s, "\U00010000"s, "\U0010FFFF"s, "\uFEFF"s, "我请李雷"s, "𠮷野家"s, "👩‍👩‍👧"s}) {
    EXPECT_EQ(first_invalid_utf8(text), std::nullopt) << testing::PrintToString(text);
    EXPECT_TRUE(check_utf8("text", text));
  }
}

TEST(Utf8, NamesTheFirstByteThatIsNotPartOfACodePoint) {
  const struct {
    std::string bytes;
    std::size_t at;
  } cases[] = {
      {"\x80", 0},  // a continuation by itself
      {"abc\xBF", 3},
      {"\xC0\x80", 0},  // overlong NUL
      {"\xC1\xBF", 0},
      {"\xE0\x80\x80", 0},  // overlong in three bytes
      {"\xE0\x9F\xBF", 0},
      {"\xF0\x80\x80\x80", 0},  // overlong in four
      {"\xF0\x8F\xBF\xBF", 0},
      {"\xED\xA0\x80", 0},               // U+D800
      {"\xED\xBF\xBF", 0},               // U+DFFF
      {"a\xED\xA0\xBD\xED\xB8\x80", 1},  // a surrogate pair, as CESU-8 writes it
      {"\xF4\x90\x80\x80", 0},           // U+110000
      {"\xF5\x80\x80\x80", 0},
      {"\xF8\x88\x80\x80\x80", 0},
      {"\xFE", 0},
      {"\xFF", 0},
      {"我\xE6", 3},  // cut short by the end
      {"我\xE6\x88", 3},
      {"我\xF0\x9F\x98", 3},
      {"我\xE6\x88我", 3},  // cut short by the next one
      {"我\xC3我", 3},
      {"\xFF\xFEh\0i\0"s, 0},  // UTF-16 with its mark
      {"𠮷\x80", 4},
  };
  for (const auto& [bytes, at] : cases) EXPECT_EQ(first_invalid_utf8(bytes), at) << testing::PrintToString(bytes);
}

TEST(Utf8, ErrorIsOneLineThatNamesTheByteAndItsOffset) {
  const Status status = check_utf8("notes.txt", "我\xFF");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "notes.txt: text: expected valid UTF-8, found byte 0xff at offset 3");
}

TEST(Utf8, CodePointsReplaceWhatIsInvalid) {
  EXPECT_EQ(code_points(""), std::vector<char32_t>{});
  EXPECT_EQ(code_points("a我𠮷"), (std::vector<char32_t>{U'a', U'我', U'𠮷'}));
  EXPECT_EQ(code_points("a\0b"s), (std::vector<char32_t>{U'a', 0, U'b'}));
  EXPECT_EQ(code_points("a\xFF我"), (std::vector<char32_t>{U'a', 0xFFFD, U'我'}));
  // A sequence cut short is replaced once (Unicode 15.0, section 3.9, "maximal subpart").
  EXPECT_EQ(code_points("\xE6\x88"), std::vector<char32_t>{0xFFFD});
}

TEST(Utf8, EveryCodePointSurvivesTheRoundTrip) {
  std::string text;
  std::vector<char32_t> expected;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    append_utf8(text, c);
    expected.push_back(c);
  }
  EXPECT_EQ(first_invalid_utf8(text), std::nullopt);
  EXPECT_EQ(code_points(text), expected);
}

TEST(Utf8, AppendsTheReplacementForWhatIsNoCodePoint) {
  for (const char32_t c : {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
    std::string text = "a";
    append_utf8(text, c);
    EXPECT_EQ(text, "a\uFFFD");
  }
}

}  // namespace
}  // namespace headlight
