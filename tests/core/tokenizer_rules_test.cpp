// The rules one by one, by the examples of their documentation and by what they must leave alone.
#include "text/characters.h"
#include "text/pattern.h"
#include "tokenizing.h"

namespace headlight::tokenizer_rules_test {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;
using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

std::string normalized(const json& normalizer, std::string_view text) {
  json j = pieces_json();
  j["normalizer"] = normalizer;
  const Tokens tokens = tokens_of_text(tokenizer_of(j), text);
  std::string joined;
  for (const Token& token : tokens.tokens) joined += token.raw;
  return joined;
}

Texts pieces(const json& pre_tokenizer, std::string_view text) {
  json j = pieces_json();
  j["pre_tokenizer"] = pre_tokenizer;
  return raws(tokens_of_text(tokenizer_of(j), text));
}

json split(const json& pattern, const char* behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

TEST(TokenizerRule, SplitBehavioursAreThoseOfTheDocumentation) {
  // https://huggingface.co/docs/tokenizers/api/pre-tokenizers, SplitDelimiterBehavior
  const json dash = {{"String", "-"}};
  const std::string text = "the-final--countdown";
  EXPECT_EQ(pieces(split(dash, "Removed"), text), (Texts{"the", "final", "countdown"}));
  EXPECT_EQ(pieces(split(dash, "Isolated"), text), (Texts{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(pieces(split(dash, "MergedWithPrevious"), text), (Texts{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(pieces(split(dash, "MergedWithNext"), text), (Texts{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(pieces(split(dash, "Contiguous"), text), (Texts{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(pieces(split({{"Regex", "[a-z]+"}}, "Removed", true), text), (Texts{"the", "final", "countdown"}));
}

TEST(TokenizerRule, PreTokenizersCutAsDocumented) {
  EXPECT_EQ(pieces({{"type", "Whitespace"}}, "Hello there! a_b"), (Texts{"Hello", "there", "!", "a_b"}));
  EXPECT_EQ(pieces({{"type", "WhitespaceSplit"}}, "Hey!  you\n"), (Texts{"Hey!", "you"}));
  EXPECT_EQ(pieces({{"type", "Punctuation"}}, "Hello?!"), (Texts{"Hello", "?", "!"}));
  EXPECT_EQ(pieces({{"type", "Digits"}, {"individual_digits", true}}, "Call 911"), (Texts{"Call ", "9", "1", "1"}));
  EXPECT_EQ(pieces({{"type", "Digits"}, {"individual_digits", false}}, "Call 911"), (Texts{"Call ", "911"}));
  EXPECT_EQ(pieces({{"type", "Metaspace"}}, "Hello  there"), (Texts{"▁Hello", "▁", "▁there"}));
  EXPECT_EQ(pieces({{"type", "Metaspace"}, {"add_prefix_space", false}}, "a b"), (Texts{"a", "▁b"}));
  EXPECT_EQ(pieces({{"type", "ByteLevel"}, {"add_prefix_space", true}}, "My é"), (Texts{"ĠMy", "ĠÃ©"}));
  EXPECT_EQ(pieces({{"type", "BertPreTokenizer"}}, "a，b c"), (Texts{"a", "，", "b", "c"}));
  EXPECT_EQ(pieces({{"type", "FixedLength"}, {"length", 2}}, "我请你"), (Texts{"我请", "你"}));
  EXPECT_EQ(pieces({{"type", "CharDelimiterSplit"}, {"delimiter", "x"}}, "axxb"), (Texts{"a", "b"}));
  EXPECT_EQ(pieces(nullptr, "a b"), (Texts{"a b"}));
}

TEST(TokenizerRule, TheFirstPieceAloneIsPrefixedWhereTheSchemeSaysFirst) {
  json j = pieces_json();
  j["pre_tokenizer"] = {{"type", "Metaspace"}, {"prepend_scheme", "first"}, {"split", false}};
  j["added_tokens"] = {{{"id", 1}, {"content", "<s>"}, {"normalized", false}, {"special", true}}};
  const Tokens tokens = tokens_of_text(tokenizer_of(j), "a<s>b");
  EXPECT_EQ(raws(tokens), (Texts{"▁a", "<s>", "b"}));
  j["pre_tokenizer"]["prepend_scheme"] = "always";
  EXPECT_EQ(raws(tokens_of_text(tokenizer_of(j), "a<s>b")), (Texts{"▁a", "<s>", "▁b"}));
}

TEST(TokenizerRule, NormalizersChangeAsDocumented) {
  EXPECT_EQ(normalized({{"type", "NFD"}}, "é"), "e\u0301");
  EXPECT_EQ(normalized({{"type", "NFC"}}, "e\u0301"), "é");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "ﬁ Ⅻ"), "fi XII");
  EXPECT_EQ(normalized({{"type", "NFKD"}}, "é①"), "e\u03011");
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "ΣİÉ"), "σi\u0307é");
  EXPECT_EQ(normalized({{"type", "StripAccents"}}, "e\u0301é"), "eé");
  EXPECT_EQ(normalized({{"type", "Strip"}, {"strip_left", false}}, " a\u3000"), " a");
  EXPECT_EQ(normalized({{"type", "Strip"}, {"strip_right", false}}, " a "), "a ");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "▁"}}, "a"), "▁a");
  EXPECT_EQ(normalized({{"type", "Prepend"}, {"prepend", "▁"}}, ""), "");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "▁"}}, "a   b c"), "a▁b c");
  EXPECT_EQ(normalized({{"type", "Replace"}, {"pattern", {{"String", "."}}}, {"content", ""}}, "a.b"), "ab");
  EXPECT_EQ(normalized({{"type", "Nmt"}}, "a\u200b\u0007b"), "a b");
  EXPECT_EQ(normalized({{"type", "ByteLevel"}}, "é "), "Ã©Ġ");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}}, "Héllo\t我\u0000x"), "hello  我 ");
  EXPECT_EQ(normalized({{"type", "BertNormalizer"}, {"lowercase", false}}, "Hé我"), "Hé 我 ");
  EXPECT_EQ(normalized({{"type", "Sequence"}, {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}}, "é"),
            "e");
}

TEST(TokenizerRule, RangesFollowTheTextThroughNormalisation) {
  json j = pieces_json();
  j["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}}}};
  j["pre_tokenizer"] = {{"type", "Whitespace"}};
  const Tokens tokens = tokens_of_text(tokenizer_of(j), "ﬁ  Å Ⅻ");
  EXPECT_EQ(raws(tokens), (Texts{"fi", "å", "xii"}));
  EXPECT_EQ(ranges(tokens), (Ranges{{0, 3}, {5, 7}, {8, 11}}));
}

TEST(TokenizerRule, CharactersAreTheKindsOfTheLibrarysUnicode) {
  EXPECT_TRUE(is_white_space(U'\u3000') && is_white_space(0x85) && !is_white_space(0x200B));
  EXPECT_TRUE(is_punctuation(U'$') && is_punctuation(U'。') && !is_punctuation(U'a') && !is_punctuation(U'¢'));
  EXPECT_TRUE(is_punctuation(0x166D));   // P in Unicode 8, S since
  EXPECT_FALSE(is_punctuation(0x2E43));  // of Unicode 9
  EXPECT_TRUE(is_mark(0x0301) && is_mark(0x0903) && is_nonspacing_mark(0x0301) && !is_nonspacing_mark(0x0903));
  EXPECT_FALSE(is_mark(0x07FD));  // of Unicode 11
  EXPECT_TRUE(is_control(0) && is_control(0x200E) && !is_control('\n') && !is_control(0x08E2));
  EXPECT_TRUE(is_numeric(U'½') && is_numeric(U'Ⅻ') && !is_numeric(U'a'));
  EXPECT_TRUE(is_chinese_character(U'我') && !is_chinese_character(U'か'));
  EXPECT_EQ(lower_case(0x130), (std::u32string{U'i', 0x307}));
}

TEST(TokenizerRule, RegularExpressionsAreTranslated) {
  EXPECT_EQ(icu_expression("[^\\s\\p{L}]+"), "[^\\p{White_Space}\\p{L}]+");
  EXPECT_EQ(icu_expression("(?m).(?i:a)(?m:b)"), "(?s).(?i:a)(?s:b)");
  EXPECT_EQ(icu_expression("\\p{N}{1,3}+"), "(?:\\p{N}{1,3})+");
  EXPECT_EQ(icu_expression("(ab){2}?c"), "(?:(ab){2})?c");
  EXPECT_EQ(icu_expression("a{2,3}?b{,4}"), "a{2,3}?b{0,4}");
  EXPECT_EQ(icu_expression("{|}|x{a}]"), "\\{|\\}|x\\{a\\}\\]");
  EXPECT_EQ(icu_expression("[]a{}]"), "[\\]a\\{\\}]");
  EXPECT_EQ(icu_expression("\\p{^L}\\P{^N}\\h"), "\\P{L}\\p{N}[0-9a-fA-F]");
  EXPECT_EQ(icu_expression("我{2}+"), "(?:我{2})+");
  EXPECT_EQ(icu_expression("\\"), "\\");
}

TEST(TokenizerRule, AnExpressionWithoutEndIsOneLine) {
  json j = pieces_json();
  j["pre_tokenizer"] = split({{"Regex", "(a+)+$b"}}, "Isolated");
  const Tokenizer tokenizer = tokenizer_of(j);
  EXPECT_EQ(raws(tokens_of_text(tokenizer, "xaax")), (Texts{"xaax"}));
  const auto tokens = encode(tokenizer, std::string(200, 'a'), true);
  ASSERT_FALSE(tokens);
  EXPECT_EQ(
      tokens.error().message(),
      "tokenizer.json: pre_tokenizer.pattern: regular expression: expected an answer in a bounded time and memory, "
      "found none for '(a+)+$b' (U_REGEX_TIME_OUT)");
}

TEST(TokenizerRule, RulesThatLengthenATextWithoutEndAreStopped) {
  json j = pieces_json();
  json longer = json::array();
  for (int i = 0; i < 40; ++i) longer.push_back({{"type", "ByteLevel"}});
  j["normalizer"] = {{"type", "Sequence"}, {"normalizers", longer}};
  const auto tokens = encode(tokenizer_of(j), "我我我我", true);
  ASSERT_FALSE(tokens);
  EXPECT_NE(tokens.error().message().find("characters made of this text"), std::string::npos)
      << tokens.error().message();
  j["normalizer"] = nullptr;
  for (json& rule : longer) rule["add_prefix_space"] = rule["use_regex"] = false;
  j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", longer}};
  EXPECT_FALSE(encode(tokenizer_of(j), "我我我我", true));
}

TEST(TokenizerRule, AnUnknownRuleIsNamed) {
  json j = pieces_json();
  j["normalizer"] = {{"type", "Rot13"}};
  EXPECT_EQ(
      refused_json(j),
      "tokenizer.json: normalizer.type: expected one of BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, "
      "Nmt, Precompiled, Prepend, Replace, Strip, StripAccents, Sequence, found \"Rot13\"");
  j["normalizer"] = nullptr;
  j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Whitespace"}}, {{"type", "Jieba"}}}}};
  EXPECT_NE(
      refused_json(j).find("tokenizer.json: pre_tokenizer.pretokenizers.1.type: expected one of BertPreTokenizer, "),
      std::string::npos);
  j["pre_tokenizer"] = nullptr;
  j["post_processor"] = {{"type", "Confetti"}};
  EXPECT_NE(refused_json(j).find("tokenizer.json: post_processor.type: expected one of BertProcessing, ByteLevel, "),
            std::string::npos);
}

TEST(TokenizerRule, FieldsThatAreWrongAreNamed) {
  const auto refused = [](const char* part, const json& rule) {
    json j = pieces_json();
    j[part] = rule;
    return refused_json(j);
  };
  EXPECT_NE(refused("pre_tokenizer", split({{"Regex", "(a"}}, "Isolated")).find("pre_tokenizer.pattern: regular"),
            std::string::npos);
  EXPECT_NE(
      refused("pre_tokenizer", split({{"String", "a"}}, "Glued")).find("pre_tokenizer.behavior: expected Removed"),
      std::string::npos);
  EXPECT_NE(refused("pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "ab"}}).find("pre_tokenizer.replacement"),
            std::string::npos);
  EXPECT_NE(refused("pre_tokenizer", {{"type", "ByteLevel"}, {"use_regex", 1}}).find("expected true or false, found 1"),
            std::string::npos);
  EXPECT_NE(refused("pre_tokenizer", {{"type", "FixedLength"}, {"length", 0}}).find("a whole number from 1 to"),
            std::string::npos);
  EXPECT_NE(refused("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "a"}}).find("expected Base64"),
            std::string::npos);
  EXPECT_NE(refused("normalizer", {{"type", "Prepend"}, {"prepend", std::string(300, 'x')}}).find("at most 256"),
            std::string::npos);
  EXPECT_NE(refused("normalizer", json::array()).find("normalizer: expected an object, found []"), std::string::npos);
  EXPECT_NE(refused("post_processor", {{"type", "BertProcessing"}, {"sep", {"[SEP]"}}}).find("a word and its id"),
            std::string::npos);
}

}  // namespace
}  // namespace headlight::tokenizer_rules_test
