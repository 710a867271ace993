#include "read/tokenizer/tokenizer_file.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"
#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"

namespace headlight {
namespace {

constexpr std::size_t kMostSettings = 64 << 20;
constexpr std::array kSpecials{"bos_token", "eos_token", "unk_token", "sep_token",
                               "pad_token", "cls_token", "mask_token"};

/// A token's content, written as a string or as an object.
std::string content_of(const JsonField& field) {
  return field.value().is_object() ? field.text("content") : field.text();
}

AddedToken added_from(const std::string& name, const JsonField& field) {
  const std::int32_t id = parse_number<std::int32_t>(name).value_or(-1);
  const AddedToken token = added_token_from(field, id);
  if (id < 0 || id >= kMostTokenIds) field.problem("under an id from 0 to " + std::to_string(kMostTokenIds - 1));
  return token;
}

void take_config(const JsonField& root, TokenizerSettings& settings) {
  for (const auto& [name, field] : root.fields()) {
    if (field.value().is_boolean()) settings.flags[name] = field.flag();
    if (std::find(kSpecials.begin(), kSpecials.end(), name) != kSpecials.end() && !field.is_null())
      settings.specials[name] = content_of(field);
  }
  settings.tokenizer_class = root.text("tokenizer_class", settings.tokenizer_class);
  if (settings.tokenizer_class.ends_with("Fast")) settings.tokenizer_class.resize(settings.tokenizer_class.size() - 4);
  if (root.has("added_tokens_decoder"))
    for (const auto& [id, field] : root.at("added_tokens_decoder").fields())
      settings.added.push_back(added_from(id, field));
  std::sort(settings.added.begin(), settings.added.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::erase_if(settings.added, [](const AddedToken& token) { return token.content.empty(); });
}

/// Hands the document to `take`, where there is such a file.
template <class Take>
Status read_document(const std::filesystem::path& path, Take take) {
  if (!path_exists(path)) return Done{};
  const auto text = TRY(read_file(path, kMostSettings));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  JsonProblems problems{.where = path.string()};
  take(JsonField(*document, "", problems));
  if (problems.first) return *problems.first;
  return Done{};
}

}  // namespace

bool TokenizerSettings::flag(const std::string& name, bool fallback) const {
  const auto found = flags.find(name);
  return found == flags.end() ? fallback : found->second;
}

std::string TokenizerSettings::special(const std::string& name, const std::string& fallback) const {
  const auto found = specials.find(name);
  return found == specials.end() ? fallback : found->second;
}

Result<TokenizerSettings> read_tokenizer_settings(const std::filesystem::path& folder) {
  TokenizerSettings settings;
  TRY(read_document(folder / "special_tokens_map.json", [&](const JsonField& root) {
    for (const char* name : kSpecials)
      if (root.has(name)) settings.specials[name] = content_of(root.at(name));
  }));
  TRY(read_document(folder / "tokenizer_config.json", [&](const JsonField& root) {
    settings.stored = true;
    take_config(root, settings);
  }));
  TRY(read_document(folder / "config.json", [&](const JsonField& root) {
    if (root.has("model_type")) settings.model_type = root.text("model_type");
  }));
  return settings;
}

namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
/// How Qwen2's converter cuts a text.
constexpr const char* kQwenSplit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

using Path = std::filesystem::path;

/// Lines without their ends; what follows the last end is a line, unless it is empty.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split_at('\n', text);
  if (lines.back().empty()) lines.pop_back();
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

Result<std::string> read_text(const Path& path) {
  auto text = TRY(read_file(path, kMostBytes));
  TRY(check_utf8(path.string(), text));
  return text;
}

Result<WordTable> read_vocabulary_json(const Path& path) {
  const auto text = TRY(read_file(path, kMostBytes));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  JsonProblems problems{.where = path.string()};
  auto words = vocabulary_from(JsonField(*document, "vocabulary", problems));
  if (problems.first) return *problems.first;
  return WordTable(std::move(words));
}

TokenizerFile file_of(Tokenizer tokenizer, Path path, std::vector<Error> warnings = {}) {
  return {.tokenizer = std::make_shared<const Tokenizer>(std::move(tokenizer)),
          .file = std::move(path),
          .warnings = std::move(warnings)};
}

/// Those of tokenizer_config.json, else `fallback`; numbered by the vocabulary, or as listed where it has no such word.
Status set_listed_tokens(Tokenizer& tokenizer, const TokenizerSettings& settings, std::vector<AddedToken> fallback) {
  std::vector<AddedToken> tokens = settings.added;
  if (tokens.empty()) {
    tokens = std::move(fallback);
    std::erase_if(tokens, [&tokenizer](const AddedToken& token) { return !words_of(tokenizer).id(token.content); });
  }
  for (AddedToken& token : tokens) token.id = words_of(tokenizer).id(token.content).value_or(token.id);
  return set_added_tokens(tokenizer, std::move(tokens));
}

AddedToken special_token(std::string content, bool strip_left = false) {
  return {.content = std::move(content), .strip_left = strip_left, .normalized = false, .special = true};
}

/// The id and word of a special token that must be in the vocabulary.
Result<std::pair<std::int32_t, std::string>> special_of(const Path& path, const Tokenizer& tokenizer,
                                                        const std::string& word) {
  if (const auto id = words_of(tokenizer).id(word)) return std::pair{*id, word};
  return bad_input(path.string(), "special tokens", quoted_word(word) + " in the vocabulary", "none");
}

Status surround(const Path& path, Tokenizer& tokenizer, const std::string& first, const std::string& last,
                int separators, int type) {
  const auto before = TRY(special_of(path, tokenizer, first));
  const auto after = TRY(special_of(path, tokenizer, last));
  tokenizer.templates.push_back(for_pairs(template_around({before}, {after}), separators, type));
  return Done{};
}

/// Byte-level pairs: GPT-2, RoBERTa and BART, Qwen2.
Result<TokenizerFile> read_byte_pairs(const Path& folder) {
  const auto settings = TRY(read_tokenizer_settings(folder));
  const Path path = folder / "vocab.json", merges_path = folder / "merges.txt";
  auto words = TRY(read_vocabulary_json(path));
  if (words.id("!</w>"))
    return bad_input(path.string(), "vocabulary", "one of bytes, as GPT-2's", "one of words that end in </w>");
  const auto text = TRY(read_text(merges_path));
  const auto merges = TRY(merges_from_lines(merges_path.string(), lines_of(text)));
  // By the class; where none is stored, by the words that begin and end RoBERTa's texts.
  const std::string& name = settings.tokenizer_class;
  const bool roberta = name.empty() ? words.id("<s>") && words.id("</s>") && !words.id("<|endoftext|>")
                                    : name == "RobertaTokenizer" || name == "BartTokenizer";
  const bool qwen = name == "Qwen2Tokenizer";
  if (!roberta && !qwen && !name.empty() && name != "GPT2Tokenizer")
    return bad_input(path.string(), "tokenizer_class",
                     "GPT2Tokenizer, RobertaTokenizer, BartTokenizer or Qwen2Tokenizer", quoted_word(name));
  auto bpe = TRY(Bpe::make(merges_path.string(), std::move(words), {}, merges));
  Tokenizer tokenizer;
  tokenizer.model = std::move(bpe);
  const bool prefix_space = settings.flag("add_prefix_space", false);
  std::vector<AddedToken> fallback;
  if (qwen) {
    tokenizer.normalizers.emplace_back(UnicodeForm::nfc);
    tokenizer.pre_tokenizers.emplace_back(SplitAtPattern{known_regex(kQwenSplit), Delimiters::isolated, false});
    for (PreTokenizer& rule : byte_level_rules(prefix_space, false))
      tokenizer.pre_tokenizers.push_back(std::move(rule));
  } else {
    tokenizer.pre_tokenizers = byte_level_rules(prefix_space, true);
  }
  if (roberta) {
    for (const char* word : {"<s>", "<pad>", "</s>", "<unk>"}) fallback.push_back(special_token(word));
    fallback.push_back(special_token("<mask>", true));
    TRY(surround(path, tokenizer, settings.special("cls_token", "<s>"), settings.special("sep_token", "</s>"), 2, 0));
  } else {
    fallback.push_back(special_token("<|endoftext|>"));
    if (!qwen && settings.flag("add_bos_token", false)) {
      auto bos = TRY(special_of(path, tokenizer, settings.special("bos_token", "<|endoftext|>")));
      tokenizer.templates.push_back(template_around({std::move(bos)}, {}));
    }
  }
  TRY(set_listed_tokens(tokenizer, settings, std::move(fallback)));
  tokenizer.spelling = spelling_of(tokenizer);
  return file_of(std::move(tokenizer), path);
}

/// BERT, DistilBERT, ELECTRA: a word a line, numbered from 0.
Result<TokenizerFile> read_wordpiece(const Path& folder) {
  const auto settings = TRY(read_tokenizer_settings(folder));
  const Path path = folder / "vocab.txt";
  const auto text = TRY(read_text(path));
  std::vector<WordTable::Word> list;
  for (std::string_view line : lines_of(text)) {
    if (list.size() == static_cast<std::size_t>(kMostTokenIds))
      return bad_input(path.string(), "words", "at most " + std::to_string(kMostTokenIds), "more");
    line = line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1);
    list.push_back({std::string(line), static_cast<std::int32_t>(list.size())});
  }
  const std::size_t count = list.size();
  Tokenizer tokenizer;
  tokenizer.model = WordPiece{.words = WordTable(std::move(list)), .unknown = settings.special("unk_token", "[UNK]")};
  std::vector<Error> warnings;
  if (words_of(tokenizer).size() < count)
    warnings.emplace_back(
        ErrorCode::bad_value, path.string(),
        std::to_string(count - words_of(tokenizer).size()) + " words stand there again; the last line counts");
  if (!settings.stored)
    warnings.emplace_back(
        ErrorCode::bad_value, path.string(),
        "no tokenizer_config.json beside it; capitals and accents are dropped, as BERT does by default");
  const bool lowercase = settings.flag("do_lower_case", true);
  tokenizer.normalizers.emplace_back(CleanText{});
  if (settings.flag("tokenize_chinese_chars", true)) tokenizer.normalizers.emplace_back(SpaceChinese{});
  if (settings.flag("strip_accents", lowercase)) tokenizer.normalizers.emplace_back(DropAccents{});
  if (lowercase) tokenizer.normalizers.emplace_back(Lowercase{});
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::white_space, Delimiters::removed});
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::punctuation, Delimiters::isolated});
  const std::string first = settings.special("cls_token", "[CLS]"), last = settings.special("sep_token", "[SEP]");
  TRY(surround(path, tokenizer, first, last, 1, 1));
  std::vector<AddedToken> fallback;
  for (const auto& [token, word] :
       {std::pair{"unk_token", "[UNK]"}, std::pair{"sep_token", "[SEP]"}, std::pair{"pad_token", "[PAD]"},
        std::pair{"cls_token", "[CLS]"}, std::pair{"mask_token", "[MASK]"}})
    fallback.push_back(special_token(settings.special(token, word)));
  TRY(set_listed_tokens(tokenizer, settings, std::move(fallback)));
  tokenizer.spelling = spelling_of(tokenizer);
  return file_of(std::move(tokenizer), path, std::move(warnings));
}

Result<SentencePieceModel> read_sentencepiece(const Path& path) {
  const auto bytes = TRY(read_file(path, kMostBytes));
  return parse_sentencepiece_model(path.string(), bytes);
}

Result<Tokenizer> read_marian_side(const Path& path, const WordTable& words) {
  const auto model = TRY(read_sentencepiece(path));
  return marian_tokenizer(path.string(), model, words);
}

Result<TokenizerFile> read_marian(const Path& folder) {
  const Path path = folder / "source.spm", target_path = folder / "target.spm";
  const Path target_words = folder / "target_vocab.json";
  const auto words = TRY(read_vocabulary_json(folder / "vocab.json"));
  auto source = TRY(read_marian_side(path, words));
  TokenizerFile file = file_of(std::move(source), path);
  if (!path_exists(target_path)) return file;
  const auto other = TRY(path_exists(target_words) ? read_vocabulary_json(target_words) : words);
  auto target = TRY(read_marian_side(target_path, other));
  file.target = std::make_shared<const Tokenizer>(std::move(target));
  return file;
}

Result<TokenizerFile> read_sentencepiece_file(const Path& folder, const std::string& name) {
  const Path path = folder / name;
  const auto settings = TRY(read_tokenizer_settings(folder));
  const auto family = TRY(sentencepiece_family(path.string(), name, settings));
  const auto model = TRY(read_sentencepiece(path));
  auto tokenizer = TRY(sentencepiece_tokenizer(path.string(), model, family, settings));
  return file_of(std::move(tokenizer), path);
}

constexpr const char* kSentencePieceFiles[] = {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"};

bool has_pair(const Path& folder, const char* other) {
  return path_exists(folder / "vocab.json") && path_exists(folder / other);
}

Result<TokenizerFile> read_any(const Path& folder) {
  const Path file = folder / "tokenizer.json";
  if (path_exists(file)) {
    const auto text = TRY(read_file(file, kMostBytes));
    auto parsed = TRY(parse_tokenizer_json(file.string(), text));
    return file_of(std::move(parsed.tokenizer), file, std::move(parsed.warnings));
  }
  if (has_pair(folder, "merges.txt")) return read_byte_pairs(folder);
  if (has_pair(folder, "source.spm")) return read_marian(folder);
  if (path_exists(folder / "vocab.txt")) return read_wordpiece(folder);
  for (const char* name : kSentencePieceFiles)
    if (path_exists(folder / name)) return read_sentencepiece_file(folder, name);
  return bad_input(folder.string(), "tokenizer",
                   "tokenizer.json, vocab.json with merges.txt, vocab.json with source.spm, vocab.txt, "
                   "tokenizer.model, spiece.model or sentencepiece.bpe.model",
                   "none of them", ErrorCode::no_tokenizer);
}

}  // namespace

Result<TokenizerFile> read_tokenizer(const std::filesystem::path& folder) {
  auto file = read_any(folder);
  if (file || file.error().code == ErrorCode::no_tokenizer) return file;
  Error error = file.error();
  error.code = ErrorCode::bad_tokenizer;
  return error;
}

Result<std::vector<LikelyWords::Word>> read_word_costs(const std::filesystem::path& folder) {
  const Path path = folder / "tokenizer.json";
  const auto text = TRY(read_file(path, kMostBytes));
  const auto document = parse_json(path.string(), text, "model");  // the model, most of the file, is left out
  if (!document) return document.error();
  JsonProblems problems{path.string()};
  const JsonField rule = JsonField(*document, "", problems).at("pre_tokenizer");
  auto costs = word_costs_from(rule.at("costs"));
  if (problems.first) return *problems.first;
  return costs;
}

}  // namespace headlight
