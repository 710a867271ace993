// Folders without a tokenizer.json, SentencePiece models, and files that are broken or malicious.
#include <cstring>
#include <limits>

#include "base/base64.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"
#include "read/tokenizer/tokenizer_file.h"
#include "sentencepiece_files.h"
#include "tokenizing.h"

namespace headlight::tokenizer_file_test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

std::string refused(const std::string& bytes) {
  const auto model = parse_sentencepiece_model("m.model", bytes);
  EXPECT_FALSE(model);
  return model ? "" : model.error().message();
}

std::string read_refusal(const Folder& folder) {
  const auto file = read_tokenizer(folder.path());
  EXPECT_FALSE(file);
  const std::string where = folder.path().string() + "/";
  const std::string message = file ? "" : file.error().message();
  return message.starts_with(where) ? message.substr(where.size()) : message;
}

Tokens read_and_encode(const Folder& folder, std::string_view text) {
  const auto file = read_tokenizer(folder.path());
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  return file ? tokens_of_text(*file->tokenizer, text) : Tokens{};
}

TEST(TokenizerFile, Gpt2FromItsVocabularyAndMerges) {
  Folder folder;
  folder.with("vocab.json", R"({"a":0,"b":1,"Ġ":2,"ab":3,"Ġab":4,"<|endoftext|>":5})");
  folder.with("merges.txt", "#version: 0.2\na b\nĠ ab\n");
  EXPECT_EQ(ids(read_and_encode(folder, "ab ab<|endoftext|>a")), (Ids{3, 4, 5, 0}));
  folder.with("tokenizer_config.json", R"({"add_prefix_space": true, "add_bos_token": true})");
  EXPECT_EQ(ids(read_and_encode(folder, "ab")), (Ids{5, 4}));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "CTRLTokenizer"})");
  EXPECT_EQ(read_refusal(folder),
            "vocab.json: tokenizer_class: expected one of GPT2Tokenizer, RobertaTokenizer, BartTokenizer, "
            "LEDTokenizer, LongformerTokenizer, MvpTokenizer, DebertaTokenizer, CodeGenTokenizer, Qwen2Tokenizer, "
            "CLIPTokenizer, found 'CTRLTokenizer'");
}

TEST(TokenizerFile, ClipFromItsVocabularyAndMerges) {
  Folder folder;
  folder.with("vocab.json", R"({"a":0,"b":1,"!":2,"'":3,"s":4,"1":5,"a</w>":6,"b</w>":7,"!</w>":8,"'s</w>":9,"1</w>":10,
                                "s</w>":11,"ab</w>":12,"<|startoftext|>":13,"<|endoftext|>":14})");
  folder.with("merges.txt", "#version: 0.2\na b</w>\n' s</w>\n");
  for (const char* config : {"", R"({"tokenizer_class": "CLIPTokenizer"})"}) {
    if (*config) folder.with("tokenizer_config.json", config);
    EXPECT_EQ(ids(read_and_encode(folder, " AB \t aB's 11!")), (Ids{13, 12, 12, 9, 10, 10, 8, 14})) << config;
    EXPECT_EQ(ids(read_and_encode(folder, "")), (Ids{13, 14}));
    EXPECT_EQ(ids(read_and_encode(folder, "a<|endoftext|>!b")), (Ids{13, 6, 14, 8, 7, 14}));
    EXPECT_EQ(ids(read_and_encode(folder, "<|STARTOFTEXT|>a")), (Ids{13, 13, 6, 14}));
  }
}

TEST(TokenizerFile, RobertaPutsItsTokensAround) {
  Folder folder;
  folder.with("vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"Ġ":5,"Ġa":6,"<mask>":7})");
  folder.with("merges.txt", "Ġ a\r\n");
  const Tokens tokens = read_and_encode(folder, "a a <mask>a");
  EXPECT_EQ(ids(tokens), (Ids{0, 4, 6, 7, 4, 2}));
  EXPECT_EQ(raws(tokens), (Texts{"<s>", "a", "Ġa", " <mask>", "a", "</s>"}));
}

TEST(TokenizerFile, Qwen2CutsDigitsApart) {
  Folder folder;
  folder.with("vocab.json", R"({"1":0,"2":1,"12":2,"e":3,"Ã":4,"©":5})");
  folder.with("merges.txt", "1 2\n");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder":
    {"8": {"content": "<|im_end|>", "special": true, "normalized": false}}})");
  EXPECT_EQ(ids(read_and_encode(folder, "12e\u0301<|im_end|>")), (Ids{0, 1, 4, 5, 8}));
}

TEST(TokenizerFile, BertFromItsWords) {
  Folder folder;
  folder.with("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncafe\nCafé\n##s\n我\n");
  const auto file = read_tokenizer(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->warnings.size(), 1u);
  EXPECT_EQ(ids(tokens_of_text(*file->tokenizer, "Cafés我[MASK]")), (Ids{2, 5, 7, 8, 4, 3}));
  folder.with("tokenizer_config.json", R"({"do_lower_case": false, "unk_token": {"content": "[UNK]"}})");
  EXPECT_EQ(ids(read_and_encode(folder, "Cafés cafe x")), (Ids{2, 6, 7, 5, 1, 3}));
  folder.with("vocab.txt", "[UNK]\na\n");
  EXPECT_EQ(read_refusal(folder), "vocab.txt: special tokens: expected '[CLS]' in the vocabulary, found none");
}

TEST(TokenizerFile, LlamaFromSentencePiece) {
  std::string model = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);
  for (unsigned byte = 0; byte < 256; ++byte) {
    char word[8];
    std::snprintf(word, sizeof word, "<0x%02X>", byte);
    model += piece(word, 0, 6);
  }
  // 259 …: the later, the rarer.
  model += piece("▁t", -0.0f) + piece("he", -1) + piece("▁the", -2) + piece("▁", -3) + piece("t", -4) + piece("h", -5) +
           piece("e", -6) + trainer(2, 0, true);
  Folder folder;
  folder.with("tokenizer.model", model);
  const Tokens tokens = read_and_encode(folder, "the h</s>é");
  EXPECT_EQ(raws(tokens), (Texts{"<s>", "▁the", "▁", "h", "</s>", "▁", "<0xC3>", "<0xA9>"}));
  EXPECT_EQ(ids(tokens), (Ids{1, 261, 262, 264, 2, 262, 198, 172}));
  EXPECT_EQ(texts(tokens), (Texts{"<s>", "the", " ", "h", "</s>", " ", "⟨C3⟩", "⟨A9⟩"}));
  folder.with(
      "tokenizer_config.json",
      R"({"tokenizer_class": "LlamaTokenizer", "legacy": false, "add_eos_token": true, "add_bos_token": false})");
  EXPECT_EQ(raws(read_and_encode(folder, "the h</s>h")), (Texts{"▁the", "▁", "h", "</s>", "h", "</s>"}));
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BaichuanTokenizer"})");
  EXPECT_NE(read_refusal(folder).find("found 'BaichuanTokenizer'"), std::string::npos);
}

std::string unigram_model() {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("▁", -2) + piece("▁a", -3) +
         piece("b", -4) + trainer(1, 0);
}

TEST(TokenizerFile, T5HasExtraIdsBehindItsPieces) {
  Folder folder;
  folder.with("spiece.model", unigram_model());
  const Tokens tokens = read_and_encode(folder, "a  b<extra_id_0> x ");
  EXPECT_EQ(ids(tokens), (Ids{4, 3, 5, 105, 3, 0, 2}));
  EXPECT_EQ(raws(tokens).back(), "</s>");
}

TEST(TokenizerFile, XlmRobertaHasItsOwnFirstIds) {
  Folder folder;
  folder.with("sentencepiece.bpe.model", unigram_model());
  EXPECT_EQ(ids(read_and_encode(folder, "a b x <mask>")), (Ids{0, 5, 4, 6, 4, 3, 7, 2}));
}

TEST(TokenizerFile, MarianLooksItsPiecesUp) {
  Folder folder;
  folder.with("vocab.json", R"({"</s>":0,"<unk>":1,"b":2,"▁a":3,">>fra<<":4,"▁":5,"<pad>":6})");
  folder.with("source.spm", unigram_model());
  folder.with("target.spm", piece("<unk>", 0, 2) + piece("▁b", -1) + trainer(1, 0));
  const auto file = read_tokenizer(folder.path());
  ASSERT_TRUE(file) << file.error().message();
  const Tokens tokens = tokens_of_text(*file->tokenizer, ">>fra<<  a b");
  EXPECT_EQ(ids(tokens), (Ids{4, 3, 5, 2, 0}));
  ASSERT_TRUE(file->target);
  const Tokens target = tokens_of_text(*file->target, "b");
  EXPECT_EQ(ids(target), (Ids{1, 0}));  // ▁b is not in vocab.json
  EXPECT_FALSE(target.tokens.front().known);
  EXPECT_EQ(vocabulary_of(*file->tokenizer)->words.at(3), " a");
}

TEST(TokenizerFile, AFolderWithoutATokenizerSaysWhatWasLookedFor) {
  Folder folder;
  const std::string message = read_refusal(folder);
  EXPECT_NE(message.find("tokenizer: expected tokenizer.json, vocab.json with merges.txt"), std::string::npos)
      << message;
  folder.with("tokenizer.json", "{");
  EXPECT_NE(read_refusal(folder).find("tokenizer.json: line 1"), std::string::npos);
}

TEST(SentencePiece, FieldsAreReadAndOthersPassedOver) {
  const auto model = parse_sentencepiece_model(
      "m",
      piece("a", -1.5f) + piece("b", 2, 4) + trainer(2, 1, true) + bytes_field(4, "test data") +
          bytes_field(3, bytes_field(1, "nfkc") + bytes_field(2, "map") + number_field(3, 0) + number_field(4, 0)));
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->pieces.size(), 2u);
  EXPECT_EQ(model->pieces[0].score, -1.5f);
  EXPECT_EQ(model->pieces[1].kind, SentencePieceModel::PieceKind::user_defined);
  EXPECT_EQ(model->kind, SentencePieceModel::Kind::bpe);
  EXPECT_TRUE(model->byte_fallback);
  EXPECT_EQ(model->unknown_id, 1);
  EXPECT_EQ(model->charsmap, "map");
}

TEST(SentencePiece, DamageIsOneLine) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refused(""), "m.model: pieces: expected at least one, found none");
  EXPECT_EQ(refused("\xff"),
            "m.model: expected a SentencePiece model, found bytes that are no protocol buffer of its form");
  EXPECT_EQ(refused(piece("a", nan)), "m.model: piece 0: expected a finite score, found nan");
  EXPECT_EQ(refused(piece("a", 0) + piece("a", 0)), "m.model: piece 1: expected each text once, found 'a' again");
  EXPECT_EQ(refused(piece("", 0)), "m.model: piece 0: expected a text, found none");
  EXPECT_NE(refused(piece("\xff", 0)).find("piece 0: text: expected valid UTF-8"), std::string::npos);
  EXPECT_EQ(refused(piece("a", 0, 9)), "m.model: piece 0: expected a type from 1 to 6, found 9");
  EXPECT_EQ(refused(piece("a", 0) + trainer(1, 1)), "m.model: unk_id: expected a piece of 1, found 1");
  EXPECT_EQ(refused(piece("a", 0) + trainer(7, 0)), "m.model: model_type: expected a number from 1 to 4, found 7");
  EXPECT_NE(refused(bytes_field(1, "abc").substr(0, 4)), "");
  EXPECT_NE(refused(varint(1 << 3 | 2) + varint(std::numeric_limits<std::uint64_t>::max())), "");
}

TEST(Charsmap, OffsetsOutsideAreRefused) {
  // A trie of 256 units: the root's children lie at 0 ^ 1 ^ label; 'a' leads to a leaf that names replacement 0.
  std::string units(1024, '\0');
  const auto put = [&units](std::size_t at, std::uint32_t unit) { std::memcpy(units.data() + 4 * at, &unit, 4); };
  put(0, 1u << 10);
  put(1 ^ 'a', 3u << 10 | 1u << 8 | 'a');
  put((1 ^ 'a') ^ 3, 1u << 31);
  const std::string size("\0\4\0\0", 4);
  const auto map = Charsmap::parse("m", size + units + std::string("xy\0", 3));
  ASSERT_TRUE(map) << map.error().message();
  Letters letters = letters_of("bab");
  map->normalize(letters);
  EXPECT_EQ(utf8_of(letters), "bxyb");
  EXPECT_EQ(letters[1].begin, 1u);
  EXPECT_EQ(letters[2].end, 2u);
  EXPECT_FALSE(Charsmap::parse("m", size + units.substr(0, 500)));
  EXPECT_FALSE(Charsmap::parse("m", "abc"));
  EXPECT_FALSE(Charsmap::parse("m", size + units + "\xff"));
  put((1 ^ 'a') ^ 3, 1u << 31 | 4);
  const auto outside = Charsmap::parse("m", size + units + std::string("xy\0", 3));
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message(),
            "m: precompiled_charsmap: expected replacements inside their 3 bytes, found offset 4");
  put(0, 0x1FFFFFu << 10);
  EXPECT_FALSE(Charsmap::parse("m", size + units + std::string("xy\0", 3)));
}

TEST(Base64, BytesComeBack) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("+/8="), "\xfb\xff");
  for (const char* wrong : {"Z", "Zg", "Zg=", "Z===", "Zh==", "Zm9*", "Zg==Zg=="})
    EXPECT_FALSE(decode_base64(wrong)) << wrong;
}

TEST(TokenizerJson, HostileFilesAreOneLine) {
  const auto with = [](const char* model) { return refused_json(json{{"model", json::parse(model)}}); };
  EXPECT_EQ(with(R"({"type":"BPE","vocab":{"a":0,"b":0},"merges":[]})"),
            "tokenizer.json: model.vocab.\"b\": expected an id that no other word has, found 0");
  EXPECT_NE(with(R"({"type":"BPE","vocab":{"a":-1},"merges":[]})")
                .find("expected a whole number from 0 to 2097151, found -1"),
            std::string::npos);
  EXPECT_NE(with(R"({"type":"BPE","vocab":{"a":18446744073709551615},"merges":[]})").find("expected a whole number"),
            std::string::npos);
  EXPECT_NE(with(R"({"type":"BPE","vocab":{"a":1.5},"merges":[]})").find("expected a whole number"), std::string::npos);
  EXPECT_EQ(with(R"({"type":"BPE","vocab":{"a":0},"merges":["a b"]})"),
            "tokenizer.json: model: merge 0: expected words of the vocabulary, found 'b'");
  EXPECT_EQ(with(R"({"type":"BPE","vocab":{"a":0},"merges":["a a"]})"),
            "tokenizer.json: model: merge 0: expected words of the vocabulary, found 'aa'");
  EXPECT_NE(with(R"({"type":"BPE","vocab":{"a":0},"merges":["a a a"]})").find("two words with a space between them"),
            std::string::npos);
  EXPECT_NE(with(R"({"type":"BPE","vocab":{"a":0},"merges":[["a"]]})").find("model.merges.0: expected two words"),
            std::string::npos);
  EXPECT_NE(with(R"({"type":"Unigram","unk_id":3,"vocab":[["a",0]]})").find("model.unk_id"), std::string::npos);
  EXPECT_NE(with(R"({"type":"Unigram","unk_id":0,"vocab":[["a","b"]]})").find("a word and its score"),
            std::string::npos);
  EXPECT_NE(with(R"({"type":"Markov"})").find("model.type: expected one of BPE, Unigram, WordLevel, WordPiece"),
            std::string::npos);
  EXPECT_NE(with("3").find("model: expected an object, found 3"), std::string::npos);
  EXPECT_EQ(refused_json({{"version", "2.0"}}), "tokenizer.json: version: expected \"1.0\", found \"2.0\"");
  const auto twice = parse_tokenizer_json("t", R"({"model":{"vocab":{"a":0,"a":1}}})");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message().find("each key once"), std::string::npos);
  const auto deep = parse_tokenizer_json("t", std::string(1000, '['));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().message().find("at most 64 levels"), std::string::npos);
}

TEST(TokenizerJson, WhatIsNotAppliedIsTold) {
  json j = pieces_json();
  j["truncation"] = {{"max_length", 4}};
  j["padding"] = {{"strategy", {{"Fixed", 8}}}};
  j["model"] = {{"type", "BPE"}, {"dropout", 0.1}, {"vocab", {{"a", 0}}}, {"merges", json::array()}};
  const auto parsed = parse_tokenizer_json("t", j.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->warnings.size(), 3u);
  EXPECT_EQ(tokens_of_text(parsed->tokenizer, "aaaaaa").size(), 6u);
}

TEST(TokenizerFile, IsThereWhereAFileThatIdsAreReadFromIs) {
  for (const char* name : {"tokenizer.json", "vocab.json", "encoder.json", "vocab.txt", "tokenizer.model", "spm.model",
                           "qwen.tiktoken", "tekken.json"}) {
    Folder folder;
    EXPECT_FALSE(has_tokenizer(folder.path()));
    folder.with("merges.txt", "#");
    folder.with("adapter_model.safetensors", "#");
    EXPECT_FALSE(has_tokenizer(folder.path())) << "nothing that has ids";
    folder.with(name, "{}");
    EXPECT_TRUE(has_tokenizer(folder.path())) << name;
  }
}

}  // namespace
}  // namespace headlight::tokenizer_file_test
