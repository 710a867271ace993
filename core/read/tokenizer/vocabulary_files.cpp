#include "read/tokenizer/vocabulary_files.h"

#include <algorithm>

#include "base/file.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/json/json_document.h"
#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"

namespace headlight {
namespace {

using Path = std::filesystem::path;

/// How CLIP's converter cuts a text, which is in lower case by then.
constexpr const char* kClipSplit = R"('s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+)";

/// What a class of byte-level pairs does beyond the pairs.
struct BytePairClass {
  std::string_view name;
  enum class Kind { gpt2, roberta, deberta, qwen, clip } kind = Kind::gpt2;
};
constexpr BytePairClass kBytePairClasses[] = {
    {"GPT2Tokenizer", BytePairClass::Kind::gpt2},          {"RobertaTokenizer", BytePairClass::Kind::roberta},
    {"BartTokenizer", BytePairClass::Kind::roberta},       {"LEDTokenizer", BytePairClass::Kind::roberta},
    {"LongformerTokenizer", BytePairClass::Kind::roberta}, {"MvpTokenizer", BytePairClass::Kind::roberta},
    {"DebertaTokenizer", BytePairClass::Kind::deberta},    {"CodeGenTokenizer", BytePairClass::Kind::gpt2},
    {"Qwen2Tokenizer", BytePairClass::Kind::qwen},         {"CLIPTokenizer", BytePairClass::Kind::clip},
};

/// The class by its name; where none is stated, or one without rules, by the words that begin and end RoBERTa's texts.
Result<BytePairClass::Kind> kind_of(const Path& path, const WordTable& words, const TokenizerSettings& settings) {
  const std::string& name = settings.tokenizer_class;
  if (is_plain_class(name) && words.id("!</w>") && words.id("<|startoftext|>")) return BytePairClass::Kind::clip;
  if (is_plain_class(name))
    return words.id("<s>") && words.id("</s>") && !words.id("<|endoftext|>") ? BytePairClass::Kind::roberta
                                                                             : BytePairClass::Kind::gpt2;
  for (const BytePairClass& known : kBytePairClasses)
    if (known.name == name) return known.kind;
  return bad_input(path.string(), "tokenizer_class",
                   "one of " + joined_texts(kBytePairClasses, ", ", &BytePairClass::name), quoted_word(name));
}

std::vector<AddedToken> roles_of_roberta(const TokenizerSettings& settings) {
  std::vector<AddedToken> tokens;
  for (const auto& [role, word] :
       {std::pair{"bos_token", "<s>"}, std::pair{"pad_token", "<pad>"}, std::pair{"eos_token", "</s>"},
        std::pair{"unk_token", "<unk>"}, std::pair{"cls_token", "<s>"}, std::pair{"sep_token", "</s>"}})
    tokens.push_back(special_token(settings.special(role, word)));
  tokens.push_back(special_token(settings.special("mask_token", "<mask>"), true));
  return tokens;
}

std::vector<AddedToken> roles_of_bert(const TokenizerSettings& settings) {
  std::vector<AddedToken> tokens;
  for (const auto& [role, word] :
       {std::pair{"unk_token", "[UNK]"}, std::pair{"sep_token", "[SEP]"}, std::pair{"pad_token", "[PAD]"},
        std::pair{"cls_token", "[CLS]"}, std::pair{"mask_token", "[MASK]"}})
    tokens.push_back(special_token(settings.special(role, word)));
  return tokens;
}

/// Of vocab.txt: the words by their lines, and how many stand there again.
Result<WordTable> words_of_lines(const Path& path, std::string_view text, std::vector<Error>& warnings) {
  std::vector<WordTable::Word> list;
  for (std::string_view line : lines_of(text)) {
    if (list.size() == static_cast<std::size_t>(kMostTokenIds))
      return bad_input(path.string(), "words", "at most " + std::to_string(kMostTokenIds), "more");
    line = line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1);
    list.push_back({std::string(line), static_cast<std::int32_t>(list.size())});
  }
  const std::size_t count = list.size();
  WordTable words(std::move(list));
  if (words.size() < count)
    warnings.emplace_back(ErrorCode::bad_value, path.string(),
                          std::to_string(count - words.size()) + " words stand there again; the last line counts");
  return words;
}

/// The classes of vocab.txt.
constexpr std::string_view kWordPieceClasses[] = {"BertTokenizer",
                                                  "BertJapaneseTokenizer",
                                                  "ConvBertTokenizer",
                                                  "DPRContextEncoderTokenizer",
                                                  "DPRQuestionEncoderTokenizer",
                                                  "DistilBertTokenizer",
                                                  "ElectraTokenizer",
                                                  "LayoutLMTokenizer",
                                                  "LxmertTokenizer",
                                                  "MPNetTokenizer",
                                                  "MobileBertTokenizer",
                                                  "RetriBertTokenizer",
                                                  "SqueezeBertTokenizer"};

void add_bert_normalizers(const TokenizerSettings& settings, Tokenizer& tokenizer) {
  // Without its basic tokenizer BERT's text is only cleaned; the Japanese class keeps capitals.
  const bool basic = settings.flag("do_basic_tokenize", true);
  const bool lowercase = basic && settings.flag("do_lower_case", settings.tokenizer_class != "BertJapaneseTokenizer");
  tokenizer.normalizers.emplace_back(CleanText{});
  if (basic && settings.flag("tokenize_chinese_chars", true)) tokenizer.normalizers.emplace_back(SpaceChinese{});
  if (basic && settings.flag("strip_accents", lowercase)) tokenizer.normalizers.emplace_back(DropAccents{});
  if (lowercase) tokenizer.normalizers.emplace_back(Lowercase{});
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split_at('\n', text);
  if (lines.back().empty()) lines.pop_back();
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

Result<std::string> read_text(const Path& path) {
  auto text = TRY(read_file(path, kMostTokenizerBytes));
  TRY(check_utf8(path.string(), text));
  return text;
}

Result<WordTable> read_vocabulary_json(const Path& path) {
  const auto text = TRY(read_file(path, kMostTokenizerBytes));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  JsonProblems problems{.where = path.string()};
  auto words = vocabulary_from(JsonField(*document, "vocabulary", problems));
  if (problems.first) return *problems.first;
  return WordTable(std::move(words));
}

AddedToken special_token(std::string content, bool strip_left) {
  return {.content = std::move(content), .strip_left = strip_left, .normalized = false, .special = true};
}

std::vector<AddedToken> those_of_vocabulary(const Tokenizer& tokenizer, std::vector<AddedToken> tokens) {
  std::vector<AddedToken> there;
  for (AddedToken& token : tokens) {
    const auto id = words_of(tokenizer).id(token.content);
    const auto same = [&](const AddedToken& other) { return other.content == token.content; };
    if (!id || token.content.empty() || std::any_of(there.begin(), there.end(), same)) continue;
    token.id = *id;
    there.push_back(std::move(token));
  }
  return there;
}

Status surround(const Path& path, Tokenizer& tokenizer, const std::string& first, const std::string& last,
                int separators, int type) {
  std::vector<std::pair<std::int32_t, std::string>> before, after;
  for (const auto& [word, list] : {std::pair{&first, &before}, std::pair{&last, &after}}) {
    if (word->empty()) continue;
    const auto id = words_of(tokenizer).id(*word);
    if (!id) return bad_input(path.string(), "special tokens", quoted_word(*word) + " in the vocabulary", "none");
    list->emplace_back(*id, *word);
  }
  const bool pairs = !after.empty();
  Template around = template_around(std::move(before), std::move(after));
  tokenizer.templates.push_back(pairs ? for_pairs(std::move(around), separators, type) : std::move(around));
  return Done{};
}

Result<UnfinishedTokenizer> read_byte_pairs(const Path& path, const Path& merges_path,
                                            const TokenizerSettings& settings) {
  auto words = TRY(read_vocabulary_json(path));
  const auto text = TRY(read_text(merges_path));
  const auto merges = TRY(merges_from_lines(merges_path.string(), lines_of(text)));
  const auto kind = TRY(kind_of(path, words, settings));
  const bool clip = kind == BytePairClass::Kind::clip;
  if (words.id("!</w>") && !clip)
    return bad_input(path.string(), "vocabulary", "one of bytes, as GPT-2's", "one of words that end in </w>");
  auto bpe = TRY(Bpe::make(merges_path.string(), std::move(words), {.end_suffix = clip ? "</w>" : ""}, merges));
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  Tokenizer& tokenizer = read.tokenizer;
  tokenizer.model = std::move(bpe);
  const bool prefix_space = settings.flag("add_prefix_space", false);
  tokenizer.pre_tokenizers = byte_level_rules(prefix_space, kind != BytePairClass::Kind::qwen && !clip);
  std::vector<AddedToken> tokens;
  switch (kind) {
    case BytePairClass::Kind::clip: {
      tokenizer.normalizers.emplace_back(UnicodeForm::nfc);
      tokenizer.normalizers.emplace_back(Replace{known_regex(R"(\s+)"), U" "});
      tokenizer.normalizers.emplace_back(Lowercase{});
      tokenizer.pre_tokenizers.insert(tokenizer.pre_tokenizers.begin(),
                                      SplitAtPattern{known_regex(kClipSplit), Delimiters::removed, true});
      const std::string first = settings.special("bos_token", "<|startoftext|>");
      const std::string last = settings.special("eos_token", "<|endoftext|>");
      TRY(surround(path, tokenizer, first, last, 2, 0));
      tokens = {special_token(first), special_token(last)};
      tokens.front().normalized = true;
      break;
    }
    case BytePairClass::Kind::qwen: {
      tokenizer.normalizers.emplace_back(UnicodeForm::nfc);
      tokenizer.pre_tokenizers.insert(tokenizer.pre_tokenizers.begin(),
                                      SplitAtPattern{known_regex(kQwenSplit), Delimiters::isolated, false});
      tokens.push_back(special_token("<|endoftext|>"));
      break;
    }
    case BytePairClass::Kind::roberta: {
      tokens = roles_of_roberta(settings);
      const std::string first = settings.special("cls_token", "<s>"), last = settings.special("sep_token", "</s>");
      TRY(surround(path, tokenizer, first, last, 2, 0));
      break;
    }
    case BytePairClass::Kind::deberta: {
      tokens = roles_of_bert(settings);
      tokens.back().strip_left = true;
      TRY(surround(path, tokenizer, "[CLS]", "[SEP]", 1, 1));
      break;
    }
    case BytePairClass::Kind::gpt2: {
      const std::string bos = settings.special("bos_token", "<|endoftext|>");
      tokens.push_back(special_token("<|endoftext|>"));
      if (settings.flag("add_bos_token", false)) TRY(surround(path, tokenizer, bos, "", 0, 0));
      break;
    }
  }
  read.present = those_of_vocabulary(tokenizer, std::move(tokens));
  return read;
}

Result<UnfinishedTokenizer> read_wordpiece(const Path& path, const TokenizerSettings& settings) {
  const std::string& name = settings.tokenizer_class;
  const bool known =
      std::find(std::begin(kWordPieceClasses), std::end(kWordPieceClasses), name) != std::end(kWordPieceClasses);
  if (!known && !is_plain_class(name) && settings.class_from.ends_with(".json"))
    return bad_input(path.string(), "tokenizer_class (" + settings.class_from + ")",
                     "one of " + joined_texts(kWordPieceClasses, ", "), quoted_word(name));
  const auto text = TRY(read_text(path));
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  Tokenizer& tokenizer = read.tokenizer;
  auto words = TRY(words_of_lines(path, text, read.warnings));
  tokenizer.model = WordPiece{.words = std::move(words), .unknown = settings.special("unk_token", "[UNK]")};
  if (!settings.stored)
    read.warnings.emplace_back(
        ErrorCode::bad_value, path.string(),
        "no tokenizer_config.json beside it; capitals and accents are dropped, as BERT does by default");
  add_bert_normalizers(settings, tokenizer);
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::white_space, Delimiters::removed});
  tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::punctuation, Delimiters::isolated});
  const bool mpnet = name == "MPNetTokenizer";
  const std::string first = settings.special("cls_token", mpnet ? "<s>" : "[CLS]");
  const std::string last = settings.special("sep_token", mpnet ? "</s>" : "[SEP]");
  TRY(surround(path, tokenizer, first, last, mpnet ? 2 : 1, mpnet ? 0 : 1));
  auto tokens = mpnet ? roles_of_roberta(settings) : roles_of_bert(settings);
  if (mpnet) tokens.push_back(special_token(settings.special("unk_token", "[UNK]")));
  read.present = those_of_vocabulary(tokenizer, std::move(tokens));
  return read;
}

namespace {

/// A piece as fastBPE's merges spell it: "ca@@" is ca, "cat" is cat</w>.
std::string as_merged(std::string_view piece) {
  return piece.ends_with("@@") ? std::string(piece.substr(0, piece.size() - 2)) : std::string(piece) + "</w>";
}

}  // namespace

Result<UnfinishedTokenizer> read_fast_bpe(const Path& vocabulary, const Path& codes,
                                          const TokenizerSettings& settings) {
  const auto text = TRY(read_text(vocabulary)), merges_text = TRY(read_text(codes));
  // The first four ids are no lines of the file.
  std::vector<WordTable::Word> listed, symbols;
  const std::pair<const char*, const char*> first[] = {
      {"bos_token", "<s>"}, {"pad_token", "<pad>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}};
  for (const auto& [role, word] : first)
    listed.push_back({settings.special(role, word), static_cast<std::int32_t>(listed.size())});
  for (const std::string_view line : lines_of(text)) {
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos || listed.size() >= static_cast<std::size_t>(kMostTokenIds))
      return bad_input(vocabulary.string(), "line " + std::to_string(listed.size() - 3),
                       "a piece, a space and its count, at most " + std::to_string(kMostTokenIds), quoted_word(line));
    listed.push_back({as_merged(line.substr(0, space)), static_cast<std::int32_t>(listed.size())});
  }
  WordTable known(std::move(listed));
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::string> parts;
  for (const std::string_view line : lines_of(merges_text)) {
    const auto words = split_at(' ', line);
    if (words.size() != 3)
      return bad_input(codes.string(), "merge " + std::to_string(pairs.size()), "two pieces and a count",
                       quoted_word(line));
    pairs.emplace_back(words[0], words[1]);
    for (const std::string& piece : {pairs.back().first, pairs.back().second, pairs.back().first + pairs.back().second})
      parts.push_back(piece);
  }
  for (std::size_t id = 0; id < known.ids(); ++id) parts.emplace_back(known.text(static_cast<std::int32_t>(id)));
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  const std::string unknown = settings.special("unk_token", "<unk>");
  for (std::string& part : parts) symbols.push_back({std::move(part), static_cast<std::int32_t>(symbols.size())});
  const std::vector<std::pair<std::string_view, std::string_view>> merges(pairs.begin(), pairs.end());
  auto bpe =
      TRY(Bpe::make(codes.string(), WordTable(std::move(symbols)), {.unknown = unknown, .end_suffix = "</w>"}, merges));
  UnfinishedTokenizer read{.tokenizer = {}, .file = vocabulary};
  Tokenizer& tokenizer = read.tokenizer;
  tokenizer.model = std::move(bpe);
  const auto unknown_id = known.id(unknown);
  tokenizer.foreign = ForeignIds{std::move(known), unknown_id.value_or(3)};
  tokenizer.pre_tokenizers.emplace_back(SplitAtPattern{known_regex(R"(\S+\n?)"), Delimiters::removed, true});
  const std::string cls = settings.special("cls_token", "<s>"), sep = settings.special("sep_token", "</s>");
  TRY(surround(vocabulary, tokenizer, cls, sep, 2, 0));
  read.present = those_of_vocabulary(tokenizer, roles_of_roberta(settings));
  return read;
}

}  // namespace headlight
