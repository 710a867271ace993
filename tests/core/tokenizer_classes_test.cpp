// What stands beside a tokenizer's file, and what transformers' classes make of it. Expected ids follow from the rules
// of the classes, stated beside each (transformers 4.57, tokenization_*_fast.py and convert_slow_tokenizer.py).
#include <algorithm>

#include "base/base64.h"
#include "read/tokenizer/tokenizer_file.h"
#include "sentencepiece_files.h"
#include "tokenizing.h"

namespace headlight::tokenizer_classes_test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

TokenizerFile read_in(const Folder& folder) {
  auto file = read_tokenizer(folder.path());
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  return file ? *std::move(file) : TokenizerFile{.tokenizer = std::make_shared<const Tokenizer>()};
}

Ids ids_in(const Folder& folder, std::string_view text) {
  return ids(tokens_of_text(*read_in(folder).tokenizer, text));
}

std::string why_not(const Folder& folder) {
  const auto file = read_tokenizer(folder.path());
  EXPECT_FALSE(file);
  return file ? "" : file.error().message();
}

bool says(const TokenizerFile& file, std::string_view part) {
  return std::any_of(file.rules.begin(), file.rules.end(),
                     [&](const std::string& rule) { return rule.find(part) != rule.npos; });
}

/// Words of a byte-pair vocabulary by their place.
json vocabulary(const Texts& words) {
  json object = json::object();
  for (std::size_t i = 0; i < words.size(); ++i) object[words[i]] = i;
  return object;
}

/// tokenizer.json of a Llama: <unk> <s> </s> a b, with a template of <s> or none.
json llama_json(bool with_template) {
  json j{{"version", "1.0"},
         {"added_tokens", json::array()},
         {"model",
          {{"type", "BPE"}, {"vocab", vocabulary({"<unk>", "<s>", "</s>", "a", "b"})}, {"merges", json::array()}}}};
  if (with_template)
    j["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"pair", json::array()},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}};
  return j;
}

TEST(TokenizerClasses, LlamasTemplateIsMadeOfItsKeys) {
  Folder folder;
  folder.with("tokenizer.json", llama_json(false).dump());
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{3, 4}));  // nothing beside it: as it is
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": true})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{1, 3, 4}));
  EXPECT_TRUE(says(read_in(folder), "bos <s>: by tokenizer_config.json (add_bos_token)"));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "add_eos_token": true})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{1, 3, 4, 2}));
  EXPECT_TRUE(says(read_in(folder), "bos <s>: by LlamaTokenizer, by tokenizer_config.json"));
  folder.with("tokenizer.json", llama_json(true).dump());
  for (const char* none : {"null", "false"}) {
    folder.with("tokenizer_config.json",
                R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": )" + std::string(none) + "}");
    EXPECT_EQ(ids_in(folder, "ab"), (Ids{3, 4})) << none;
  }
  const auto as_it_is = read_tokenizer(folder.path(), ClassRules::left_out);
  ASSERT_TRUE(as_it_is);
  EXPECT_EQ(ids(tokens_of_text(*as_it_is->tokenizer, "ab")), (Ids{1, 3, 4}));
  // Version 5 has the file's own template; the class comes from the model type where no file states it.
  folder.with("config.json", R"({"model_type": "llama", "transformers_version": "5.0.0"})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{1, 3, 4}));
  EXPECT_TRUE(says(read_in(folder), "as in transformers 5"));
  folder.with("config.json", R"({"model_type": "llama", "transformers_version": "4.57.1"})");
  folder.with("tokenizer_config.json", R"({"add_bos_token": false})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{3, 4}));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast", "add_bos_token": false})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{1, 3, 4}));  // a class that does not read the key
}

TEST(TokenizerClasses, ABeginThatIsNoWordIsToldAndNotPut) {
  Folder folder;
  folder.with("tokenizer.json", llama_json(true).dump());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "GemmaTokenizer", "add_bos_token": true})");
  const TokenizerFile file = read_in(folder);
  EXPECT_EQ(ids(tokens_of_text(*file.tokenizer, "a")), (Ids{1, 3}));
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_NE(file.warnings[0].message().find("bos_token: expected a token of the vocabulary"), std::string::npos);
}

TEST(TokenizerClasses, BertsNormalizerIsSetByItsKeys) {
  Folder folder;
  json j{{"version", "1.0"},
         {"normalizer",
          {{"type", "BertNormalizer"},
           {"lowercase", false},
           {"strip_accents", nullptr},
           {"handle_chinese_chars", true},
           {"clean_text", true}}},
         {"model",
          {{"type", "WordLevel"},
           {"unk_token", "[UNK]"},
           {"vocab", vocabulary({"[UNK]", "Café", "café", "cafe", "我们", " 我  们 "})}}}};
  folder.with("tokenizer.json", j.dump());
  EXPECT_EQ(ids_in(folder, "Café"), (Ids{1}));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");  // do_lower_case is true by default
  EXPECT_EQ(ids_in(folder, "Café"), (Ids{3}));
  EXPECT_TRUE(says(read_in(folder), "lower case: by BertTokenizer"));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "strip_accents": false})");
  EXPECT_EQ(ids_in(folder, "Café"), (Ids{2}));
  folder.with(
      "tokenizer_config.json",
      R"({"tokenizer_class": "ElectraTokenizerFast", "do_lower_case": false, "tokenize_chinese_chars": false})");
  EXPECT_EQ(ids_in(folder, "我们"), (Ids{4}));
  EXPECT_TRUE(says(read_in(folder), "Chinese characters apart not: by tokenizer_config.json (tokenize_chinese_chars)"));
}

TEST(TokenizerClasses, ASpaceInFrontIsSetByItsKey) {
  Folder folder;
  json j{{"version", "1.0"},
         {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
         {"model", {{"type", "BPE"}, {"vocab", vocabulary({"a", "Ġ"})}, {"merges", json::array()}}}};
  folder.with("tokenizer.json", j.dump());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})");
  EXPECT_EQ(ids_in(folder, "a"), (Ids{1, 0}));
  j["pre_tokenizer"]["add_prefix_space"] = true;
  folder.with("tokenizer.json", j.dump());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "GPT2TokenizerFast"})");
  EXPECT_EQ(ids_in(folder, "a"), (Ids{0}));
}

TEST(TokenizerClasses, AddedTokensOfEveryFileAreWhole) {
  Folder folder;
  folder.with("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ne\n1\n<\n>\n");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  folder.with("added_tokens.json", R"({"<e1>": 10, "The": 11})");
  folder.with("special_tokens_map.json", R"({"additional_special_tokens": ["<e1>"]})");
  EXPECT_EQ(ids_in(folder, "<e1> THE"), (Ids{2, 10, 11, 3}));  // what is no special token is found in lower case, too
  EXPECT_TRUE(says(read_in(folder), "2 added tokens: by added_tokens.json"));
  folder.with("tokenizer_config.json", R"({"added_tokens_decoder": {"10": {"content": "<e1>", "rstrip": true}}})");
  EXPECT_EQ(ids_in(folder, "<e1> The"), (Ids{2, 10, 5, 3}));  // added_tokens.json is not read then
}

TEST(TokenizerClasses, TokensBesideATokenizerJsonGoBeforeItsOwn) {
  Folder folder;
  json j = llama_json(false);
  j["added_tokens"] = {{{"id", 3}, {"content", "a"}, {"special", true}}};
  folder.with("tokenizer.json", j.dump());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>",
      "added_tokens_decoder": {"3": {"content": "a", "lstrip": true}, "9": {"content": "<|x|>"}}})");
  const TokenizerFile file = read_in(folder);
  const Tokens tokens = tokens_of_text(*file.tokenizer, "b a<|x|><pad>");
  EXPECT_EQ(ids(tokens), (Ids{4, 3, 5, 6}));  // numbered on, as the library does
  EXPECT_EQ(raws(tokens)[1], " a");
  EXPECT_EQ(file.warnings.size(), 1u);  // <|x|> has not the id that is stated
  EXPECT_TRUE(says(file, "whole words <pad>: by tokenizer_config.json"));
}

TEST(TokenizerClasses, SpecialTokensByRoleAloneAreWhole) {
  Folder folder;
  folder.with("vocab.json", vocabulary({"<pad>", "</s>", "t", "<", ">", "/", "s"}).dump());
  folder.with("merges.txt", "");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true,
      "bos_token": {"content": "</s>"}, "eos_token": {"content": "</s>"}, "pad_token": "<pad>"})");
  EXPECT_EQ(ids_in(folder, "t</s><pad>"), (Ids{1, 2, 1, 0}));
  // Where no decoder lists tokens, special_tokens_map.json goes before tokenizer_config.json.
  folder.with("special_tokens_map.json", R"({"bos_token": "<pad>"})");
  EXPECT_EQ(ids_in(folder, "t"), (Ids{0, 2}));
}

TEST(TokenizerClasses, SplitSpecialTokensAreText) {
  Folder folder;
  json j = llama_json(false);
  j["added_tokens"] = {{{"id", 1}, {"content", "<s>"}, {"special", true}, {"normalized", false}}};
  j["model"]["vocab"] = vocabulary({"<unk>", "<s>", "<", "s", ">"});
  folder.with("tokenizer.json", j.dump());
  EXPECT_EQ(ids_in(folder, "<s>"), (Ids{1}));
  folder.with("tokenizer_config.json", R"({"split_special_tokens": true})");
  EXPECT_EQ(ids_in(folder, "<s>"), (Ids{2, 3, 4}));
}

TEST(TokenizerClasses, WhatCutsWordsElsewhereIsRefusedByName) {
  Folder folder;
  folder.with("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n神\n");
  folder.with("config.json", R"({"model_type": "bert", "tokenizer_class": "BertJapaneseTokenizer"})");
  folder.with("tokenizer_config.json", R"({"word_tokenizer_type": "mecab"})");
  EXPECT_EQ(why_not(folder), folder.path().string() +
                                 ": tokenizer_class (config.json): expected a class whose words are cut here, found "
                                 "'BertJapaneseTokenizer', which needs MeCab; ids can be given instead (--ids)");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_EQ(ids_in(folder, "神"), (Ids{2, 5, 3}));  // its words are BERT's by default
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "RoFormerTokenizer"})");
  EXPECT_NE(why_not(folder).find("'RoFormerTokenizer', which needs jieba"), std::string::npos);
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "TapasTokenizer"})");
  EXPECT_NE(why_not(folder).find("found 'TapasTokenizer'"), std::string::npos);
  folder.with("tokenizer_config.json", "[1]");
  EXPECT_NE(why_not(folder).find("tokenizer_config.json: expected an object"), std::string::npos);
}

TEST(TokenizerClasses, BertweetsPiecesAreMergedByItsCodes) {
  Folder folder;
  folder.with("vocab.txt", "the@@ 9\ncat 8\nc@@ 7\na@@ 6\nt 5\n");
  folder.with("bpe.codes", "c a 99\nca t</w> 98\n");
  folder.with("config.json", R"({"model_type": "roberta", "tokenizer_class": "BertweetTokenizer"})");
  // 0 … 3 are <s> <pad> </s> <unk>; h@@ and e are no pieces.
  EXPECT_EQ(ids_in(folder, "cat the"), (Ids{0, 5, 3, 3, 3, 2}));
  EXPECT_EQ(ids_in(folder, "t a t"), (Ids{0, 8, 3, 8, 2}));
  folder.with("tokenizer_config.json", R"({"normalization": true})");
  EXPECT_NE(why_not(folder).find("TweetTokenizer"), std::string::npos);
}

TEST(TokenizerClasses, ByteTokensNeedNoFile) {
  Folder folder;
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
  EXPECT_EQ(ids_in(folder, "aé<extra_id_1>"), (Ids{'a' + 3, 0xC3 + 3, 0xA9 + 3, 260, 1}));
}

std::string ranks(const Texts& pieces) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) text += encode_base64(pieces[i]) + " " + std::to_string(i) + "\n";
  return text;
}

TEST(TokenizerClasses, TablesOfRanksMergeByRank) {
  Folder folder;
  const std::string table = ranks({"a", "b", "c", "1", "2", "bc", "ab", "12", " a"});
  folder.with("tokenizer.model", table);
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|b|>"})");
  EXPECT_EQ(ids_in(folder, "abc12<|b|> a"), (Ids{0, 5, 7, 9, 8}));  // bc is of a lower rank than ab
  Folder qwen;
  qwen.with("qwen.tiktoken", table);
  EXPECT_EQ(ids_in(qwen, "12<|im_end|><|extra_0|>"), (Ids{3, 4, 11, 12}));
  Folder damaged;
  damaged.with("qwen.tiktoken", "YQ== 0\nYQ== x\n");
  EXPECT_NE(why_not(damaged).find("line 2: expected Base64 and a rank"), std::string::npos);
}

TEST(TokenizerClasses, TekkenCountsItsSpecialTokensFirst) {
  Folder folder;
  json j{{"config", {{"pattern", R"(\p{L}+|\p{N}| )"}, {"default_vocab_size", 6}, {"default_num_special_tokens", 3}}},
         {"vocab",
          {{{"rank", 0}, {"token_bytes", "YQ=="}},
           {{"rank", 1}, {"token_bytes", "Yg=="}},
           {{"rank", 2}, {"token_bytes", "YWI="}},
           {{"rank", 3}, {"token_bytes", "Yw=="}}}}};
  folder.with("tekken.json", j.dump());
  EXPECT_EQ(ids_in(folder, "abba"), (Ids{1, 5, 4, 3}));  // the fourth word is beyond the size
}

TEST(TokenizerClasses, OpenAisNamesOfGpt2sFiles) {
  Folder folder;
  folder.with("encoder.json", R"({"a":0,"b":1,"ab":2})");
  folder.with("vocab.bpe", "#version: 0.2\na b\n");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{2}));
}

/// [PAD] [CLS] [SEP] [UNK] ▁the ▁cat T ▁t
std::string bert_pieces() {
  return piece("[PAD]", 0, 3) + piece("[CLS]", 0, 3) + piece("[SEP]", 0, 3) + piece("[UNK]", 0, 2) + piece("▁the", -1) +
         piece("▁cat", -2) + piece("9,", -1) + piece("9", -2) + piece(",", -2) + piece("▁", -3) + trainer(1, 3);
}

TEST(TokenizerClasses, DebertasPiecesHaveAMaskBehind) {
  Folder folder;
  folder.with("spm.model", bert_pieces());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "DebertaV2Tokenizer"})");
  EXPECT_EQ(ids_in(folder, " the  cat [MASK]"), (Ids{1, 4, 5, 10, 2}));
  EXPECT_EQ(ids_in(folder, "The"), (Ids{1, 9, 3, 2}));
  folder.with("tokenizer_config.json",
              R"({"tokenizer_class": "DebertaV2TokenizerFast", "do_lower_case": true, "split_by_punct": true})");
  EXPECT_EQ(ids_in(folder, "The9,"), (Ids{1, 4, 7, 9, 8, 2}));
}

TEST(TokenizerClasses, AlbertLowersAndCutsNumbersFromCommas) {
  Folder folder;
  folder.with("spiece.model", bert_pieces());
  folder.with("config.json", R"({"model_type": "albert"})");
  EXPECT_EQ(ids_in(folder, "Thé 9,"), (Ids{1, 4, 9, 7, 8, 2}));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizer", "do_lower_case": false})");
  EXPECT_EQ(ids_in(folder, "The"), (Ids{1, 9, 3, 2}));
}

std::string common_pieces(unsigned kind = 1) {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("▁a", -1) + piece("b", -2) +
         piece("▁", -3) + piece("a", -4) + trainer(kind, 0);
}

TEST(TokenizerClasses, CamembertAndMbartHavePiecesOfTheirOwn) {
  Folder folder;
  folder.with("sentencepiece.bpe.model", common_pieces());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "CamembertTokenizer"})");
  EXPECT_EQ(ids_in(folder, "ab <mask>"), (Ids{5, 7, 8, 11, 6}));  // five in front, the model's first dropped
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "MBartTokenizer", "src_lang": "cs_CZ"})");
  EXPECT_EQ(ids_in(folder, "ab<mask>"), (Ids{4, 5, 33, 2, 9}));  // 8 pieces, 25 languages from 8 on
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "MBart50Tokenizer"})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{11, 4, 5, 2}));  // en_XX is the fourth language
}

TEST(TokenizerClasses, M2mNumbersLanguagesBehindItsVocabulary) {
  Folder folder;
  folder.with("sentencepiece.bpe.model", common_pieces(2));
  folder.with("vocab.json", vocabulary({"<s>", "<pad>", "</s>", "<unk>", "b", "▁a"}).dump());
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "M2M100Tokenizer", "src_lang": "am"})");
  EXPECT_EQ(ids_in(folder, "a b__af__"), (Ids{7, 5, 3, 4, 6, 2}));  // ▁ alone is no word of vocab.json
}

TEST(TokenizerClasses, GemmaHasNoSpaceInFrontAndItsRolesFirst) {
  std::string model = piece("<pad>", 0, 3) + piece("<eos>", 0, 3) + piece("<bos>", 0, 3) + piece("<unk>", 0, 2);
  for (unsigned byte = 0; byte < 256; ++byte) {
    char word[8];
    std::snprintf(word, sizeof word, "<0x%02X>", byte);
    model += piece(word, 0, 6);
  }
  model += piece("▁a", -1) + piece("a", -2) + piece("▁", -3) + piece("<start_of_turn>", 0, 4) + trainer(2, 3, true);
  Folder folder;
  folder.with("tokenizer.model", model);
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "GemmaTokenizer"})");
  EXPECT_EQ(ids_in(folder, "a a\t<start_of_turn>"), (Ids{2, 261, 260, 4 + 9, 263}));
  folder.with("added_tokens.json", R"({"<x>": 264})");
  EXPECT_EQ(ids_in(folder, "<x>a"), (Ids{2, 264, 261}));
}

TEST(TokenizerClasses, AStatedSpaceHasLlamaConvertedAnew) {
  Folder folder;
  folder.with("tokenizer.json", llama_json(true).dump());
  folder.with("tokenizer.model", common_pieces(2));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "add_prefix_space": false})");
  EXPECT_EQ(ids_in(folder, "ab"), (Ids{1, 6, 4}));
  EXPECT_TRUE(says(read_in(folder), "tokenizer.model instead of tokenizer.json"));
}

TEST(TokenizerClasses, DebertasByteLevelPairsAreBetweenClsAndSep) {
  Folder folder;
  folder.with("vocab.json", vocabulary({"[PAD]", "[CLS]", "[SEP]", "[UNK]", "a", "[MASK]"}).dump());
  folder.with("merges.txt", "");
  folder.with("config.json", R"({"model_type": "deberta"})");
  EXPECT_EQ(ids_in(folder, "a [MASK]"), (Ids{1, 4, 5, 2}));
}

}  // namespace
}  // namespace headlight::tokenizer_classes_test
