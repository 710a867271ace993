// Tokenizers from the metadata of GGUF files.
#include "read/gguf/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/gguf_files.h"
#include "read/gguf/gguf_tables.h"

namespace headlight {
namespace {

GgufBytes words_file(const std::string& kind, const std::vector<std::string>& words,
                     const std::vector<std::int32_t>& kinds) {
  GgufBytes made;
  made.put("tokenizer.ggml.model", kind).put("tokenizer.ggml.tokens", words).put("tokenizer.ggml.token_type", kinds);
  return made;
}

std::vector<std::string> raw_tokens(const GgufBytes& made, const std::string& text) {
  const std::string bytes = made.bytes();
  const auto file = locate_gguf("m.gguf", bytes);
  const auto tokenizer = gguf_tokenizer(*file);
  if (!tokenizer) return {tokenizer.error().message()};
  const auto encoded = encode(*tokenizer->tokenizer, text, true);
  if (!encoded) return {encoded.error().message()};
  std::vector<std::string> raw;
  for (const Token& token : encoded->tokens) raw.push_back(token.raw);
  return raw;
}

TEST(GgufTokenizers, AreBytePairsOrScoredPieces) {
  const std::vector<std::string> words{"a", "b", "1", "Ġ", "ab", "Ġab", "11", "<|end|>"};
  GgufBytes pairs = words_file("gpt2", words, {1, 1, 1, 1, 1, 1, 1, 3});
  pairs.put("tokenizer.ggml.merges", std::vector<std::string>{"a b", "Ġ ab", "1 1"});
  pairs.put("tokenizer.ggml.bos_token_id", 7u);
  using Words = std::vector<std::string>;
  GgufBytes gpt2 = pairs, qwen2 = pairs, llama3 = pairs, other = pairs, ended = pairs;
  EXPECT_EQ(raw_tokens(gpt2.put("tokenizer.ggml.pre", "gpt-2"), "ab ab11<|end|>"),
            (Words{"ab", "Ġab", "11", "<|end|>"}));
  EXPECT_EQ(raw_tokens(qwen2.put("tokenizer.ggml.pre", "qwen2"), "ab11"), (Words{"ab", "1", "1"}));
  EXPECT_EQ(raw_tokens(llama3.put("tokenizer.ggml.pre", "llama-bpe"), "ab11"), (Words{"<|end|>", "ab", "11"}));
  EXPECT_NE(raw_tokens(other.put("tokenizer.ggml.pre", "viking"), "a")[0].find("found 'viking'"), std::string::npos);
  ended.put("tokenizer.ggml.add_eos_token", true).put("tokenizer.ggml.eos_token_id", 7u);
  EXPECT_EQ(raw_tokens(ended, "b"), (Words{"b", "<|end|>"}));

  const std::vector<std::string> pieces{"<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "ab", "ba", "▁a"};
  GgufBytes scored = words_file("llama", pieces, {2, 3, 3, 6, 1, 1, 1, 1, 1, 1});
  scored.put("tokenizer.ggml.bos_token_id", 1u).put("tokenizer.ggml.eos_token_id", 2u);
  EXPECT_NE(raw_tokens(scored, "a")[0].find("tokenizer.ggml.scores: expected 10 numbers, found none"),
            std::string::npos);
  GgufBytes by_score = scored, without = scored;
  scored.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -1, -2, -3});
  EXPECT_EQ(raw_tokens(scored, "ab\nb"), (Words{"<s>", "▁", "ab", "<0x0A>", "b"}));
  EXPECT_EQ(raw_tokens(scored, "bab"), (Words{"<s>", "▁", "b", "ab"}));
  by_score.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -5, -1, -6});
  EXPECT_EQ(raw_tokens(by_score, "bab"), (Words{"<s>", "▁", "ba", "b"})) << "the better piece, though its id is larger";
  without.put("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -9, -9, -9, -1, -2, -3});
  without.put("tokenizer.ggml.add_bos_token", false).put("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(raw_tokens(without, "ab"), (Words{"ab"}));
}

// A piece that begins a word has ▁ in front, another no ##; what is in brackets is as it was.
TEST(GgufTokenizers, OfBertAreWordPieces) {
  const std::vector<std::string> pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁caf", "e", "▁e", "▁!", "▁我", "[MASK]"};
  GgufBytes made = words_file("bert", pieces, {3, 3, 3, 3, 1, 1, 1, 1, 1, 3});
  made.put("tokenizer.ggml.unknown_token_id", 1u).put("tokenizer.ggml.cls_token_id", 2u);
  made.put("tokenizer.ggml.seperator_token_id", 3u);
  using Words = std::vector<std::string>;
  EXPECT_EQ(raw_tokens(made, "Café e!我 x[MASK]"),
            (Words{"[CLS]", "caf", "##e", "e", "!", "我", "[UNK]", "[MASK]", "[SEP]"}));
  GgufBytes cased = made;
  EXPECT_EQ(raw_tokens(cased.put("tokenizer.ggml.normalizer.lowercase", false), "Cafe cafe"),
            (Words{"[CLS]", "[UNK]", "caf", "##e", "[SEP]"}));
  const std::string bytes = made.bytes();
  const auto tokenizer = gguf_tokenizer(*locate_gguf("m.gguf", bytes));
  std::vector<int> types;
  const auto pair = encode_pair(*tokenizer->tokenizer, "e", "e");
  ASSERT_TRUE(pair);
  for (const Token& token : pair->tokens) types.push_back(token.type);
  EXPECT_EQ(types, (std::vector<int>{0, 0, 0, 1, 1}));
}

TEST(GgufTokenizers, EveryNamedCutIsAnExpression) {
  for (const auto& cut : gguf_table("cuts"))
    for (const auto& name : cut["names"]) {
      GgufBytes made = words_file("gpt2", {"a", "Ġ", "Ġa"}, {1, 1, 1});
      made.put("tokenizer.ggml.merges", std::vector<std::string>{"Ġ a"});
      made.put("tokenizer.ggml.pre", name.get<std::string>());
      EXPECT_EQ(raw_tokens(made, "a a"), (std::vector<std::string>{"a", "Ġa"})) << name;
    }
}

TEST(GgufTokenizers, ThatAreBrokenAreRefused) {
  const auto expect = [](const GgufBytes& made, const std::string& line) {
    const auto raw = raw_tokens(made, "a");
    ASSERT_FALSE(raw.empty());
    EXPECT_NE(raw[0].find(line), std::string::npos) << raw[0];
    EXPECT_EQ(raw[0].find('\n'), std::string::npos);
  };
  expect(GgufBytes(), "tokenizer.ggml.model: expected gpt2, llama or bert, found none");
  expect(words_file("t5", {"a"}, {1}), "found 't5'");
  expect(GgufBytes().put("tokenizer.ggml.model", "gpt2"),
         "tokenizer.ggml.tokens: expected a list of texts, found none");
  expect(words_file("gpt2", {"a"}, {1, 1}), "tokenizer.ggml.token_type: expected 1 numbers, found 2");
  expect(words_file("gpt2", {"a"}, {1}), "tokenizer.ggml.merges: expected a list of texts, found none");
  expect(words_file("gpt2", {"\xff"}, {1}), "tokenizer.ggml.tokens[0]: expected a text in UTF-8");
  expect(words_file("gpt2", {"a"}, {1}).put("tokenizer.ggml.merges", std::vector<std::string>{"a b"}), "merge");
  expect(words_file("llama", {"a"}, {1}).put("tokenizer.ggml.scores", std::vector<float>{NAN}),
         "tokenizer.ggml.scores[0]: expected a finite number");
  expect(words_file("llama", {"a"}, {1})
             .put("tokenizer.ggml.scores", std::vector<float>{0})
             .put("tokenizer.ggml.bos_token_id", 5u),
         "tokenizer.ggml.bos_token_id: expected an id below 1, found 5");
}

}  // namespace
}  // namespace headlight
