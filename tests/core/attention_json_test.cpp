// Attention as JSON: what a file may make the reader do before it is found wrong.
#include "read/external/tensors_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "text/tokenizer.h"

namespace headlight {
namespace {

/// [0,0,…], `count` numbers.
std::string zeros(std::size_t count) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list += i == 0 ? "0" : ",0";
  return list + "]";
}

std::string attention(const std::string& pattern) { return "{\"attention\":[{\"attn\":[[" + pattern + "]]}]}"; }

// 100,000 × 100,000 weights are 40 GB: the file that names them by one row and 99,999 numbers has 400 KB.
TEST(AttentionJson, TakesNoMemoryForRowsThatAreNotThere) {
  constexpr std::size_t kCount = 100'000;
  std::string pattern = "[" + zeros(kCount);
  for (std::size_t i = 1; i < kCount; ++i) pattern += ",0";
  const auto file = parse_attention_json("f", attention(pattern + "]"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(),
            "f: attention[0].attn[0][0][1]: expected 100000 entries, as the first has, found number");
}

TEST(AttentionJson, RaggedRowsAreNamed) {
  const auto file = parse_attention_json("f", attention("[[1,0],[1]]"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(), "f: attention[0].attn[0][0][1]: expected 2 entries, as the first has, found 1");
}

/// The tokens of the rows, each word's between bars: "|the|cats|".
std::string words_of(const std::string& texts, const std::string& more = "") {
  const std::string row = "[0.25,0.25,0.25,0.25]";
  const auto file =
      parse_attention_json("f", R"({"attention":[{"attn":[[[)" + row + "," + row + "," + row + "," + row +
                                    R"(]]],"left_text":)" + texts + R"(,"right_text":)" + texts + "}]" + more + "}");
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  if (!file) return {};
  const Tokens& tokens = file->model->given->stacks.at(Stack::self).query_tokens;
  const std::vector<bool> later = later_parts(tokens);
  std::string words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    words += (later[i] ? "" : "|") + tokens.text.substr(token.begin, token.end - token.begin);
  }
  return words + "|";
}

TEST(AttentionJson, TokensAreJoinedOnlyWhereTheirTextsShowThatTheyAreOneWord) {
  EXPECT_EQ(words_of(R"(["the","cats","sat","down"])"), "|the| cats| sat| down|");
  EXPECT_EQ(words_of(R"(["0","1","2","3"])"), "|0| 1| 2| 3|");
  EXPECT_EQ(words_of(R"(["[CLS]","play","##ing","[SEP]"])"), "|[CLS]|playing|[SEP]|");
  EXPECT_EQ(words_of(R"(["The"," sn","ail"," ran"])"), "|The| snail| ran|");
  EXPECT_EQ(words_of(R"(["New York","is","very","big"])"), "|New York| is| very| big|");
}

TEST(AttentionJson, TheBytesOfTokensShowTheSpacesBeforeThem) {
  const char* tokens = R"(,"schema":"headlight.attention/1","tokens":[{"raw":"The","bytes":[0,3]},
    {"raw":"sn","bytes":[3,6]},{"raw":"ail","bytes":[6,9]},{"raw":"ran","bytes":[9,18446744073709551615]}])";
  EXPECT_EQ(words_of(R"(["The","sn","ail","ran"])", tokens), "|The| snail| ran|") << "no range is believed";
  const char* pieces = R"(,"schema":"headlight.attention/1","tokens":[{"raw":"un","bytes":[0,2]},
    {"raw":"##ti","bytes":[2,4]},{"raw":"##dy","bytes":[4,6]},{"raw":"<pad>","bytes":[6,6],"pad":true}])";
  EXPECT_EQ(words_of(R"(["un","##ti","##dy","<pad>"])", pieces), "|untidy||");
}

/// The mask of an export of two tokens, or the Error.
Result<MaskSpec> mask_of(const std::string& mask, const std::string& schema = R"("schema":"headlight.attention/1",)") {
  const auto file = parse_attention_json(
      "f", "{" + schema + R"("mask":)" + mask + R"(,"attention":[{"attn":[[[[1,0],[0.5,0.5]]]]}]})");
  if (!file) return file.error();
  return file->mask;
}

TEST(AttentionJson, EachStackKeepsItsMask) {
  const auto file = parse_attention_json("f", R"({"schema":"headlight.attention/1",
    "mask":{"kind":"causal","allowed":[[1,0],[1,1]]}, "encoder_mask":{"kind":"window:1","allowed":[[1,1],[1,1]]},
    "cross_mask":{"kind":"custom","allowed":[[1,0],[1,1]]},
    "attention":[{"name":"Encoder","attn":[[[[1,0],[0.5,0.5]]]]}, {"name":"Decoder","attn":[[[[1,0],[0.5,0.5]]]]},
                 {"name":"Cross","attn":[[[[1,0],[0.5,0.5]]]]}]})");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->mask.causal);
  EXPECT_EQ(file->encoder_mask.window, 1);
  ASSERT_TRUE(file->cross_mask.given);
  EXPECT_TRUE(std::isinf((*file->cross_mask.given)(0, 1)));
}

TEST(AttentionJson, AnExportKeepsItsMask) {
  EXPECT_TRUE(mask_of(R"({"kind":"causal","allowed":[[1,0],[1,1]]})")->causal);
  EXPECT_EQ(*mask_of(R"({"kind":"none","allowed":[[1,1],[1,1]]})"), MaskSpec{});
  const MaskSpec painted = *mask_of(R"({"kind":"custom","allowed":[[1,0],[1,1]]})");
  ASSERT_TRUE(painted.given);
  EXPECT_TRUE(std::isinf((*painted.given)(0, 1)));
  EXPECT_EQ((*painted.given)(1, 0), 0.0f);
  EXPECT_EQ(*mask_of(R"({"kind":"causal"})", ""), MaskSpec{}) << "of another program";
  EXPECT_EQ(mask_of(R"({"kind":"custom","allowed":[[1,0,1],[1,1,1]]})").error().message(),
            "f: mask.allowed: expected (2, 2) (queries, keys), found (2, 3)");
  EXPECT_EQ(mask_of(R"({"kind":"custom","allowed":[[1,[0]],[1,1]]})").error().message(),
            "f: mask.allowed[0][1]: expected a number, found array");
}

}  // namespace
}  // namespace headlight
