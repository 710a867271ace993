#include "app/shipped.h"
#include "names/sentence_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "assets/assets.h"
#include "base/file.h"
#include "models/bundled_models.h"

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

TEST(KnownWords, DocumentsSayTheNumberThatTheWindowSays) {
  const auto& shipped = fixture::shipped();
  const auto folder = asset_folder();
  ASSERT_TRUE(shipped && folder);
  const auto encoder = std::find_if(shipped->begin(), shipped->end(),
                                    [](const BundledModel& model) { return model.source == "shipped:encoder"; });
  ASSERT_NE(encoder, shipped->end());
  const Vocabulary& vocabulary = *encoder->model->vocabulary;
  const std::string count = std::to_string(known_words(vocabulary, "a", 1).count);
  for (const char* document : {"guide.md", "models.md"}) {
    const auto text = read_file(*folder / "docs" / document);
    ASSERT_TRUE(text) << document;
    EXPECT_NE(text->find("knows " + count + " words"), std::string::npos) << document;
  }
  const auto rows = read_file(*folder / "docs" / "models.md");
  EXPECT_NE(rows->find("has " + std::to_string(vocabulary.words.size()) + " rows"), std::string::npos);
}

TEST(KnownWords, AnUnknownWordIsReadAsTheModelsOwnToken) {
  const auto line_of = [](const char* raw) {
    Request request;
    request.tokens.tokens = {{.id = 1, .text = "zebra", .raw = raw, .known = false}};
    return unknown_words_line({request});
  };
  EXPECT_EQ(line_of("[UNK]"), "1 word is unknown to the model and read as [UNK]: zebra");
  EXPECT_EQ(line_of("▁zebra"), "1 word is unknown to the model and read as <unk>: zebra");
}

TEST(KnownWords, AnEmptyVocabularyKnowsNothing) {
  EXPECT_EQ(known_words({}, "a", 4).count, 0u);
  EXPECT_TRUE(known_words({}, "", 4).examples.empty());
}

}  // namespace
}  // namespace headlight
