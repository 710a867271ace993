#include "paper/visual_text.h"

#include <gtest/gtest.h>

namespace headlight {
namespace {

/// Between the marks that keep the order.
std::string visually(std::string_view text) {
  const std::string visual = visual_text(text), begin = "\u202D", end = "\u202C";
  if (!visual.starts_with(begin)) return visual;
  return visual.substr(begin.size(), visual.size() - begin.size() - end.size());
}

TEST(VisualText, LettersFromRightToLeftAreDrawnFromTheRight) {
  EXPECT_EQ(visually("שלום"), "םולש");
  EXPECT_EQ(visually("the cat"), "the cat");
  EXPECT_EQ(visual_text("我请李雷"), "我请李雷");
  EXPECT_EQ(visually("(שלום)"), "(םולש)") << "brackets are mirrored";
}

TEST(VisualText, DigitsAndLatinWithinKeepTheirOrder) {
  EXPECT_EQ(visually("שלום 2024 GPT-2"), "GPT-2 2024 םולש");
  EXPECT_EQ(visually("the שלום cat"), "the םולש cat");
  EXPECT_EQ(visually("\u200E"
                     "שלום: abc"),
            "םולש: abc")
      << "a line that runs from left to right";
}

TEST(VisualText, ArabicLettersJoin) {
  EXPECT_EQ(visually("هذا"), "\uFE8D\uFEAC\uFEEB");
  EXPECT_EQ(visually("لا"), "\uFEFB") << "a ligature";
  EXPECT_EQ(visually("پ"), "\uFB56") << "of Persian too";
}

TEST(VisualText, AMarkIsDrawnBeforeItsLetterAsFontsWantIt) {
  // Marks of these fonts have no width, and their ink lies at the right of where they are set.
  EXPECT_EQ(visually("\u05D1\u05B8\u05BC"), "\u05BC\u05B8\u05D1");
  EXPECT_EQ(visually("\u0628\u064E"), "\u064E\uFE8F");
  EXPECT_EQ(visual_text("e\u0301"), "e\u0301");
}

TEST(VisualText, ScriptsThatAreNotShapedAreNamed) {
  EXPECT_EQ(unshaped_script("a हिन्दी"), "Devanagari");
  EXPECT_EQ(unshaped_script("தமிழ்"), "Tamil");
  for (const char* text : {"the cat", "我请李雷", "שלום", "مُحَمَّد", "ที่นี่", ""})
    EXPECT_EQ(unshaped_script(text), "") << text;
}

TEST(VisualText, WhatIsOrderedStaysSo) {
  const std::string once = visual_text("שלום");
  EXPECT_EQ(visually(once), "םולש");
  EXPECT_EQ(visually(once + " attends to the cat"), "םולש attends to the cat");
  EXPECT_EQ(visual_text(visual_text("عن AI")), visual_text("عن AI"));
}

TEST(VisualText, LinesAreOrderedOneByOne) { EXPECT_EQ(visually("שלום\nabc"), "םולש\nabc"); }

TEST(VisualText, WhatIsNoTextStaysWhole) {
  EXPECT_EQ(visually("\xD7\xFF"), "\xD7\xFF");
  EXPECT_EQ(visually("\xD7"), "\xD7");
}

}  // namespace
}  // namespace headlight
