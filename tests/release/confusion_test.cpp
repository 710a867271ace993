// The diagnosis over some thousands of made cases: what must be named is named, what is no mistake is not. The table of
// docs/check-your-attention.md is what comes out; HEADLIGHT_PRINT=1 prints it and every case that is not as it must be.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/file.h"
#include "base/formatted.h"
#include "release/slip_cases.h"

namespace headlight {
namespace {

using namespace mistaken;

struct Count {
  int cases = 0, named = 0;
  double share() const { return cases == 0 ? 1 : static_cast<double>(named) / cases; }
};

struct Confusion {
  int table[kFamilyCount + 2][kFamilyCount] = {};  // what was made (pairs and some heads last) by what was reported
  Count singles, in_heads, pairs, rounded, strangers;
  int cases = 0, false_verdicts = 0, equal = 0;
};

std::string row_name(std::size_t row) {
  return row < kFamilyCount    ? (row == kNone ? "no mistake" : kFamilies[row])
         : row == kFamilyCount ? "two mistakes"
                               : "in some heads";
}

void count(const Case& one, Confusion& confusion, bool print) {
  const Said said = said_of(one);
  ++confusion.cases;
  if (said.equal && said.codes.empty()) {
    ++confusion.equal;
    return;
  }
  const bool pair = one.codes.size() > 1;
  const std::size_t made = one.rounded         ? kRounding
                           : one.codes.empty() ? kNone
                           : pair              ? kFamilyCount
                           : one.in_heads      ? kFamilyCount + 1
                                               : family_of(one.codes[0]);
  // A verdict that is what was made counts as its family, by whatever name stands first.
  const std::size_t said_family = said.right && made < kFamilyCount ? made : said.family;
  if (one.must || said.family != kNone) ++confusion.table[made][said_family];
  const bool wrong = !said.codes.empty() && !said.right;
  confusion.false_verdicts += wrong ? 1 : 0;
  Count& of_kind = one.rounded         ? confusion.rounded
                   : one.codes.empty() ? confusion.strangers
                   : pair              ? confusion.pairs
                   : one.in_heads      ? confusion.in_heads
                                       : confusion.singles;
  if (one.must) ++of_kind.cases, of_kind.named += said.right ? 1 : 0;
  if (print && (wrong || (one.must && !said.right))) {
    std::cout << (wrong ? "FALSE " : "missed ") << one.name << (one.reversed ? " reversed" : "") << ":";
    for (const std::string& code : said.codes) std::cout << " " << code;
    std::cout << "\n";
  }
}

std::string text_of(const Confusion& confusion) {
  std::string text = "| made ↓ named → |";
  for (const char* family : kFamilies) text += " " + std::string(family) + " |";
  text += "\n|";
  for (std::size_t i = 0; i <= kFamilyCount; ++i) text += " --- |";
  text += "\n";
  for (std::size_t row = 0; row < kFamilyCount + 2; ++row) {
    text += "| " + row_name(row) + " |";
    for (const int cell : confusion.table[row]) text += " " + (cell > 0 ? std::to_string(cell) : "") + " |";
    text += "\n";
  }
  const auto percent = [](const Count& one) {
    return formatted("%.1f", 100 * one.share()) + " % of " + std::to_string(one.cases);
  };
  return text + "\n" + std::to_string(confusion.cases) + " cases, " + std::to_string(confusion.false_verdicts) +
         " false verdicts. Named: " + percent(confusion.singles) + " single mistakes, " + percent(confusion.in_heads) +
         " in some heads, " + percent(confusion.pairs) + " pairs, " + percent(confusion.rounded) +
         " roundings; nothing is named in " + percent(confusion.strangers) + " without a mistake.\n";
}

TEST(Confusion, WhatIsMadeIsNamedAndNothingElse) {
  const bool print = std::getenv("HEADLIGHT_PRINT") != nullptr;
  Confusion confusion;
  for_each_case([&](const Case& one) { count(one, confusion, print); });
  EXPECT_GE(confusion.cases, 3000);
  EXPECT_EQ(confusion.false_verdicts, 0);
  EXPECT_GE(confusion.singles.share(), 0.97);
  EXPECT_GE(confusion.in_heads.share(), 0.97);
  EXPECT_GE(confusion.pairs.share(), 0.85);
  EXPECT_EQ(confusion.strangers.share(), 1);
  const std::string text = text_of(confusion);
  if (print) std::cout << text;
  const auto project = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path();
  EXPECT_NE(read_file(project / "docs" / "check-your-attention.md")->find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace headlight
