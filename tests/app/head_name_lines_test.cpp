// The name of a head in the room that there is, and numbers and models in words.
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "models/bundled_models.h"

namespace headlight {
namespace {

TEST(HeadName, WhereThereIsLittleRoomTheFirstRelationIsLeft) {
  HeadName name;
  name.words = "3 determiners, 1 possessor; 6 words rest on <s>";
  name.brief = "3 determiners";
  name.named = true;
  const auto width = [](const std::string& text) { return static_cast<float>(text.size()); };
  const auto title = [&](float room) { return title_within({1, 6}, name, "", room, width); };
  EXPECT_EQ(title(100).head + title(100).beside, "L1·H6  " + name.words);
  EXPECT_EQ(title(28).beside, "  3 determiners");
  EXPECT_EQ(title(8).beside, "");
}

TEST(HeadName, InLinesItBreaksBetweenWordsAndIsCutOnlyWhereItMust) {
  const auto width = [](const std::string& text) { return static_cast<float>(code_points(text).size()); };
  const auto lines = [&](const char* words, float room, std::size_t most) {
    HeadName name;
    name.words = name.brief = words;
    return name_in_lines(name, room, most, width);
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("object → its verb", 8, 2), (Lines{"object →", "its verb"}));
  EXPECT_EQ(lines("object → its verb", 8, 1), (Lines{"object…"}));
  EXPECT_EQ(lines("complement clause → its verb", 9, 3), (Lines{"clause →", "verb"})) << "a word has no room";
  EXPECT_EQ(lines("noun beside a verb → that verb", 9, 2), (Lines{"noun", "beside a…"})) << "no other name is made";
  EXPECT_EQ(lines("介词、方位词、的 → 名词", 5, 3), (Lines{"介词、方位", "词、的 →", "名词"}));
  EXPECT_TRUE(lines("", 9, 3).empty());
  HeadName name;
  name.words = name.brief = "subject";
  EXPECT_EQ(name_in_lines(name, 9, 1, width, 8), Lines{""}) << "an ellipsis alone is no name";
}

TEST(HeadName, SharesAreWrittenAsPeopleDo) {
  const std::pair<double, const char*> all[] = {{1, "100 %"},     {0.934, "93 %"},  {0.0995, "10 %"},
                                                {0.042, "4.2 %"}, {0.001, "0.1 %"}, {0.0009, "<0.1 %"},
                                                {1e-9, "<0.1 %"}, {0, "0 %"}};
  for (const auto& [share, text] : all) EXPECT_EQ(share_text(share), text);
}

TEST(ModelName, TheStepOfATrainingIsInTheWindowsLanguage) {
  EXPECT_EQ(model_name_in(Language::en, "small, step 30"), "small, step 30");
  EXPECT_EQ(model_name_in(Language::zh, "small, step 30"), "small，第 30 步");
  for (const char* name : {"small", "small, step", "small, step ", "small, step 3b", ""})
    EXPECT_EQ(model_name_in(Language::zh, name), name);
}

}  // namespace
}  // namespace headlight
