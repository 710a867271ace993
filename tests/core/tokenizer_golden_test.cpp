// Tokens against those of the tokenizers by Hugging Face: the golden folders, and tokenizer-rules, small tokenizers for
// every rule (tests/golden/tokenizer_reference.mjs writes their answers).
#include <algorithm>
#include <thread>

#include "base/utf8.h"
#include "read/tokenizer/tokenizer_file.h"
#include "tokenizing.h"

namespace headlight::tokenizer_golden_test {
namespace {

using nlohmann::json;
const std::filesystem::path kGolden = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden";

json document(const std::filesystem::path& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return json::parse(text ? *text : "null");
}

class TokenizerFolder : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerFolder, IdsAndTokensAreTheReferences) {
  const auto file = read_tokenizer(kGolden / GetParam());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->warnings.empty());
  EXPECT_EQ(file->file, kGolden / GetParam() / "tokenizer.json");
  const json expected = document(kGolden / GetParam() / "expected.json");
  ASSERT_GE(expected.size(), 10u);
  for (const json& answer : expected) {
    const Tokens tokens = tokens_of_text(*file->tokenizer, answer.at("text").get<std::string>());
    EXPECT_EQ(ids(tokens), answer.at("ids").get<std::vector<std::int64_t>>()) << answer.at("text");
    EXPECT_EQ(raws(tokens), answer.at("tokens").get<std::vector<std::string>>()) << answer.at("text");
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, TokenizerFolder,
                         ::testing::Values("tokenizer-bert-uncased", "tokenizer-llama2", "tokenizer-unigram"),
                         [](const auto& name) {
                           std::string shown = name.param;
                           std::replace(shown.begin(), shown.end(), '-', '_');
                           return shown;
                         });

/// Ranges ascend, stay inside the text, and cut characters only where tokens may be bytes (`bytes`).
void check_ranges(const Tokens& tokens, const std::string& where) {
  std::size_t here = 0;
  for (const Token& token : tokens.tokens) {
    EXPECT_LE(token.begin, token.end) << where;
    EXPECT_LE(token.end, tokens.text.size()) << where;
    EXPECT_GE(token.end, here) << where;
    EXPECT_FALSE(first_invalid_utf8(token.text)) << where;
    EXPECT_TRUE(!token.special || token.begin == token.end) << where;
    here = token.end;
  }
}

TEST(TokenizerRules, EveryRuleAnswersAsTheReference) {
  const json cases = document(kGolden / "tokenizer-rules" / "cases.json");
  const auto all = cases.at("texts").get<std::vector<std::string>>();
  ASSERT_GT(cases.at("tokenizers").size(), 100u);
  for (const json& each : cases.at("tokenizers")) {
    const Tokenizer tokenizer = tokenizer_of(each.at("json"));
    ASSERT_EQ(each.at("answers").size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = each.at("name").get<std::string>() + ", text " + std::to_string(i);
      const Tokens tokens = tokens_of_text(tokenizer, all[i]);
      const json& answer = each.at("answers")[i];
      EXPECT_EQ(ids(tokens), answer.at("ids").get<std::vector<std::int64_t>>()) << where;
      EXPECT_EQ(raws(tokens), answer.at("tokens").get<std::vector<std::string>>()) << where;
      check_ranges(tokens, where);
    }
  }
}

TEST(TokenizerRules, EveryPairAnswersAsTheReference) {
  const json cases = document(kGolden / "tokenizer-rules" / "pairs.json");
  const auto all = cases.at("texts").get<std::vector<std::pair<std::string, std::string>>>();
  ASSERT_GE(cases.at("tokenizers").size(), 5u);
  for (const json& each : cases.at("tokenizers")) {
    const Tokenizer tokenizer = tokenizer_of(each.at("json"));
    ASSERT_TRUE(takes_pairs(tokenizer)) << each.at("name");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = each.at("name").get<std::string>() + ", pair " + std::to_string(i);
      const auto& [first, second] = all[i];
      const auto pair = encode_pair(tokenizer, first, second);
      ASSERT_TRUE(pair) << where;
      const json& answer = each.at("answers")[i];
      EXPECT_EQ(ids(*pair), answer.at("ids").get<std::vector<std::int64_t>>()) << where;
      EXPECT_EQ(raws(*pair), answer.at("tokens").get<std::vector<std::string>>()) << where;
      EXPECT_EQ(::headlight::each(*pair, [](const Token& token) { return token.type; }),
                answer.at("types").get<std::vector<int>>())
          << where;
      EXPECT_EQ(pair->text, first + "\n" + second) << where;
      check_ranges(*pair, where);
      // Sentence B begins with its first token, whatever stands between the two.
      ASSERT_GT(pair->second, 0u) << where;
      ASSERT_LT(pair->second, pair->size()) << where;
      EXPECT_EQ(second_sentence(*pair), pair->second) << where;
      for (std::size_t t = 0; t < pair->size(); ++t) {
        if (pair->tokens[t].special) continue;
        EXPECT_EQ(pair->tokens[t].begin > first.size(), t >= pair->second) << where;
      }
    }
  }
}

TEST(TokenizerRules, RangesTileTheTextWhereNothingIsDropped) {
  const json cases = document(kGolden / "tokenizer-rules" / "cases.json");
  const auto all = cases.at("texts").get<std::vector<std::string>>();
  std::size_t lossless = 0;
  for (const json& each : cases.at("tokenizers")) {
    const std::string name = each.at("name");
    if (!name.starts_with("ByteLevel") && !name.starts_with("Metaspace") && !name.starts_with("Regex") &&
        name != "Llama 3" && name != "Qwen 2" && !name.starts_with("Unigram") && !name.starts_with("BPE fuse"))
      continue;
    ++lossless;
    const Tokenizer tokenizer = tokenizer_of(each.at("json"));
    for (const std::string& text : all) {
      const Tokens tokens = tokens_of_text(tokenizer, text);
      std::size_t here = 0;
      for (const Token& token : tokens.tokens) {
        EXPECT_EQ(token.begin, here) << name;
        here = token.end;
      }
      EXPECT_EQ(here, text.size()) << name;
    }
  }
  EXPECT_GT(lossless, 50u);
}

TEST(TokenizerRules, TheSameTextHasTheSameTokensOnEveryThread) {
  const auto file = read_tokenizer(kGolden / "tokenizer-llama2");
  ASSERT_TRUE(file);
  const std::string text = "the animal was 北京 👍🏽 <s> two  spaces";
  const Tokens once = tokens_of_text(*file->tokenizer, text);
  std::vector<Tokens> results(4);
  std::vector<std::thread> threads;
  for (Tokens& result : results)
    threads.emplace_back([&result, &file, &text] {
      for (int i = 0; i < 20; ++i)
        if (auto tokens = encode(*file->tokenizer, text, true)) result = *std::move(tokens);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Tokens& result : results) EXPECT_EQ(result, once);
}

TEST(TokenizerRules, SpecialTokensAreLeftOutWhereNotAskedFor) {
  const auto file = read_tokenizer(kGolden / "tokenizer-bert-uncased");
  ASSERT_TRUE(file);
  const Tokens with = tokens_of_text(*file->tokenizer, "我 [SEP] a");
  const Tokens without = tokens_of_text(*file->tokenizer, "我 [SEP] a", false);
  EXPECT_EQ(raws(with), (std::vector<std::string>{"[CLS]", "我", "[SEP]", "a", "[SEP]"}));
  EXPECT_EQ(raws(without), (std::vector<std::string>{"我", "[SEP]", "a"}));
  EXPECT_EQ(each(with, [](const Token& token) { return token.special; }),
            (std::vector<bool>{true, false, false, false, true}));
  EXPECT_EQ(ranges(with),
            (std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 3}, {4, 9}, {10, 11}, {11, 11}}));
}

}  // namespace
}  // namespace headlight::tokenizer_golden_test
