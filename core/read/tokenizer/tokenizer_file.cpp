#include "read/tokenizer/tokenizer_file.h"

#include <algorithm>

#include "base/file.h"
#include "base/folders.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "read/tokenizer/kept_words.h"
#include "read/tokenizer/rank_tables.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"
#include "read/tokenizer/tokenizer_classes.h"
#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"
#include "read/tokenizer/vocabulary_files.h"
#include "text/nearest.h"

namespace headlight {
namespace {

using Path = std::filesystem::path;

/// With the tokens that the settings list, and the template of the class.
Result<TokenizerFile> finished(UnfinishedTokenizer read, const TokenizerSettings& settings, Numbering numbering) {
  TokenizerFile file{.tokenizer = nullptr, .file = read.file, .warnings = std::move(read.warnings)};
  const std::string where = file.file.string();
  TRY(add_tokens(where, read.tokenizer, std::move(read.present), settings, numbering, file.rules, file.warnings));
  apply_template(read.tokenizer, settings, file.rules, file.warnings, where);
  read.tokenizer.spelling = spelling_of(read.tokenizer);
  file.tokenizer = std::make_shared<const Tokenizer>(std::move(read.tokenizer));
  return file;
}

Result<TokenizerFile> read_tokenizer_json(const Path& path, const TokenizerSettings& settings) {
  const auto text = TRY(read_file(path, kMostTokenizerBytes));
  const auto kept = kept_words(text);
  auto document = parse_json(path.string(), kept ? kept->rest : text);
  if (!document) return document.error();
  const std::string rest = kept ? std::string() : without_words(*document, text);
  AppliedRules rules;
  apply_to_document(*document, settings, rules);
  auto parsed = TRY(tokenizer_from_json(path.string(), *document, kept ? &kept->bpe : nullptr));
  if (const auto* bpe = std::get_if<Bpe>(&parsed.tokenizer.model); bpe && !rest.empty()) keep_words(text, rest, *bpe);
  if (!settings.any)
    return TokenizerFile{.tokenizer = std::make_shared<const Tokenizer>(std::move(parsed.tokenizer)),
                         .file = path,
                         .warnings = std::move(parsed.warnings)};
  std::vector<AddedToken> present = parsed.tokenizer.added.tokens();
  auto file = TRY(finished({.tokenizer = std::move(parsed.tokenizer),
                            .file = path,
                            .present = std::move(present),
                            .warnings = std::move(parsed.warnings)},
                           settings, Numbering::after_the_last));
  file.rules.insert(file.rules.begin(), rules.begin(), rules.end());
  return file;
}

Result<SentencePieceModel> read_sentencepiece(const Path& path) {
  const auto bytes = TRY(read_file(path, kMostTokenizerBytes));
  return parse_sentencepiece_model(path.string(), bytes);
}

Result<UnfinishedTokenizer> read_marian_side(const Path& path, const WordTable& words) {
  const auto model = TRY(read_sentencepiece(path));
  auto tokenizer = TRY(marian_tokenizer(path.string(), model, words));
  std::vector<AddedToken> present = tokenizer.added.tokens();
  return UnfinishedTokenizer{.tokenizer = std::move(tokenizer), .file = path, .present = std::move(present)};
}

Result<TokenizerFile> read_marian(const Path& folder, const TokenizerSettings& settings) {
  const Path path = folder / "source.spm", target_path = folder / "target.spm";
  const Path target_words = folder / "target_vocab.json";
  const auto words = TRY(read_vocabulary_json(folder / "vocab.json"));
  auto source = TRY(read_marian_side(path, words));
  auto file = TRY(finished(std::move(source), settings, Numbering::as_stated));
  if (!path_exists(target_path)) return file;
  const auto other = TRY(path_exists(target_words) ? read_vocabulary_json(target_words) : words);
  auto target = TRY(read_marian_side(target_path, other));
  const auto finished_target = TRY(finished(std::move(target), settings, Numbering::as_stated));
  file.target = finished_target.tokenizer;
  return file;
}

Result<UnfinishedTokenizer> read_sentencepiece_file(const Path& path, const TokenizerSettings& settings) {
  const auto bytes = TRY(read_file(path, kMostTokenizerBytes));
  if (is_rank_table(bytes)) return rank_tokenizer(path, bytes, false);
  const auto family = TRY(sentencepiece_family(path.string(), path.filename().string(), settings));
  const auto model = TRY(parse_sentencepiece_model(path.string(), bytes));
  WordTable vocabulary;
  if (family == SentencePieceFamily::m2m_100) vocabulary = TRY(read_vocabulary_json(path.parent_path() / "vocab.json"));
  return sentencepiece_tokenizer(path, model, family, settings, std::move(vocabulary));
}

constexpr const char* kSentencePieceFiles[] = {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
                                               "spm.model"};

/// A stated add_prefix_space has Llama's and T5's classes convert their SentencePiece model again.
bool is_converted_anew(const TokenizerSettings& settings, const Path& model) {
  return settings.states("add_prefix_space") && !settings.version_5 && path_exists(model) &&
         (settings.tokenizer_class == "LlamaTokenizer" || settings.tokenizer_class == "T5Tokenizer");
}

Result<UnfinishedTokenizer> read_older(const Path& folder, const TokenizerSettings& settings) {
  const auto has = [&](const char* name) { return path_exists(folder / name); };
  if (has("vocab.json") && has("merges.txt"))
    return read_byte_pairs(folder / "vocab.json", folder / "merges.txt", settings);
  if (has("encoder.json") && has("vocab.bpe"))
    return read_byte_pairs(folder / "encoder.json", folder / "vocab.bpe", settings);
  if (has("vocab.txt") && has("bpe.codes")) return read_fast_bpe(folder / "vocab.txt", folder / "bpe.codes", settings);
  if (has("vocab.txt")) return read_wordpiece(folder / "vocab.txt", settings);
  for (const char* name : kSentencePieceFiles)
    if (has(name)) return read_sentencepiece_file(folder / name, settings);
  if (const Path qwen = folder / "qwen.tiktoken"; path_exists(qwen)) {
    const auto text = TRY(read_file(qwen, kMostTokenizerBytes));
    return rank_tokenizer(qwen, text, true);
  }
  if (has("tekken.json")) return read_tekken(folder / "tekken.json");
  if (settings.tokenizer_class == "ByT5Tokenizer") return byte_tokenizer(folder / "tokenizer_config.json", settings);
  for (const char* name : {"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model", "spiece.model"})
    if (const std::string other = stand_in(folder / name); !other.empty())
      return bad_input((folder / name).string(), "", "the file itself", other, ErrorCode::no_tokenizer);
  return bad_input(folder.string(), "tokenizer",
                   "tokenizer.json, vocab.json with merges.txt, vocab.json with source.spm, vocab.txt, "
                   "tokenizer.model, spiece.model, sentencepiece.bpe.model, spm.model, qwen.tiktoken, tekken.json or "
                   "encoder.json with vocab.bpe",
                   "none of them", ErrorCode::no_tokenizer);
}

Result<TokenizerFile> read_any(const Path& folder, ClassRules wanted) {
  const Path file = folder / "tokenizer.json";
  if (path_exists(file) && wanted == ClassRules::left_out) return read_tokenizer_json(file, {});
  const auto settings = TRY(read_tokenizer_settings(folder));
  TRY(check_class(folder.string(), settings));
  const bool anew =
      is_converted_anew(settings, folder / "tokenizer.model") || is_converted_anew(settings, folder / "spiece.model");
  if (path_exists(file) && !anew) return read_tokenizer_json(file, settings);
  if (path_exists(folder / "vocab.json") && path_exists(folder / "source.spm") && !path_exists(folder / "merges.txt"))
    return read_marian(folder, settings);
  auto read = TRY(read_older(folder, settings));
  auto result = TRY(finished(std::move(read), settings, Numbering::as_stated));
  if (path_exists(file))
    result.rules.insert(result.rules.begin(), result.file.filename().string() +
                                                  " instead of tokenizer.json: by tokenizer_config.json "
                                                  "(add_prefix_space)");
  return result;
}

}  // namespace

bool has_tokenizer(const std::filesystem::path& folder) {
  const auto has = [&](const char* name) { return path_exists(folder / name); };
  constexpr const char* kVocabularies[] = {"tokenizer.json", "vocab.json",    "encoder.json",
                                           "vocab.txt",      "qwen.tiktoken", "tekken.json"};
  return std::any_of(std::begin(kVocabularies), std::end(kVocabularies), has) ||
         std::any_of(std::begin(kSentencePieceFiles), std::end(kSentencePieceFiles), has);
}

Result<TokenizerFile> read_tokenizer(const std::filesystem::path& folder, ClassRules rules) {
  auto file = read_any(folder, rules);
  if (file || file.error().code == ErrorCode::no_tokenizer) return file;
  Error error = file.error();
  error.code = ErrorCode::bad_tokenizer;
  return error;
}

Result<std::vector<LikelyWords::Word>> read_word_costs(const std::filesystem::path& folder) {
  const Path path = folder / "tokenizer.json";
  const auto text = TRY(read_file(path, kMostTokenizerBytes));
  const auto document = parse_json(path.string(), text, "model");  // the model, most of the file, is left out
  if (!document) return document.error();
  JsonProblems problems{path.string()};
  const JsonField rule = JsonField(*document, "", problems).at("pre_tokenizer");
  auto costs = word_costs_from(rule.at("costs"));
  if (problems.first) return *problems.first;
  return costs;
}

}  // namespace headlight
