#include "read/gguf/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "read/gguf/gguf_tables.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"
#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"

namespace headlight {
namespace {

constexpr std::string_view kInside = "tokenizer.ggml.";

std::string key_of(const char* key) { return std::string(kInside) + key; }

/// The row of gguf.json with what tokenizer.ggml.pre names; null where there is none.
const nlohmann::json* cut_named(std::string_view name) {
  for (const auto& cut : gguf_table("cuts"))
    if (std::find(cut["names"].begin(), cut["names"].end(), name) != cut["names"].end()) return &cut;
  return nullptr;
}

using PieceKind = SentencePieceModel::PieceKind;

/// The words by id and what kind each is; where the file has no kinds, all are normal.
struct GgufWords {
  const std::vector<std::string_view>* texts = nullptr;
  std::vector<PieceKind> kinds;
};

Result<GgufWords> read_words(const GgufFile& file) {
  const GgufList* texts = file.list(key_of("tokens"));
  if (!texts || texts->dtype || texts->texts.empty())
    return bad_input(file.where, key_of("tokens"), "a list of texts", texts ? "another list" : "none");
  if (texts->texts.size() > static_cast<std::size_t>(kMostTokenIds))
    return bad_input(file.where, key_of("tokens"), "at most " + std::to_string(kMostTokenIds),
                     std::to_string(texts->texts.size()));
  for (std::size_t id = 0; id < texts->texts.size(); ++id)
    if (first_invalid_utf8(texts->texts[id]))
      return bad_input(file.where, key_of("tokens") + "[" + std::to_string(id) + "]", "a text in UTF-8",
                       "'" + printable(texts->texts[id]) + "'", ErrorCode::not_utf8);
  GgufWords words{.texts = &texts->texts, .kinds = std::vector<PieceKind>(texts->texts.size(), PieceKind::normal)};
  const GgufList* kinds = file.list(key_of("token_type"));
  if (!kinds) return words;
  const std::vector<float> numbers = kinds->numbers();
  if (numbers.size() != words.kinds.size())
    return bad_input(file.where, key_of("token_type"), std::to_string(words.kinds.size()) + " numbers",
                     std::to_string(numbers.size()));
  for (std::size_t id = 0; id < numbers.size(); ++id)
    if (numbers[id] >= 1 && numbers[id] <= 6) words.kinds[id] = static_cast<PieceKind>(static_cast<int>(numbers[id]));
  return words;
}

/// The id under the first key that is there, and its word; none where it is -1 or there is no such key. Error: no word
/// has it.
using IdAndWord = std::optional<std::pair<std::int32_t, std::string>>;
Result<IdAndWord> id_at(const GgufFile& file, const GgufWords& words, std::initializer_list<const char*> keys) {
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const char* one) { return file.find(key_of(one)); });
  const auto id = key == keys.end() ? std::nullopt : file.value<std::int64_t>(key_of(*key));
  if (!id || *id == 0xFFFFFFFF) return IdAndWord();
  if (*id < 0 || *id >= static_cast<std::int64_t>(words.texts->size()))
    return bad_input(file.where, key_of(*key), "an id below " + std::to_string(words.texts->size()),
                     std::to_string(*id), ErrorCode::unknown_token_id);
  return IdAndWord(
      std::pair{static_cast<std::int32_t>(*id), std::string((*words.texts)[static_cast<std::size_t>(*id)])});
}

WordTable table_of_words(const GgufWords& words) {
  std::vector<WordTable::Word> list;
  for (const std::string_view text : *words.texts)
    list.push_back({std::string(text), static_cast<std::int32_t>(list.size())});
  return WordTable(std::move(list));
}

/// Whether special tokens are put around a text, where the file does not say it.
struct AroundText {
  bool before = false, after = false, pairs = false;
};

/// Gives the tokenizer its first and last tokens, where the file or the kind says so, and those that are looked for in
/// the text.
Status finish(const GgufFile& file, const GgufWords& words, AroundText usual, Tokenizer& tokenizer) {
  const auto stated = [&](const char* key, bool unsaid) { return file.value<bool>(key_of(key)).value_or(unsaid); };
  std::vector<std::pair<std::int32_t, std::string>> before, after;
  const auto bos = TRY(id_at(file, words, {"bos_token_id", "cls_token_id"}));
  const auto eos = TRY(usual.pairs ? id_at(file, words, {"seperator_token_id", "eos_token_id"})
                                   : id_at(file, words, {"eos_token_id"}));
  if (bos && stated("add_bos_token", usual.before)) before.push_back(*bos);
  if (eos && stated(usual.pairs ? "add_sep_token" : "add_eos_token", usual.after)) after.push_back(*eos);
  if (!before.empty() || !after.empty()) {
    const bool pairs = usual.pairs && !after.empty();
    Template around = template_around(std::move(before), std::move(after));
    tokenizer.templates.push_back(pairs ? for_pairs(std::move(around), 1, 1) : std::move(around));
  }
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < words.kinds.size(); ++id) {
    const bool control = words.kinds[id] == PieceKind::control;
    const std::string_view text = (*words.texts)[id];
    if (text.empty() || (!control && words.kinds[id] != PieceKind::user_defined)) continue;
    added.push_back(
        {.content = std::string(text), .id = static_cast<std::int32_t>(id), .normalized = false, .special = control});
  }
  TRY(set_added_tokens(tokenizer, std::move(added)));
  tokenizer.spelling = spelling_of(tokenizer);
  return Done{};
}

Result<Tokenizer> byte_pairs(const GgufFile& file, const GgufWords& words) {
  const auto name = file.value<std::string_view>(key_of("pre")).value_or("default");
  const nlohmann::json* cut = cut_named(name);
  if (!cut) {
    const std::string known = joined_texts(gguf_table("cuts"), ", ", [](const nlohmann::json& one) {
      return joined_texts(one["names"], ", ", [](const nlohmann::json& text) { return text.get<std::string>(); });
    });
    return bad_input(file.where, key_of("pre"), "one of " + known, "'" + printable(name) + "'");
  }
  const std::string where = file.where + ": " + key_of("merges");
  const GgufList* merges = file.list(key_of("merges"));
  if (!merges || merges->dtype) return bad_input(where, "", "a list of texts", merges ? "another list" : "none");
  const auto pairs = TRY(merges_from_lines(where, merges->texts));
  auto bpe = TRY(Bpe::make(where, table_of_words(words), {.ignore_merges = cut->contains("whole words")}, pairs));
  Tokenizer tokenizer;
  tokenizer.model = std::move(bpe);
  for (const nlohmann::json& split : (*cut)["split"]) {
    const auto text = joined_texts(split, "|", [](const nlohmann::json& one) { return one.get<std::string>(); });
    tokenizer.pre_tokenizers.emplace_back(SplitAtPattern{known_regex(text), Delimiters::isolated, false});
  }
  for (PreTokenizer& rule : byte_level_rules(false, false)) tokenizer.pre_tokenizers.push_back(std::move(rule));
  TRY(finish(file, words, {.before = cut->contains("bos")}, tokenizer));
  return tokenizer;
}

Result<Tokenizer> scored_pieces(const GgufFile& file, const GgufWords& words) {
  const GgufList* scores = file.list(key_of("scores"));
  const std::vector<float> numbers = scores ? scores->numbers() : std::vector<float>();
  if (numbers.size() != words.texts->size())
    return bad_input(file.where, key_of("scores"), std::to_string(words.texts->size()) + " numbers",
                     scores ? std::to_string(numbers.size()) : "none");
  SentencePieceModel model{.pieces = {}, .kind = SentencePieceModel::Kind::bpe, .charsmap = {}};
  for (std::size_t id = 0; id < numbers.size(); ++id) {
    if (!std::isfinite(numbers[id]))
      return not_finite(file.where, key_of("scores") + "[" + std::to_string(id) + "]", numbers[id]);
    model.pieces.push_back({.text = std::string((*words.texts)[id]), .score = numbers[id], .kind = words.kinds[id]});
  }
  const auto unknown = TRY(id_at(file, words, {"unknown_token_id"}));
  WordTable table = table_of_words(words);
  const auto merges = merges_of(model, table);
  BpeOptions options{
      .unknown = unknown ? unknown->second : model.pieces.front().text, .fuse_unknown = true, .byte_fallback = true};
  auto bpe = TRY(Bpe::make(file.where, std::move(table), std::move(options), merges));
  Tokenizer tokenizer;
  tokenizer.model = std::move(bpe);
  if (file.value<bool>(key_of("add_space_prefix")).value_or(true)) tokenizer.normalizers.emplace_back(Prepend{U"▁"});
  tokenizer.normalizers.emplace_back(Replace{std::u32string(U" "), U"▁"});
  TRY(finish(file, words, {.before = true}, tokenizer));
  return tokenizer;
}

/// BERT's: a piece that begins a word has ▁ in front here, and others no ##.
Result<Tokenizer> word_pieces(const GgufFile& file, GgufWords words) {
  constexpr std::string_view kBegin = "▁";
  std::vector<WordTable::Word> list;
  for (std::size_t id = 0; id < words.texts->size(); ++id) {
    const std::string_view text = (*words.texts)[id];
    const bool begins = text.starts_with(kBegin), marked = text.starts_with('[') && text.ends_with(']');
    if (marked && words.kinds[id] == PieceKind::normal) words.kinds[id] = PieceKind::control;
    list.push_back({begins                                            ? std::string(text.substr(kBegin.size()))
                    : marked || words.kinds[id] == PieceKind::control ? std::string(text)
                                                                      : "##" + std::string(text),
                    static_cast<std::int32_t>(id)});
  }
  const auto unknown = TRY(id_at(file, words, {"unknown_token_id"}));
  Tokenizer tokenizer;
  tokenizer.model = WordPiece{.words = WordTable(std::move(list)), .unknown = unknown ? unknown->second : "[UNK]"};
  const bool lower = file.value<bool>(key_of("normalizer.lowercase")).value_or(true);
  tokenizer.normalizers = {CleanText{}, SpaceChinese{}};
  if (file.value<bool>(key_of("normalizer.strip_accents")).value_or(lower))
    tokenizer.normalizers.emplace_back(DropAccents{});
  if (lower) tokenizer.normalizers.emplace_back(Lowercase{});
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::white_space, Delimiters::removed});
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::punctuation, Delimiters::isolated});
  TRY(finish(file, words, {.before = true, .after = true, .pairs = true}, tokenizer));
  return tokenizer;
}

}  // namespace

Result<TokenizerFile> gguf_tokenizer(const GgufFile& file) {
  const auto kind = file.value<std::string_view>(key_of("model"));
  constexpr std::string_view kKinds = "gpt2, llama or bert";
  if (!kind || *kind == "none" || *kind == "no_vocab")
    return bad_input(file.where, key_of("model"), kKinds, "none", ErrorCode::no_tokenizer);
  const auto read = [&]() -> Result<Tokenizer> {
    if (*kind != "gpt2" && *kind != "llama" && *kind != "bert")
      return bad_input(file.where, key_of("model"), kKinds, "'" + printable(*kind) + "'");
    auto words = TRY(read_words(file));
    if (*kind == "bert") return word_pieces(file, std::move(words));
    return *kind == "gpt2" ? byte_pairs(file, words) : scored_pieces(file, words);
  };
  auto tokenizer = read();
  if (!tokenizer) {
    Error refused = tokenizer.error();
    refused.code = ErrorCode::bad_tokenizer;
    return refused;
  }
  return TokenizerFile{.tokenizer = std::make_shared<const Tokenizer>(*std::move(tokenizer)), .file = file.where};
}

std::vector<std::int64_t> gguf_ends(const GgufFile& file) {
  std::vector<std::int64_t> ends;
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"})
    if (const auto id = file.value<std::int64_t>(key_of(key)); id && *id >= 0 && *id < kMostTokenIds)
      ends.push_back(*id);
  return ends;
}

std::string gguf_chat_template(const GgufFile& file) {
  return std::string(file.value<std::string_view>("tokenizer.chat_template").value_or(""));
}

Result<TokenizerFile> tokenizer_at(const std::filesystem::path& path, ClassRules rules) {
  if (!is_gguf(path)) return read_tokenizer(path, rules);
  const auto file = TRY(map_gguf(path));
  return gguf_tokenizer(file);
}

}  // namespace headlight
