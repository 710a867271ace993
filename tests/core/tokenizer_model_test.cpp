// The models by hand: which words a piece is spelt with, what is unknown, what people are shown.
#include <map>

#include "base/utf8.h"
#include "text/characters.h"
#include "tokenizing.h"

namespace headlight::tokenizer_model_test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

json model_json(json model) { return {{"version", "1.0"}, {"model", std::move(model)}}; }

/// Words and their scores. A list of pairs between braces would be an object.
json scored(const std::vector<std::pair<const char*, double>>& words) {
  json list = json::array();
  for (const auto& [word, score] : words) list.push_back(json::array({word, score}));
  return list;
}

TEST(TokenizerModel, BytePairsMergeInTheOrderOfTheirRanks) {
  // Sennrich et al. 2016: l o w e r, with the merges (lo) (low) (er).
  const json vocabulary = {{"l", 0},  {"o", 1},   {"w", 2},  {"e", 3}, {"r", 4},
                           {"lo", 5}, {"low", 6}, {"er", 7}, {"we", 8}};
  json model = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"l o", "lo w", "e r", "w e"}}};
  EXPECT_EQ(raws(tokens_of_text(tokenizer_of(model_json(model)), "lower")), (Texts{"low", "er"}));
  model["merges"] = json::array(
      {json::array({"w", "e"}), json::array({"l", "o"}), json::array({"lo", "w"}), json::array({"e", "r"})});
  const Tokens tokens = tokens_of_text(tokenizer_of(model_json(model)), "lower");
  EXPECT_EQ(raws(tokens), (Texts{"lo", "we", "r"}));
  EXPECT_EQ(ids(tokens), (Ids{5, 8, 4}));
  EXPECT_EQ(ranges(tokens), (Ranges{{0, 2}, {2, 4}, {4, 5}}));
}

TEST(TokenizerModel, WhatBytePairsDoNotKnow) {
  json model = {
      {"type", "BPE"}, {"vocab", {{"a", 0}, {"?", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}}}, {"merges", json::array()}};
  EXPECT_EQ(ids(tokens_of_text(tokenizer_of(model_json(model)), "aéxa")), (Ids{0, 0}));
  model["unk_token"] = "?";
  const Tokens apart = tokens_of_text(tokenizer_of(model_json(model)), "aéxa");
  EXPECT_EQ(ids(apart), (Ids{0, 1, 1, 0}));
  EXPECT_EQ(texts(apart), (Texts{"a", "é", "x", "a"}));
  EXPECT_EQ(raws(apart), (Texts{"a", "?", "?", "a"}));
  EXPECT_EQ(each(apart, [](const Token& token) { return token.known; }), (std::vector<bool>{true, false, false, true}));
  model["fuse_unk"] = true;
  EXPECT_EQ(ranges(tokens_of_text(tokenizer_of(model_json(model)), "aéxa")), (Ranges{{0, 1}, {1, 4}, {4, 5}}));
  model["byte_fallback"] = true;
  const Tokens bytes = tokens_of_text(tokenizer_of(model_json(model)), "aéxa");
  EXPECT_EQ(raws(bytes), (Texts{"a", "<0xC3>", "<0xA9>", "?", "a"}));
  EXPECT_EQ(texts(bytes), (Texts{"a", "⟨C3⟩", "⟨A9⟩", "x", "a"}));
  EXPECT_EQ(ranges(bytes), (Ranges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  model["unk_token"] = "gone";
  const auto error = encode(tokenizer_of(model_json(model)), "x", true);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message(), "tokenizer: unk_token: expected a word of the vocabulary, found 'gone'");
}

TEST(TokenizerModel, ALongPieceIsMergedInTimeThatHardlyGrows) {
  json model = {{"type", "BPE"}, {"vocab", {{"a", 0}, {"aa", 1}, {"aaaa", 2}}}, {"merges", {"a a", "aa aa"}}};
  const Tokens tokens = tokens_of_text(tokenizer_of(model_json(model)), std::string(100001, 'a'));
  ASSERT_EQ(tokens.size(), 25001u);
  EXPECT_EQ(tokens.tokens.back().raw, "a");
}

TEST(TokenizerModel, WordPieceTakesTheLongestFromTheLeft) {
  // Wu et al. 2016; BERT's README: "unaffable".
  json model = {{"type", "WordPiece"},
                {"unk_token", "[UNK]"},
                {"continuing_subword_prefix", "##"},
                {"max_input_chars_per_word", 9},
                {"vocab", {{"[UNK]", 0}, {"un", 1}, {"##aff", 2}, {"##able", 3}, {"##a", 4}, {"u", 5}, {"##", 6}}}};
  const Tokenizer tokenizer = tokenizer_of(model_json(model));
  const Tokens tokens = tokens_of_text(tokenizer, "unaffable");
  EXPECT_EQ(raws(tokens), (Texts{"un", "##aff", "##able"}));
  EXPECT_EQ(texts(tokens), (Texts{"un", "aff", "able"}));
  EXPECT_EQ(ranges(tokens), (Ranges{{0, 2}, {2, 5}, {5, 9}}));
  for (const char* unknown : {"unaffablx", "unaffableu", "x"}) {
    const Tokens one = tokens_of_text(tokenizer, unknown);
    EXPECT_EQ(ids(one), (Ids{0}));
    EXPECT_EQ(texts(one), (Texts{unknown}));
    EXPECT_FALSE(one.tokens.front().known);
  }
}

TEST(TokenizerModel, WordLevelKnowsAPieceOrDoesNot) {
  json model = {{"type", "WordLevel"}, {"unk_token", "<unk>"}, {"vocab", {{"<unk>", 7}, {"a b", 2}}}};
  EXPECT_EQ(ids(tokens_of_text(tokenizer_of(model_json(model)), "a b")), (Ids{2}));
  EXPECT_EQ(ids(tokens_of_text(tokenizer_of(model_json(model)), "a")), (Ids{7}));
  model["unk_token"] = "[UNK]";
  EXPECT_FALSE(encode(tokenizer_of(model_json(model)), "a", true));
}

TEST(TokenizerModel, UnigramTakesTheSpellingOfTheHighestScore) {
  // The example in the documentation of the library, tokenizers/src/models/unigram/model.rs.
  json model = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab",
       scored({{"<unk>", 0}, {"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"cd", 1}, {"ab", 2}, {"abc", 5}, {"abcd", 10}})}};
  const Tokens tokens = tokens_of_text(tokenizer_of(model_json(model)), "abcdacdxx");
  EXPECT_EQ(raws(tokens), (Texts{"abcd", "a", "cd", "xx"}));
  EXPECT_EQ(ids(tokens), (Ids{8, 1, 5, 0}));
  model.erase("unk_id");
  const auto error = encode(tokenizer_of(model_json(model)), "abx", true);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message(), "tokenizer: unk_id: expected an id for what no word spells, found none");
}

TEST(TokenizerModel, EqualSpellingsAreToldApartAsTheLibraryDoes) {
  // a+aa and aa+a have one sum; which is found depends on how sums are rounded, and those on how scores are read.
  const json model = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", scored({{"<unk>", 0}, {"a", -3.1}, {"aa", -5.3}})}};
  EXPECT_EQ(raws(tokens_of_text(tokenizer_of(model_json(model)), "aaa")), (Texts{"a", "aa"}));
}

TEST(TokenizerModel, AddedTokensAreFoundBeforeAnythingElse) {
  json j = pieces_json();
  const auto token = [](int id, const char* content) {
    return json{{"id", id}, {"content", content}, {"normalized", false}, {"special", true}};
  };
  json list = {token(1, "<s>"), token(2, "<s><s>"), token(3, "cat"), token(4, "[M]")};
  list[2]["single_word"] = true;
  list[3]["lstrip"] = true;
  list[3]["rstrip"] = true;
  j["added_tokens"] = list;
  const Tokenizer tokenizer = tokenizer_of(j);
  EXPECT_EQ(ids(tokens_of_text(tokenizer, "a<s><s><s>b")), (Ids{0, 2, 1, 0}));
  EXPECT_EQ(ids(tokens_of_text(tokenizer, "cat concat cat.")), (Ids{3, 0, 3, 0}));
  const Tokens stripped = tokens_of_text(tokenizer, "a  [M]  b");
  EXPECT_EQ(raws(stripped), (Texts{"a", "  [M]  ", "b"}));
  EXPECT_EQ(texts(stripped), (Texts{"a", "[M]", "b"}));
  EXPECT_EQ(ranges(stripped), (Ranges{{0, 1}, {1, 8}, {8, 9}}));
  EXPECT_FALSE(stripped.tokens[1].special);
  EXPECT_TRUE(stripped.tokens[1].known);
}

TEST(TokenizerModel, AddedTokensMayBeFoundInTheNormalizedText) {
  json j = pieces_json();
  j["normalizer"] = {{"type", "Lowercase"}};
  j["added_tokens"] = {{{"id", 1}, {"content", "DAY"}, {"normalized", true}},
                       {{"id", 2}, {"content", "Night"}, {"normalized", false}}};
  EXPECT_EQ(ids(tokens_of_text(tokenizer_of(j), "Day night Night")), (Ids{1, 0, 2}));
}

TEST(TokenizerModel, AddedTokensAreNumberedOnFromTheVocabulary) {
  json j = pieces_json();
  j["added_tokens"] = {{{"id", 9}, {"content", "a"}}, {{"id", 0}, {"content", "<unk>"}}, {{"id", 2}, {"content", "b"}}};
  const auto parsed = parse_tokenizer_json("tokenizer.json", j.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(ids(tokens_of_text(parsed->tokenizer, "ab")), (Ids{1, 2}));
  EXPECT_EQ(messages_of(parsed->warnings), (Texts{"tokenizer.json: added_tokens: 'a' has the id 1, not 9"}));
}

TEST(TokenizerModel, ByteLevelWordsAreShownAsText) {
  std::map<std::string, int> vocabulary;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, letter_of_byte(static_cast<std::uint8_t>(byte)));
    vocabulary[letter] = static_cast<int>(byte);
    EXPECT_EQ(byte_of_letter(letter_of_byte(static_cast<std::uint8_t>(byte))), byte);
  }
  EXPECT_FALSE(byte_of_letter(U'我'));
  vocabulary["Ġt"] = 256;
  vocabulary["æĿ"] = 257;
  json j = model_json({{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"Ġ t", "æ Ŀ"}}});
  j["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const Tokenizer tokenizer = tokenizer_of(j);
  const Tokens tokens = tokens_of_text(tokenizer, "a t李 \n\xE2\x80\x8D");
  EXPECT_EQ(texts(tokens), (Texts{"a", "t", "⟨E6 9D⟩", "⟨8E⟩", " ", "\n", "⟨E2⟩", "⟨80⟩", "⟨8D⟩"}));
  EXPECT_EQ(ranges(tokens), (Ranges{{0, 1}, {1, 3}, {3, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 10}, {10, 11}}));
  const auto words = vocabulary_of(tokenizer);
  ASSERT_EQ(words->words.size(), 258u);
  EXPECT_EQ(words->words[256], " t");
  EXPECT_EQ(words->words[257], "⟨E6 9D⟩");
  EXPECT_TRUE(words->ids.empty());
}

TEST(TokenizerModel, WhatNobodySeesIsShownByItsNumber) {
  EXPECT_EQ(visible("\u200d"), "⟨U+200D⟩");
  EXPECT_EQ(visible("❤\ufe0f"), "❤⟨U+FE0F⟩");
  EXPECT_EQ(visible("\u0301a"), "◌\u0301a");
  EXPECT_EQ(visible("a\u0301"), "a\u0301");
  EXPECT_EQ(visible("a\xE6\x9D z\xFF"), "a⟨E6 9D⟩ z⟨FF⟩");
  EXPECT_EQ(visible(""), "");
  EXPECT_EQ(without_leading_space(" \u3000a "), "a ");
  EXPECT_EQ(without_leading_space("  "), "  ");
}

TEST(TokenizerModel, TokensOfOneWordHaveOneNumber) {
  json model = {{"type", "WordPiece"},
                {"unk_token", "[UNK]"},
                {"continuing_subword_prefix", "##"},
                {"max_input_chars_per_word", 100},
                {"vocab", {{"[UNK]", 0}, {"un", 1}, {"##able", 2}, {"we", 3}, {"[CLS]", 4}, {"[SEP]", 5}}}};
  json j = model_json(model);
  j["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  j["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 5}}, {"cls", {"[CLS]", 4}}};
  const Tokens tokens = tokens_of_text(tokenizer_of(j), "we  unable we");
  EXPECT_EQ(raws(tokens), (Texts{"[CLS]", "we", "un", "##able", "we", "[SEP]"}));
  EXPECT_EQ(word_numbers(tokens), (std::vector<std::size_t>{0, 1, 2, 2, 3, 4}));
}

TEST(TokenizerModel, TextThatIsNoTextIsRefused) {
  const auto tokens = encode(tokenizer_of(pieces_json()), "a\xff", true);
  ASSERT_FALSE(tokens);
  EXPECT_EQ(tokens.error().message(), "text: expected valid UTF-8, found byte 0xff at offset 1");
}

}  // namespace
}  // namespace headlight::tokenizer_model_test
