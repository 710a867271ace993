// Two texts as one sequence: which tokenizers take them, and where the second begins.
#include "tokenizing.h"

namespace headlight::tokenizer_pairs_test {
namespace {

using nlohmann::json;

json part(const char* kind, const char* id, int type) { return {{kind, {{"id", id}, {"type_id", type}}}}; }

json with_pair(const json& pair) {
  json j = pieces_json();
  json specials;
  specials["[S]"] = {{"id", "[S]"}, {"ids", json::array({0})}, {"tokens", json::array({"[S]"})}};
  j["pre_tokenizer"]["type"] = "Whitespace";
  j["post_processor"] = {{"type", "TemplateProcessing"},
                         {"single", json::array({part("Sequence", "A", 0)})},
                         {"pair", pair},
                         {"special_tokens", specials}};
  return j;
}

TEST(TokenizerPairs, OnlyATemplateWithAAndThenBTakesThem) {
  const json a = part("Sequence", "A", 0), b = part("Sequence", "B", 1), end = part("SpecialToken", "[S]", 0);
  EXPECT_TRUE(takes_pairs(tokenizer_of(with_pair(json::array({a, end, b})))));
  for (const json& pair : {json::array(), json::array({a}), json::array({b, a}), json::array({a, b, b}),
                           json::array({a, a}), json::array({end})})
    EXPECT_FALSE(takes_pairs(tokenizer_of(with_pair(pair)))) << pair;
  EXPECT_FALSE(takes_pairs(tokenizer_of(pieces_json()))) << "as GPT-2's, which puts nothing around a text";
  EXPECT_NE(refused_json(with_pair(json::array({a, part("Sequence", "C", 0)}))).find("A or B"), std::string::npos);
  EXPECT_NE(refused_json(with_pair(json::array({a, part("SpecialToken", "[none]", 0), b}))).find("[none]"),
            std::string::npos);
}

TEST(TokenizerPairs, BytesGoOnBehindALineBreak) {
  const json a = part("Sequence", "A", 0), b = part("Sequence", "B", 1), end = part("SpecialToken", "[S]", 0);
  const auto pair = encode_pair(tokenizer_of(with_pair(json::array({end, a, end, b}))), "我 b", "c  d");
  ASSERT_TRUE(pair);
  EXPECT_EQ(raws(*pair), (std::vector<std::string>{"[S]", "我", "b", "[S]", "c", "d"}));
  EXPECT_EQ(pair->second, 4u);
  EXPECT_EQ(pair->text, "我 b\nc  d");
  for (const Token& token : pair->tokens) {
    if (token.special) continue;
    EXPECT_EQ(pair->text.substr(token.begin, token.end - token.begin), token.raw);
  }
  EXPECT_FALSE(encode_pair(tokenizer_of(with_pair(json::array({a, b}))), "a", "\xFF"));
}

TEST(TokenizerPairs, WithoutAPairTypesTellWhereBBegins) {
  Tokens tokens;
  for (const int type : {0, 0, 1, 1, 0}) tokens.tokens.push_back({.id = 1, .text = "w", .raw = "w", .type = type});
  EXPECT_EQ(second_sentence(tokens), 2u);
  for (Token& token : tokens.tokens) token.type = 0;
  EXPECT_EQ(second_sentence(tokens), 0u) << "one sentence";
  tokens.second = 3;
  EXPECT_EQ(second_sentence(tokens), 3u);
  tokens.second = 9;
  EXPECT_EQ(second_sentence(tokens), 0u);
}

}  // namespace
}  // namespace headlight::tokenizer_pairs_test
