#include "read/tokenizer/sentencepiece_tokenizer.h"

#include <algorithm>
#include <tuple>

#include "base/formatted.h"
#include "base/utf8.h"
#include "read/tokenizer/tokenizer_json.h"
#include "read/tokenizer/tokenizer_rules.h"

namespace headlight {
namespace {

using Kind = SentencePieceModel::Kind;
using PieceKind = SentencePieceModel::PieceKind;

constexpr std::size_t kLongestMerged = 256;  // bytes of a piece that is looked at for merges

Status expect_kind(std::string_view where, const SentencePieceModel& model, Kind kind) {
  if (model.kind == kind) return Done{};
  return bad_input(where, "model_type", kind == Kind::bpe ? "2 (byte pairs)" : "1 (unigram)",
                   std::to_string(static_cast<int>(model.kind)));
}

/// Gives added tokens their ids from the vocabulary; what it lacks is left out.
Status number_and_set(Tokenizer& tokenizer, std::vector<AddedToken> added) {
  std::erase_if(added, [&](AddedToken& token) {
    const auto id = words_of(tokenizer).id(token.content);
    token.id = id.value_or(0);
    return !id;
  });
  return set_added_tokens(tokenizer, std::move(added));
}

struct PairNames {
  const char *bos, *eos, *pad;
};

/// The words of a byte-pair model by their ids. Gemma's first three are its roles, and a tab is no byte
/// (GemmaConverter).
std::vector<WordTable::Word> words_of_pieces(const SentencePieceModel& model, const TokenizerSettings& settings,
                                             const PairNames& names, bool gemma) {
  std::vector<WordTable::Word> list;
  bool has_tab = false;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    list.push_back({piece.text, static_cast<std::int32_t>(list.size())});
    has_tab = has_tab || piece.text == "\t";
  }
  if (!gemma || list.size() < 3) return list;
  list[0].text = settings.special("pad_token", names.pad);
  list[1].text = settings.special("eos_token", names.eos);
  list[2].text = settings.special("bos_token", names.bos);
  for (WordTable::Word& word : list)
    if (!has_tab && word.text == "<0x09>") word.text = "\t";
  return list;
}

void add_spaces(Tokenizer& tokenizer, const TokenizerSettings& settings, bool gemma) {
  const bool prefix = !gemma && settings.flag("add_prefix_space", true);
  if (gemma || settings.flag("legacy", true)) {
    if (prefix) tokenizer.normalizers.emplace_back(Prepend{U"▁"});
    tokenizer.normalizers.emplace_back(Replace{std::u32string(U" "), U"▁"});
  } else {
    tokenizer.pre_tokenizers.emplace_back(
        Metaspace{.prepend = prefix ? Metaspace::Prepend::first : Metaspace::Prepend::never, .split = false});
  }
}

Result<UnfinishedTokenizer> pairs_of_pieces(const std::filesystem::path& path, const SentencePieceModel& model,
                                            bool gemma, const TokenizerSettings& settings) {
  const std::string where = path.string();
  TRY(expect_kind(where, model, Kind::bpe));
  const PairNames names = gemma ? PairNames{"<bos>", "<eos>", "<pad>"} : PairNames{"<s>", "</s>", "<pad>"};
  WordTable words(words_of_pieces(model, settings, names, gemma));
  const auto merges = merges_of(model, words);
  BpeOptions options{.unknown = model.pieces[static_cast<std::size_t>(model.unknown_id)].text,
                     .fuse_unknown = true,
                     .byte_fallback = true};
  auto bpe = TRY(Bpe::make(where, std::move(words), std::move(options), merges));
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  Tokenizer& tokenizer = read.tokenizer;
  tokenizer.model = std::move(bpe);
  add_spaces(tokenizer, settings, gemma);
  const std::string bos = settings.special("bos_token", names.bos), eos = settings.special("eos_token", names.eos);
  TRY(surround(path, tokenizer, settings.flag("add_bos_token", true) ? bos : "",
               settings.flag("add_eos_token", false) ? eos : "", 1, 1));
  std::vector<AddedToken> added = added_of(model);
  for (AddedToken& token : added)
    token.special = token.special || token.content == "<start_of_turn>" || token.content == "<end_of_turn>";
  for (const std::string& special : {settings.special("unk_token", "<unk>"), bos, eos}) add_special(added, special);
  if (gemma) add_special(added, settings.special("pad_token", names.pad));
  if (settings.tokenizer_class == "CodeLlamaTokenizer")
    for (const char* role : {"▁<PRE>", "▁<MID>", "▁<SUF>", "▁<EOT>"}) add_special(added, role);
  read.present = those_of_vocabulary(tokenizer, std::move(added));
  return read;
}

/// The rules of every unigram: the normalisation of the model, spaces dropped at the end (SentencePiece itself drops
/// them at the beginning, too) and joined elsewhere, ▁ before every word.
Status add_unigram_rules(std::string_view where, const SentencePieceModel& model, bool strip_left,
                         Tokenizer& tokenizer) {
  if (!model.charsmap.empty()) {
    auto map = TRY(Charsmap::parse(where, model.charsmap));
    tokenizer.normalizers.emplace_back(std::make_shared<const Charsmap>(std::move(map)));
  }
  tokenizer.normalizers.emplace_back(Strip{.left = strip_left, .right = true});
  tokenizer.normalizers.emplace_back(Replace{known_regex(" {2,}"), U"▁"});
  tokenizer.pre_tokenizers.emplace_back(Metaspace{});
  return Done{};
}

}  // namespace

std::vector<AddedToken> added_of(const SentencePieceModel& model) {
  std::vector<AddedToken> added;
  for (const SentencePieceModel::Piece& piece : model.pieces)
    if (piece.kind == PieceKind::control || piece.kind == PieceKind::user_defined)
      added.push_back({.content = piece.text, .normalized = false, .special = piece.kind == PieceKind::control});
  return added;
}

void add_special(std::vector<AddedToken>& added, const std::string& content, bool strip_left) {
  const bool there =
      std::any_of(added.begin(), added.end(), [&content](const AddedToken& token) { return token.content == content; });
  if (!there) added.push_back({.content = content, .strip_left = strip_left, .normalized = false, .special = true});
}

std::vector<std::pair<std::string_view, std::string_view>> merges_of(const SentencePieceModel& model,
                                                                     const WordTable& words) {
  struct Merge {
    float score;
    std::size_t left_length, right_length;  // characters
    std::int32_t left, right;
    std::string_view first, second;
  };
  std::vector<Merge> merges;
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.text.size() > kLongestMerged) continue;
    std::vector<Merge> ways;
    for (std::size_t at = 1; at < piece.text.size(); ++at) {
      if ((piece.text[at] & 0xC0) == 0x80) continue;
      const std::string_view first = std::string_view(piece.text).substr(0, at);
      const std::string_view second = std::string_view(piece.text).substr(at);
      const auto left = words.id(first), right = words.id(second);
      if (left && right)
        ways.push_back({piece.score, count_characters(first), count_characters(second), *left, *right, first, second});
    }
    std::sort(ways.begin(), ways.end(),
              [](const Merge& a, const Merge& b) { return std::tie(a.left, a.right) < std::tie(b.left, b.right); });
    merges.insert(merges.end(), ways.begin(), ways.end());
  }
  std::stable_sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) {
    return std::tie(a.score, a.left_length, a.right_length) > std::tie(b.score, b.left_length, b.right_length);
  });
  std::vector<std::pair<std::string_view, std::string_view>> result;
  result.reserve(merges.size());
  for (const Merge& merge : merges) result.emplace_back(merge.first, merge.second);
  return result;
}

Result<SentencePieceFamily> sentencepiece_family(std::string_view where, std::string_view file_name,
                                                 const TokenizerSettings& settings) {
  struct Known {
    std::string_view name, file;
    SentencePieceFamily family;
  };
  using enum SentencePieceFamily;
  static constexpr Known kKnown[] = {
      {"LlamaTokenizer", "tokenizer.model", llama},
      {"CodeLlamaTokenizer", "", llama},
      {"GemmaTokenizer", "", gemma},
      {"T5Tokenizer", "spiece.model", t5},
      {"MT5Tokenizer", "", t5},
      {"XLMRobertaTokenizer", "sentencepiece.bpe.model", xlm_roberta},
      {"CamembertTokenizer", "", camembert},
      {"AlbertTokenizer", "", albert},
      {"DebertaV2Tokenizer", "spm.model", deberta_v2},
      {"MBartTokenizer", "", mbart},
      {"MBart50Tokenizer", "", mbart50},
      {"M2M100Tokenizer", "", m2m_100},
  };
  const bool plain = is_plain_class(settings.tokenizer_class);
  const std::string name = plain ? class_of_model_type(settings.model_type) : settings.tokenizer_class;
  for (const Known& known : kKnown)
    if (name == known.name) return known.family;
  const std::string expected = "one of " + joined_texts(kKnown, ", ", &Known::name) + " for a SentencePiece model";
  if (!name.empty() && !is_plain_class(name))
    return bad_input(where, "tokenizer_class (" + settings.class_from + ")", expected, quoted_word(name));
  for (const Known& known : kKnown)
    if (settings.model_type.empty() && file_name == known.file) return known.family;
  return bad_input(
      where, "tokenizer_class", expected,
      settings.model_type.empty() ? "none" : "none, and the model type " + quoted_word(settings.model_type));
}

Result<UnfinishedTokenizer> sentencepiece_tokenizer(const std::filesystem::path& path, const SentencePieceModel& model,
                                                    SentencePieceFamily family, const TokenizerSettings& settings,
                                                    WordTable vocabulary) {
  if (family == SentencePieceFamily::llama || family == SentencePieceFamily::gemma)
    return pairs_of_pieces(path, model, family == SentencePieceFamily::gemma, settings);
  return pieces_tokenizer(path, model, family, settings, std::move(vocabulary));
}

Result<Tokenizer> marian_tokenizer(std::string_view where, const SentencePieceModel& model, WordTable vocabulary) {
  TRY(expect_kind(where, model, Kind::unigram));
  const auto unknown = vocabulary.id("<unk>"), end = vocabulary.id("</s>");
  if (!unknown || !end)
    return bad_input(where, "special tokens", "'<unk>' and '</s>' in vocab.json", unknown ? "no '</s>'" : "no '<unk>'");
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < vocabulary.ids(); ++id) {
    const std::string_view word = vocabulary.text(static_cast<std::int32_t>(id));
    if (word.starts_with(">>") && word.ends_with("<<") && word.size() > 4) add_special(added, std::string(word));
  }
  for (const char* special : {"</s>", "<unk>", "<pad>"}) add_special(added, special);
  std::vector<Unigram::Entry> entries;
  for (const SentencePieceModel::Piece& piece : model.pieces) entries.push_back({piece.text, piece.score});
  Tokenizer tokenizer;
  tokenizer.model = Unigram(std::move(entries), static_cast<std::int32_t>(model.unknown_id), model.byte_fallback);
  tokenizer.foreign = ForeignIds{std::move(vocabulary), *unknown};
  TRY(add_unigram_rules(where, model, true, tokenizer));
  tokenizer.templates.push_back(template_around({}, {{*end, "</s>"}}));
  TRY(number_and_set(tokenizer, std::move(added)));
  tokenizer.spelling = spelling_of(tokenizer);
  return tokenizer;
}

}  // namespace headlight
