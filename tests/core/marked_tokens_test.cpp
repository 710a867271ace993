// The text of --tokens: bars between tokens.
#include <gtest/gtest.h>

#include <string>

#include "text/words.h"

namespace headlight {
namespace {

TEST(MarkedTokens, BarsAreCuts) {
  EXPECT_EQ(*parse_marked_tokens("--tokens", "我|请|李雷"), (MarkedText{"我请李雷", {3, 6}}));
  EXPECT_EQ(*parse_marked_tokens("--tokens", "one"), (MarkedText{"one", {}}));
  EXPECT_EQ(*parse_marked_tokens("--tokens", "a| b| |c"), (MarkedText{"a b c", {1, 3, 4}}));
  EXPECT_EQ(*parse_marked_tokens("--tokens", R"(a\||\\|b)"), (MarkedText{R"(a|\b)", {2, 3}}));
  // A person may cut where no rule would: inside a cluster, but never inside a code point.
  EXPECT_EQ(*parse_marked_tokens("--tokens", "e|\u0301"), (MarkedText{"e\u0301", {1}}));
  EXPECT_EQ(mark_tokens("我请李雷", {3, 6}), "我|请|李雷");
  EXPECT_EQ(mark_tokens(R"(a|\b)", {2, 3}), R"(a\||\\|b)");
  EXPECT_EQ(mark_tokens("", {}), "");
}

TEST(MarkedTokens, ErrorsNameTheToken) {
  const std::string none = "expected at least one character, found none (a bar that is text is written \\|)";
  const std::pair<std::string, std::string> cases[] = {
      {"", "--tokens: token 1: " + none},
      {"|", "--tokens: token 1: " + none},
      {"|a", "--tokens: token 1: " + none},
      {"a|", "--tokens: token 2: " + none},
      {"a||b", "--tokens: token 2: " + none},
      {"我|请|\\", "--tokens: token 3: expected \\| or \\\\, found a backslash at the end"},
      {"我|\\n", "--tokens: token 2: expected \\| or \\\\, found \\n"},
      {"\\我", "--tokens: token 1: expected \\| or \\\\, found \\我"},
      {"我|\xE6|", "--tokens: text: expected valid UTF-8, found byte 0xe6 at offset 4"},
  };
  for (const auto& [marked, message] : cases) {
    const auto parsed = parse_marked_tokens("--tokens", marked);
    ASSERT_FALSE(parsed) << marked;
    EXPECT_EQ(parsed.error().message(), message);
  }
}

}  // namespace
}  // namespace headlight
