#include "read/tokenizer/rank_tables.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/base64.h"
#include "base/file.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "read/tokenizer/tokenizer_rules.h"
#include "text/characters.h"

namespace headlight {
namespace {

using Path = std::filesystem::path;

constexpr std::size_t kLongestMergedBytes = 256;  // of a piece that is looked at for merges
/// How tiktoken's tables are cut unless a class says otherwise (cl100k_base and Llama 3).
constexpr const char* kTiktokenSplit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+)"
    R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr int kQwenExtras = 205, kByteExtras = 125;

struct RankedPiece {
  std::string bytes;
  std::int32_t rank = 0;
};

/// Bytes in the letters of the byte alphabet.
std::string spelt(std::string_view bytes) {
  Letters letters;
  for (const char byte : bytes) letters.push_back({.code = letter_of_byte(static_cast<std::uint8_t>(byte))});
  return utf8_of(letters);
}

Result<std::vector<RankedPiece>> pieces_of_lines(const Path& path, std::string_view text) {
  std::vector<RankedPiece> pieces;
  for (const std::string_view line : lines_of(text)) {
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const auto bytes = decode_base64(line.substr(0, space));
    const std::int32_t rank = space == line.npos ? -1 : parse_number<std::int32_t>(line.substr(space + 1)).value_or(-1);
    if (!bytes || bytes->empty() || rank < 0 || rank >= kMostTokenIds)
      return bad_input(path.string(), "line " + std::to_string(pieces.size() + 1),
                       "Base64 and a rank below " + std::to_string(kMostTokenIds), quoted_word(line.substr(0, 40)));
    pieces.push_back({*bytes, rank});
  }
  return pieces;
}

/// Every way to put a piece together from two others is a merge of the piece's rank, in the order of both ranks.
Result<Bpe> merged_by_rank(const Path& path, const std::vector<RankedPiece>& pieces, std::int32_t first_id) {
  struct Merge {
    std::int32_t rank, left, right;
    std::size_t piece, cut;
  };
  std::unordered_map<std::string_view, std::int32_t> ranks;
  for (const RankedPiece& piece : pieces)
    if (!ranks.emplace(piece.bytes, piece.rank).second)
      return bad_input(path.string(), "rank " + std::to_string(piece.rank), "each piece once",
                       quoted_word(spelt(piece.bytes)) + " again");
  std::vector<Merge> merges;
  std::vector<WordTable::Word> words;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view bytes = pieces[i].bytes;
    words.push_back({spelt(bytes), pieces[i].rank + first_id});
    if (bytes.size() > kLongestMergedBytes) continue;
    for (std::size_t at = 1; at < bytes.size(); ++at) {
      const auto left = ranks.find(bytes.substr(0, at)), right = ranks.find(bytes.substr(at));
      if (left != ranks.end() && right != ranks.end())
        merges.push_back({pieces[i].rank, left->second, right->second, i, at});
    }
  }
  std::sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) {
    return std::tie(a.rank, a.left, a.right) < std::tie(b.rank, b.left, b.right);
  });
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Merge& merge : merges) {
    const std::string_view bytes = pieces[merge.piece].bytes;
    texts.emplace_back(spelt(bytes.substr(0, merge.cut)), spelt(bytes.substr(merge.cut)));
  }
  const std::vector<std::pair<std::string_view, std::string_view>> pairs(texts.begin(), texts.end());
  return Bpe::make(path.string(), WordTable(std::move(words)), {.ignore_merges = true}, pairs);
}

UnfinishedTokenizer cut_by(Bpe model, const Path& path, Regex split) {
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  read.tokenizer.model = std::move(model);
  read.tokenizer.pre_tokenizers.emplace_back(SplitAtPattern{std::move(split), Delimiters::isolated, false});
  read.tokenizer.pre_tokenizers.emplace_back(PiecesToBytes{});
  return read;
}

AddedToken special_at(std::int32_t id, std::string content) {
  AddedToken token = special_token(std::move(content));
  token.id = id;
  return token;
}

}  // namespace

bool is_rank_table(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), std::size_t{1024}));
  const std::size_t space = line.find(' ');
  return space != line.npos && space > 0 && decode_base64(line.substr(0, space)) &&
         parse_number<std::int32_t>(line.substr(space + 1, line.find('\r') - space - 1)).has_value();
}

Result<UnfinishedTokenizer> rank_tokenizer(const Path& path, std::string_view text, bool qwen) {
  const auto pieces = TRY(pieces_of_lines(path, text));
  if (pieces.empty()) return bad_input(path.string(), "pieces", "at least one", "none");
  auto model = TRY(merged_by_rank(path, pieces, 0));
  auto next = static_cast<std::int32_t>(model.words().ids());
  UnfinishedTokenizer read = cut_by(std::move(model), path, known_regex(qwen ? kQwenSplit : kTiktokenSplit));
  if (!qwen) return read;
  read.tokenizer.normalizers.emplace_back(UnicodeForm::nfc);
  for (const char* word : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
    read.present.push_back(special_at(next++, word));
  for (int i = 0; i < kQwenExtras; ++i)
    read.present.push_back(special_at(next++, "<|extra_" + std::to_string(i) + "|>"));
  return read;
}

Result<UnfinishedTokenizer> read_tekken(const Path& path) {
  const auto text = TRY(read_file(path, kMostTokenizerBytes));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  JsonProblems problems{.where = path.string()};
  const JsonField root(*document, "", problems), config = root.at("config");
  const std::string pattern = config.text("pattern");
  const auto size = config.integer("default_vocab_size", 1, kMostTokenIds);
  const auto specials = config.integer("default_num_special_tokens", 0, size);
  std::vector<RankedPiece> pieces;
  for (const JsonField& item : root.at("vocab").items()) {
    if (static_cast<std::int64_t>(pieces.size()) == size - specials || problems.first) break;
    const auto bytes = decode_base64(item.text("token_bytes"));
    if (!bytes || bytes->empty()) item.at("token_bytes").problem("Base64");
    pieces.push_back({bytes.value_or(""), static_cast<std::int32_t>(item.integer("rank", 0, size - 1))});
  }
  std::vector<AddedToken> present;
  for (const JsonField& item :
       root.has("special_tokens") ? root.at("special_tokens").items() : std::vector<JsonField>{})
    present.push_back(
        special_at(static_cast<std::int32_t>(item.integer("rank", 0, specials - 1)), item.text("token_str")));
  if (problems.first) return *problems.first;
  // Files of the first versions list none.
  if (present.empty())
    for (const char* word : {"<unk>", "<s>", "</s>"})
      present.push_back(special_at(static_cast<std::int32_t>(present.size()), word));
  auto model = TRY(merged_by_rank(path, pieces, static_cast<std::int32_t>(specials)));
  auto split = TRY(Regex::compile(path.string() + ": config.pattern", pattern));
  UnfinishedTokenizer read = cut_by(std::move(model), path, std::move(split));
  const auto begin = std::find_if(present.begin(), present.end(), [](const auto& one) { return one.content == "<s>"; });
  if (begin != present.end()) read.tokenizer.templates.push_back(template_around({{begin->id, "<s>"}}, {}));
  read.present = std::move(present);
  return read;
}

Result<UnfinishedTokenizer> byte_tokenizer(const Path& path, const TokenizerSettings& settings) {
  constexpr std::int32_t kFirstByte = 3;
  std::vector<WordTable::Word> words;
  for (std::int32_t byte = 0; byte < 256; ++byte)
    words.push_back({spelt(std::string(1, static_cast<char>(byte))), kFirstByte + byte});
  auto model = TRY(Bpe::make(path.string(), WordTable(std::move(words)), {}, {}));
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  read.tokenizer.model = std::move(model);
  read.tokenizer.pre_tokenizers.emplace_back(PiecesToBytes{});
  const std::string end = settings.special("eos_token", "</s>");
  read.present = {special_at(0, settings.special("pad_token", "<pad>")), special_at(1, end),
                  special_at(2, settings.special("unk_token", "<unk>"))};
  const auto extra = settings.numbers.find("extra_ids");
  const std::int64_t extras =
      extra == settings.numbers.end() ? kByteExtras : std::min<std::int64_t>(extra->second, 4096);
  for (std::int32_t i = 0; i < extras; ++i)
    read.present.push_back(special_at(kFirstByte + 256 + i, "<extra_id_" + std::to_string(i) + ">"));
  read.tokenizer.templates.push_back(for_pairs(template_around({}, {{1, end}}), 1, 0));
  return read;
}

}  // namespace headlight
