// Two sentences side by side: the joint axis keeps both, pairs as many words as can be, and keeps phrases whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "heads/pattern_difference.h"

namespace headlight {
namespace {

Token word(const std::string& text) {
  Token token;
  token.text = token.raw = text;
  return token;
}

std::vector<Token> token_sentence(const std::string& characters) {
  std::vector<Token> tokens;
  for (const char c : characters) tokens.push_back(word(std::string(1, c)));
  return tokens;
}

/// `x(p)y[q]`: a pair as it is, a word only A has in round brackets, one only B has in square ones.
std::string written(const std::string& a, const std::string& b) {
  std::string text;
  for (const JointToken& place : align_tokens(token_sentence(a), token_sentence(b))) {
    const char c = place.a ? a[static_cast<std::size_t>(*place.a)] : b[static_cast<std::size_t>(*place.b)];
    text += place.in_both() ? std::string(1, c) : place.a ? std::string("(") + c + ")" : std::string("[") + c + "]";
  }
  return text;
}

/// The longest common subsequence, by trying everything: of short sentences.
std::size_t longest_common(const std::vector<Token>& a, std::size_t i, const std::vector<Token>& b, std::size_t j) {
  if (i == a.size() || j == b.size()) return 0;
  std::size_t best = std::max(longest_common(a, i + 1, b, j), longest_common(a, i, b, j + 1));
  if (same_word(a[i], b[j])) best = std::max(best, 1 + longest_common(a, i + 1, b, j + 1));
  return best;
}

std::size_t pairs(const JointAxis& axis) {
  return static_cast<std::size_t>(
      std::count_if(axis.begin(), axis.end(), [](const JointToken& p) { return p.in_both(); }));
}

/// Every token of a side once and in order.
bool keeps(const JointAxis& axis, std::optional<Index> JointToken::*side, std::size_t count) {
  Index next = 0;
  for (const JointToken& place : axis)
    if (const auto at = place.*side)
      if (*at != next++) return false;
  return next == static_cast<Index>(count);
}

TEST(TokenAlignment, HasWhatBothHaveInPairs) {
  EXPECT_EQ(written("abc", "abc"), "abc");
  EXPECT_EQ(written("abc", "axc"), "a(b)[x]c");
  EXPECT_EQ(written("abc", ""), "(a)(b)(c)");
  EXPECT_EQ(written("", "abc"), "[a][b][c]");
  EXPECT_EQ(written("ab", "cd"), "(a)(b)[c][d]") << "between pairs A's tokens stand first";
  EXPECT_EQ(written("xaybz", "ab"), "(x)a(y)b(z)");
  EXPECT_EQ(written("ab", "xaybz"), "[x]a[y]b[z]");
}

TEST(TokenAlignment, AWordThatStandsTwiceGoesWithItsNeighbours) {
  EXPECT_EQ(written("abcdaef", "aef"), "(a)(b)(c)(d)aef") << "not the first a, four words away";
  EXPECT_EQ(written("aef", "abcdaef"), "[a][b][c][d]aef");
  EXPECT_EQ(written("aba", "a"), "a(b)(a)") << "of equal ones the first";
}

TEST(TokenAlignment, IsTheLongestCommonSubsequence) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const auto draw = [&] {
      std::vector<Token> tokens;
      const auto size = static_cast<std::size_t>(random.next() % 8);
      for (std::size_t i = 0; i < size; ++i)
        tokens.push_back(word(std::string(1, static_cast<char>('a' + random.next() % 3))));
      return tokens;
    };
    const auto a = draw(), b = draw();
    const JointAxis axis = align_tokens(a, b);
    EXPECT_TRUE(keeps(axis, &JointToken::a, a.size()));
    EXPECT_TRUE(keeps(axis, &JointToken::b, b.size()));
    for (const JointToken& place : axis) {
      EXPECT_TRUE(place.a || place.b);
      if (!place.in_both()) continue;
      EXPECT_TRUE(same_word(a[static_cast<std::size_t>(*place.a)], b[static_cast<std::size_t>(*place.b)]));
    }
    EXPECT_EQ(pairs(axis), longest_common(a, 0, b, 0));
    EXPECT_EQ(pairs(axis), pairs(align_tokens(b, a)));
    EXPECT_EQ(axis, align_tokens(a, b)) << "the same every time";
    EXPECT_EQ(pairs(align_tokens(a, a)), a.size());
  }
}

TEST(TokenAlignment, WhatAWordIs) {
  const Token typed = word("the");
  Token spelled = typed, special = typed, pad = typed;
  spelled.raw = "Ġthe";
  spelled.id = 262;
  special.special = true;
  pad.pad = true;
  EXPECT_TRUE(same_word(typed, spelled)) << "two tokenizers spell it in their ways";
  EXPECT_FALSE(same_word(typed, special)) << "a mark that reads like a word is none";
  EXPECT_FALSE(same_word(typed, pad));
  Token seven, eight;
  seven.id = 7;
  eight.id = 8;
  EXPECT_TRUE(same_word(seven, seven));
  EXPECT_FALSE(same_word(seven, eight)) << "without text their ids tell them apart";
}

TEST(TokenAlignment, TakesSentencesOfTheLimit) {
  std::vector<Token> a, b;
  for (std::size_t i = 0; i < kMostAligned; ++i) {
    a.push_back(word(std::to_string(i)));
    b.push_back(word(std::to_string(i + 256)));
  }
  const JointAxis axis = align_tokens(a, b);
  EXPECT_EQ(pairs(axis), kMostAligned - 256);
  EXPECT_EQ(axis.size(), kMostAligned + 256);
  const std::vector<Token> same(kMostAligned, word("a"));
  EXPECT_EQ(pairs(align_tokens(same, same)), kMostAligned);
}

}  // namespace
}  // namespace headlight
