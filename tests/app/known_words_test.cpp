#include "document/known_words.h"

#include <gtest/gtest.h>

namespace headlight {
namespace {

using Strings = std::vector<std::string>;

TEST(KnownWords, CountsWordsButNoSpecialTokens) {
  const Vocabulary vocabulary{.words = {"<pad>", "<unk>", "我", "你", "cat"}, .ids = {}};
  EXPECT_EQ(known_words(vocabulary, "x", 5).count, 3u);
}

TEST(KnownWords, ExamplesAreWrittenAsTheUnknownWordIs) {
  const Vocabulary vocabulary{.words = {"<pad>", "我", "cat", "。", ".", "你", "dog"}, .ids = {}};
  EXPECT_EQ(known_words(vocabulary, "zebra", 5).examples, (Strings{"cat", "dog"}));
  EXPECT_EQ(known_words(vocabulary, "马", 2).examples, (Strings{"我", "。"}));
}

TEST(KnownWords, ExamplesAreTakenFromTheWholeVocabulary) {
  Vocabulary vocabulary;
  for (int i = 0; i < 100; ++i) vocabulary.words.push_back("w" + std::to_string(i));
  EXPECT_EQ(known_words(vocabulary, "a", 4).examples, (Strings{"w0", "w25", "w50", "w75"}));
}

TEST(KnownWords, PiecesOfWordsAreNoExamples) {
  Vocabulary vocabulary;
  for (std::size_t i = 0; i <= kMostWholeWords; ++i) vocabulary.words.push_back("w" + std::to_string(i));
  const KnownWords known = known_words(vocabulary, "a", 4);
  EXPECT_EQ(known.count, kMostWholeWords + 1);
  EXPECT_TRUE(known.examples.empty());
}

TEST(KnownWords, AnEmptyVocabularyKnowsNothing) {
  EXPECT_EQ(known_words({}, "a", 4).count, 0u);
  EXPECT_TRUE(known_words({}, "", 4).examples.empty());
}

}  // namespace
}  // namespace headlight
