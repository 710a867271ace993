// The words of a large tokenizer.json are kept beside the settings: what is read with them is what is read without.
#include <chrono>
#include <cstring>

#include "model/fingerprint.h"
#include "read/tokenizer/kept_words.h"
#include "read/tokenizer/tokenizer_file.h"
#include "tokenizing.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A byte-pair encoding of more than 4 MB: every word of up to `longest` letters, grown letter by letter.
std::string large_tokenizer(char last_letter = 'g', std::size_t longest = 6) {
  json words = {{"<unk>", 0}, {"<s>", 1}};
  json merges = json::array();
  std::vector<std::string> grown{""};
  for (std::size_t begin = 0; begin < grown.size(); ++begin) {
    const std::string stem = grown[begin];
    if (stem.size() == longest) break;
    for (char letter = 'a'; letter <= last_letter; ++letter) {
      grown.push_back(stem + letter);
      words[grown.back()] = words.size();
      if (!stem.empty()) merges.push_back(json::array({stem, std::string(1, letter)}));
    }
  }
  const json special = {{"id", 1},         {"content", "<s>"}, {"special", true},     {"normalized", false},
                        {"lstrip", false}, {"rstrip", false},  {"single_word", false}};
  const json model = {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", words}, {"merges", merges}};
  return json{{"version", "1.0"}, {"added_tokens", json::array({special})}, {"model", model}}.dump(1);
}

class KeptWordsTest : public testing::Test {
 protected:
  std::vector<std::int64_t> ids(std::string_view text = "abcdefg<s>gfeedcba?") {
    const auto file = read_tokenizer(folder_.path());
    EXPECT_TRUE(file) << file.error().message();
    std::vector<std::int64_t> ids;
    for (const Token& token : tokens_of_text(*file->tokenizer, text).tokens) ids.push_back(token.id);
    return ids;
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(config_ / "headlight/tokenizers", none)) files.push_back(entry);
    return files;
  }

  TemporaryFolder config_, folder_;
  Variable variable_{"XDG_CONFIG_HOME", config_.path().c_str()};
};

TEST_F(KeptWordsTest, TheSecondReadingHasTheSameWordsAndIds) {
  const std::string text = large_tokenizer();
  ASSERT_GT(text.size(), kLeastKeptTokenizer);
  folder_.with("tokenizer.json", text);
  EXPECT_FALSE(kept_words(text));
  const auto first = ids();
  const auto words = kept_words(text);
  ASSERT_TRUE(words);
  EXPECT_LT(words->rest.size(), 1000u);
  EXPECT_GT(words->bpe.merges().size(), 100000u);
  EXPECT_EQ(ids(), first);
  EXPECT_GT(first.size(), 5u);
  EXPECT_FALSE(kept_words(text + " ")) << "another text";
  // Settings beside it apply to what is kept, too.
  folder_.with("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": {
      "5": {"content": "hg", "special": true, "lstrip": false, "rstrip": false, "normalized": false}}})");
  const auto with_settings = ids();
  for (const fs::path& file : kept()) fs::remove(file);
  EXPECT_EQ(ids(), with_settings);
}

TEST_F(KeptWordsTest, SmallOnesAndOtherModelsAreNotKept) {
  folder_.with("tokenizer.json", large_tokenizer('b', 3));
  ids("ab");
  EXPECT_TRUE(kept().empty());
}

TEST_F(KeptWordsTest, DamagedFilesAreReadAnew) {
  const std::string text = large_tokenizer();
  folder_.with("tokenizer.json", text);
  const auto expected = ids();
  ASSERT_EQ(kept().size(), 1u);
  const fs::path file = kept().front();
  const std::string whole = *read_file(file);
  const auto hashed = [](std::string bytes) {  // a damage that the hash does not show
    const std::uint64_t hash = hash_bytes({bytes.data(), bytes.size() - sizeof hash});
    std::memcpy(bytes.data() + bytes.size() - sizeof hash, &hash, sizeof hash);
    return bytes;
  };
  constexpr std::size_t kCounts = 18;  // behind the line that names the format
  for (const std::size_t length : {std::size_t{0}, kCounts, kCounts + 8, whole.size() / 2, whole.size() - 1}) {
    ASSERT_TRUE(write_file(file, whole.substr(0, length)));
    EXPECT_FALSE(kept_words(text)) << length;
    if (length < 2 * sizeof(std::uint64_t)) continue;
    ASSERT_TRUE(write_file(file, hashed(whole.substr(0, length))));
    EXPECT_FALSE(kept_words(text)) << length;
  }
  for (const std::size_t at : {kCounts + 7, kCounts + 15, kCounts + 23, kCounts + 24 + 7, kCounts + 24 + 15}) {
    std::string damaged = whole;
    damaged[at] = '\x7F';  // the largest byte of a count, of a pair or of an id
    ASSERT_TRUE(write_file(file, hashed(damaged)));
    EXPECT_FALSE(kept_words(text)) << at;
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  ASSERT_TRUE(write_file(file, flipped));
  EXPECT_FALSE(kept_words(text));
  EXPECT_EQ(ids(), expected);
  EXPECT_TRUE(kept_words(text)) << "kept again";
}

TEST_F(KeptWordsTest, WhereNothingCanBeWrittenItIsReadAllTheSame) {
  folder_.with("tokenizer.json", large_tokenizer());
  config_.with("headlight", "a file in the place of the folder");
  EXPECT_EQ(ids("abc").size(), 1u);
}

TEST_F(KeptWordsTest, OnlyTheNewestStay) {
  folder_.with("tokenizer.json", large_tokenizer());
  ids();
  const fs::path first = kept().front();
  const auto old = fs::last_write_time(first) - std::chrono::hours(1);
  for (std::size_t i = 1; i < kMostKeptTokenizers; ++i) {
    const fs::path copy = first.parent_path() / (std::to_string(i) + ".words");
    fs::copy_file(first, copy);
    fs::last_write_time(copy, old + std::chrono::seconds(i));
  }
  folder_.with("tokenizer.json", large_tokenizer() + "\n");
  ids();
  EXPECT_EQ(kept().size(), kMostKeptTokenizers);
  EXPECT_FALSE(fs::exists(first.parent_path() / "1.words"));
  EXPECT_TRUE(fs::exists(first));
}

}  // namespace
}  // namespace headlight
