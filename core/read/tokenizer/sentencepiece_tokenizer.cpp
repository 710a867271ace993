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
constexpr int kExtraIds = 100;

Result<std::int32_t> id_of(std::string_view where, const Tokenizer& tokenizer, const std::string& word) {
  if (const auto id = words_of(tokenizer).id(word)) return *id;
  return bad_input(where, "special tokens", quoted_word(word) + " in the vocabulary", "none");
}

Status expect_kind(std::string_view where, const SentencePieceModel& model, Kind kind) {
  if (model.kind == kind) return Done{};
  return bad_input(where, "model_type", kind == Kind::bpe ? "2 (byte pairs)" : "1 (unigram)",
                   std::to_string(static_cast<int>(model.kind)));
}

/// Control pieces and those that users defined are looked for in the text.
std::vector<AddedToken> added_of(const SentencePieceModel& model) {
  std::vector<AddedToken> added;
  for (const SentencePieceModel::Piece& piece : model.pieces)
    if (piece.kind == PieceKind::control || piece.kind == PieceKind::user_defined)
      added.push_back({.content = piece.text, .normalized = false, .special = piece.kind == PieceKind::control});
  return added;
}

void add(std::vector<AddedToken>& added, const std::string& content, bool strip_left = false) {
  const bool there =
      std::any_of(added.begin(), added.end(), [&content](const AddedToken& token) { return token.content == content; });
  if (!there) added.push_back({.content = content, .strip_left = strip_left, .normalized = false, .special = true});
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

/// Every way to put a piece together from two others is a merge; the pieces of the highest score come first, of these
/// the longest left part.
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

Result<Tokenizer> llama(std::string_view where, const SentencePieceModel& model, const TokenizerSettings& settings) {
  TRY(expect_kind(where, model, Kind::bpe));
  std::vector<WordTable::Word> list;
  for (const SentencePieceModel::Piece& piece : model.pieces)
    list.push_back({piece.text, static_cast<std::int32_t>(list.size())});
  WordTable words(std::move(list));
  const auto merges = merges_of(model, words);
  BpeOptions options{.unknown = model.pieces[static_cast<std::size_t>(model.unknown_id)].text,
                     .fuse_unknown = true,
                     .byte_fallback = true};
  auto bpe = TRY(Bpe::make(where, std::move(words), std::move(options), merges));
  Tokenizer tokenizer;
  tokenizer.model = std::move(bpe);
  const bool prefix = settings.flag("add_prefix_space", true);
  if (settings.flag("legacy", true)) {
    if (prefix) tokenizer.normalizers.emplace_back(Prepend{U"▁"});
    tokenizer.normalizers.emplace_back(Replace{std::u32string(U" "), U"▁"});
  } else {
    tokenizer.pre_tokenizers.emplace_back(
        Metaspace{.prepend = prefix ? Metaspace::Prepend::first : Metaspace::Prepend::never, .split = false});
  }
  const std::string bos = settings.special("bos_token", "<s>"), eos = settings.special("eos_token", "</s>");
  std::vector<std::pair<std::int32_t, std::string>> before, after;
  if (settings.flag("add_bos_token", true)) {
    const auto id = TRY(id_of(where, tokenizer, bos));
    before.emplace_back(id, bos);
  }
  if (settings.flag("add_eos_token", false)) {
    const auto id = TRY(id_of(where, tokenizer, eos));
    after.emplace_back(id, eos);
  }
  if (!before.empty() || !after.empty())
    tokenizer.templates.push_back(template_around(std::move(before), std::move(after)));
  std::vector<AddedToken> added = added_of(model);
  for (const std::string& special : {settings.special("unk_token", "<unk>"), bos, eos}) add(added, special);
  TRY(number_and_set(tokenizer, std::move(added)));
  return tokenizer;
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

Result<Tokenizer> unigram(std::string_view where, const SentencePieceModel& model, SentencePieceFamily family,
                          const TokenizerSettings& settings) {
  TRY(expect_kind(where, model, Kind::unigram));
  const bool xlm = family == SentencePieceFamily::xlm_roberta;
  std::vector<Unigram::Entry> entries;
  if (xlm) entries = {{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}};
  for (std::size_t i = xlm ? 3 : 0; i < model.pieces.size(); ++i)
    entries.push_back({model.pieces[i].text, model.pieces[i].score});
  if (xlm) entries.push_back({"<mask>", 0});
  std::vector<AddedToken> added = added_of(model);
  if (!xlm) {
    for (int i = kExtraIds - 1; i >= 0; --i) {
      const std::string extra = "<extra_id_" + std::to_string(i) + ">";
      entries.push_back({extra, 0});
      add(added, extra);
    }
  }
  if (entries.size() > static_cast<std::size_t>(kMostTokenIds))
    return bad_input(where, "pieces", "at most " + std::to_string(kMostTokenIds), std::to_string(entries.size()));
  Tokenizer tokenizer;
  tokenizer.model =
      Unigram(std::move(entries), xlm ? 3 : static_cast<std::int32_t>(model.unknown_id), model.byte_fallback && !xlm);
  TRY(add_unigram_rules(where, model, false, tokenizer));
  const std::string bos = settings.special("bos_token", "<s>"), eos = settings.special("eos_token", "</s>");
  const auto eos_id = TRY(id_of(where, tokenizer, eos));
  if (xlm) {
    const auto bos_id = TRY(id_of(where, tokenizer, bos));
    tokenizer.templates.push_back(for_pairs(template_around({{bos_id, bos}}, {{eos_id, eos}}), 2, 0));
    for (const char* special : {"<s>", "<pad>", "</s>", "<unk>"}) add(added, special);
    add(added, "<mask>", true);
  } else {
    tokenizer.templates.push_back(for_pairs(template_around({}, {{eos_id, eos}}), 1, 0));
    for (const char* special : {"</s>", "<unk>", "<pad>"}) add(added, special);
  }
  TRY(number_and_set(tokenizer, std::move(added)));
  return tokenizer;
}

}  // namespace

Result<SentencePieceFamily> sentencepiece_family(std::string_view where, std::string_view file_name,
                                                 const TokenizerSettings& settings) {
  struct Known {
    std::string_view name, model_type, file;
    SentencePieceFamily family;
  };
  using enum SentencePieceFamily;
  static constexpr Known kKnown[] = {
      {"LlamaTokenizer", "llama", "tokenizer.model", llama},
      {"CodeLlamaTokenizer", "mistral", "tokenizer.model", llama},
      {"T5Tokenizer", "t5", "spiece.model", t5},
      {"MT5Tokenizer", "mt5", "spiece.model", t5},
      {"XLMRobertaTokenizer", "xlm-roberta", "sentencepiece.bpe.model", xlm_roberta},
  };
  for (const Known& known : kKnown)
    if (settings.tokenizer_class == known.name) return known.family;
  const std::string expected = "one of " + joined_texts(kKnown, ", ", &Known::name) + " for a SentencePiece model";
  if (!settings.tokenizer_class.empty())
    return bad_input(where, "tokenizer_class", expected, quoted_word(settings.tokenizer_class));
  for (const Known& known : kKnown)
    if (settings.model_type == known.model_type) return known.family;
  for (const Known& known : kKnown)
    if (settings.model_type.empty() && file_name == known.file) return known.family;
  return bad_input(
      where, "tokenizer_class", expected,
      settings.model_type.empty() ? "none" : "none, and the model type " + quoted_word(settings.model_type));
}

Result<Tokenizer> sentencepiece_tokenizer(std::string_view where, const SentencePieceModel& model,
                                          SentencePieceFamily family, const TokenizerSettings& settings) {
  auto tokenizer =
      family == SentencePieceFamily::llama ? llama(where, model, settings) : unigram(where, model, family, settings);
  if (tokenizer) tokenizer->spelling = spelling_of(*tokenizer);
  return tokenizer;
}

Result<Tokenizer> marian_tokenizer(std::string_view where, const SentencePieceModel& model, WordTable vocabulary) {
  TRY(expect_kind(where, model, Kind::unigram));
  const auto unknown = vocabulary.id("<unk>"), end = vocabulary.id("</s>");
  if (!unknown || !end)
    return bad_input(where, "special tokens", "'<unk>' and '</s>' in vocab.json", unknown ? "no '</s>'" : "no '<unk>'");
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < vocabulary.ids(); ++id) {
    const std::string_view word = vocabulary.text(static_cast<std::int32_t>(id));
    if (word.starts_with(">>") && word.ends_with("<<") && word.size() > 4) add(added, std::string(word));
  }
  for (const char* special : {"</s>", "<unk>", "<pad>"}) add(added, special);
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
