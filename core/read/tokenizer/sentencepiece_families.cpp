#include <algorithm>

#include "base/utf8.h"
#include "read/tokenizer/sentencepiece_tokenizer.h"
#include "read/tokenizer/tokenizer_rules.h"
#include "text/characters.h"

namespace headlight {
namespace {

using PieceFamily = SentencePieceFamily;

constexpr double kAvoided = -100;  // taken from the score of a piece that is not to be used

constexpr std::string_view kLanguagesOfMbart =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN";
constexpr std::string_view kMoreOfMbart50 =
    " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE "
    "ta_IN "
    "te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
/// Fan et al. 2021, as tokenization_m2m_100.py orders them.
constexpr std::string_view kLanguagesOfM2m =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id "
    "ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd "
    "si "
    "sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";

/// A piece that ends in a digit and a comma, of which ALBERT makes two.
bool is_number_and_comma(std::string_view piece) {
  return piece.size() >= 2 && piece.back() == ',' && piece[piece.size() - 2] >= '0' && piece[piece.size() - 2] <= '9';
}

/// The pieces by their ids: the class's own first ones in place of so many of the model's, the rest, the class's last.
struct PieceList {
  std::vector<Unigram::Entry> first = {};
  std::size_t dropped = 0;
  std::vector<std::string> last = {};
  std::optional<std::int32_t> unknown = {};  // none: the model's
};

PieceList pieces_of(PieceFamily family, const TokenizerSettings& settings) {
  PieceList list;
  switch (family) {
    case PieceFamily::t5: {
      const auto stated = settings.numbers.find("extra_ids");
      const std::int64_t extras = stated == settings.numbers.end() ? 100 : std::min<std::int64_t>(stated->second, 4096);
      for (std::int64_t i = extras - 1; i >= 0; --i) list.last.push_back("<extra_id_" + std::to_string(i) + ">");
      return list;
    }
    case PieceFamily::camembert:
      list.first = {{"<s>NOTUSED", 0}, {"<pad>", 0}, {"</s>NOTUSED", 0}, {"<unk>", 0}, {"<unk>NOTUSED", kAvoided}};
      list.dropped = 1;
      list.last = {"<mask>"};
      list.unknown = 3;
      return list;
    case PieceFamily::xlm_roberta:
    case PieceFamily::mbart:
    case PieceFamily::mbart50:
      list.first = {{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}};
      list.dropped = 3;
      list.unknown = 3;
      if (family != PieceFamily::xlm_roberta)
        for (const std::string_view one : split_at(' ', kLanguagesOfMbart)) list.last.emplace_back(one);
      if (family == PieceFamily::mbart50)
        for (const std::string_view one : split_at(' ', kMoreOfMbart50.substr(1))) list.last.emplace_back(one);
      list.last.emplace_back("<mask>");
      return list;
    default: return list;
  }
}

Result<TokenModel> model_of_pieces(const std::filesystem::path& path, const SentencePieceModel& model,
                                   PieceFamily family, PieceList list) {
  const std::size_t shift = list.first.size() - std::min(list.dropped, model.pieces.size());
  std::vector<Unigram::Entry> entries = std::move(list.first);
  for (std::size_t i = list.dropped; i < model.pieces.size(); ++i) {
    const auto& piece = model.pieces[i];
    const bool avoided = family == PieceFamily::albert && is_number_and_comma(piece.text);
    entries.push_back({piece.text, static_cast<double>(piece.score) + (avoided ? kAvoided : 0)});
  }
  for (std::string& word : list.last) entries.push_back({std::move(word), 0});
  if (entries.size() > static_cast<std::size_t>(kMostTokenIds))
    return bad_input(path.string(), "pieces", "at most " + std::to_string(kMostTokenIds),
                     std::to_string(entries.size()));
  const auto unknown =
      list.unknown.value_or(static_cast<std::int32_t>(model.unknown_id) + static_cast<std::int32_t>(shift));
  if (model.kind == SentencePieceModel::Kind::unigram)
    return TokenModel(Unigram(std::move(entries), unknown, model.byte_fallback && family == PieceFamily::t5));
  if (model.kind != SentencePieceModel::Kind::bpe)
    return bad_input(path.string(), "model_type", "1 (unigram) or 2 (byte pairs)",
                     std::to_string(static_cast<int>(model.kind)));
  std::vector<WordTable::Word> words;
  for (Unigram::Entry& entry : entries)
    words.push_back({std::move(entry.text), static_cast<std::int32_t>(words.size())});
  const std::string unknown_word = words[static_cast<std::size_t>(unknown)].text;
  WordTable table(std::move(words));
  const auto merges = merges_of(model, table);
  auto bpe = TRY(Bpe::make(path.string(), std::move(table), {.unknown = unknown_word, .fuse_unknown = true}, merges));
  return TokenModel(std::move(bpe));
}

Status add_charsmap(const std::filesystem::path& path, const SentencePieceModel& model, Tokenizer& tokenizer) {
  if (model.charsmap.empty()) return Done{};
  auto map = TRY(Charsmap::parse(path.string(), model.charsmap));
  tokenizer.normalizers.emplace_back(std::make_shared<const Charsmap>(std::move(map)));
  return Done{};
}

/// What is done to the text before it is cut at spaces.
Status normalize_for(PieceFamily family, const std::filesystem::path& path, const SentencePieceModel& model,
                     const TokenizerSettings& settings, Tokenizer& tokenizer) {
  std::vector<Normalizer>& rules = tokenizer.normalizers;
  const bool albert = family == PieceFamily::albert, deberta = family == PieceFamily::deberta_v2;
  if (albert) {
    rules.emplace_back(Replace{std::u32string(U"``"), U"\""});
    rules.emplace_back(Replace{std::u32string(U"''"), U"\""});
    if (!settings.flag("keep_accents", false)) {
      rules.emplace_back(UnicodeForm::nfkd);
      rules.emplace_back(StripAccents{});
    }
  }
  if ((albert || deberta) && settings.flag("do_lower_case", albert)) rules.emplace_back(Lowercase{});
  if (deberta) rules.emplace_back(Strip{});
  TRY(add_charsmap(path, model, tokenizer));
  if (!albert && !deberta) rules.emplace_back(Strip{.left = family == PieceFamily::m2m_100, .right = true});
  rules.emplace_back(Replace{known_regex(" {2,}"), albert || deberta ? U" " : U"▁"});
  if (deberta && settings.flag("split_by_punct", false))
    tokenizer.pre_tokenizers.emplace_back(SplitAtKind{CharacterKind::punctuation, Delimiters::isolated});
  const bool prefix = settings.flag("add_prefix_space", true), first = !settings.flag("legacy", true);
  tokenizer.pre_tokenizers.emplace_back(Metaspace{.prepend = !prefix ? Metaspace::Prepend::never
                                                             : first ? Metaspace::Prepend::first
                                                                     : Metaspace::Prepend::always});
  return Done{};
}

std::vector<AddedToken> specials_of(PieceFamily family, const SentencePieceModel& model, const PieceList& list) {
  std::vector<AddedToken> added = added_of(model);
  const bool bert = family == PieceFamily::albert || family == PieceFamily::deberta_v2;
  if (family == PieceFamily::t5 || family == PieceFamily::mbart || family == PieceFamily::mbart50)
    for (const std::string& word : list.last)
      if (word != "<mask>") add_special(added, word);
  if (family == PieceFamily::camembert)
    for (const char* word : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) add_special(added, word);
  if (bert)
    for (const char* word : {"[CLS]", "[SEP]", "<unk>", "[UNK]", "<pad>", "[PAD]"}) add_special(added, word);
  else
    for (const char* word : {"<s>", "<pad>", "</s>", "<unk>"}) add_special(added, word);
  // SentencePiece may list it among its pieces; transformers has the space before it belong to it.
  std::erase_if(added, [&](const AddedToken& token) { return token.content == (bert ? "[MASK]" : "<mask>"); });
  if (family != PieceFamily::t5) add_special(added, bert ? "[MASK]" : "<mask>", family != PieceFamily::deberta_v2);
  return added;
}

/// [MASK] of DeBERTa, and the languages of M2M-100, are numbered behind the words.
void number_behind(PieceFamily family, const Tokenizer& tokenizer, std::vector<AddedToken>& present) {
  auto next = static_cast<std::int32_t>(words_of(tokenizer).ids());
  const auto add = [&](std::string content) {
    AddedToken token = special_token(std::move(content));
    token.id = next++;
    present.push_back(std::move(token));
  };
  if (family == PieceFamily::deberta_v2 && !words_of(tokenizer).id("[MASK]")) add("[MASK]");
  if (family == PieceFamily::m2m_100)
    for (const std::string_view language : split_at(' ', kLanguagesOfM2m)) add("__" + std::string(language) + "__");
}

Status frame_pieces(PieceFamily family, const std::filesystem::path& path, const TokenizerSettings& settings,
                    UnfinishedTokenizer& read) {
  Tokenizer& tokenizer = read.tokenizer;
  const std::string bos = settings.special("bos_token", "<s>"), eos = settings.special("eos_token", "</s>");
  switch (family) {
    case PieceFamily::t5: return surround(path, tokenizer, "", eos, 1, 0);
    case PieceFamily::albert:
    case PieceFamily::deberta_v2:
      return surround(path, tokenizer, settings.special("cls_token", "[CLS]"), settings.special("sep_token", "[SEP]"),
                      1, 1);
    case PieceFamily::m2m_100: {
      const std::string language = "__" + settings.word("src_lang", "en") + "__";
      const auto is_it = [&](const AddedToken& token) { return token.content == language; };
      const auto there = std::find_if(read.present.begin(), read.present.end(), is_it);
      const auto end = words_of(tokenizer).id(eos);
      if (there == read.present.end() || !end)
        return bad_input(path.string(), "special tokens", quoted_word(language) + " and " + quoted_word(eos), "none");
      tokenizer.templates.push_back(template_around({{there->id, language}}, {{*end, eos}}));
      return Done{};
    }
    default: return surround(path, tokenizer, bos, eos, 2, 0);
  }
}

}  // namespace

Result<UnfinishedTokenizer> pieces_tokenizer(const std::filesystem::path& path, const SentencePieceModel& model,
                                             PieceFamily family, const TokenizerSettings& settings,
                                             WordTable vocabulary) {
  PieceList list = pieces_of(family, settings);
  std::vector<AddedToken> added = specials_of(family, model, list);
  UnfinishedTokenizer read{.tokenizer = {}, .file = path};
  Tokenizer& tokenizer = read.tokenizer;
  auto pieces = TRY(model_of_pieces(path, model, family, std::move(list)));
  tokenizer.model = std::move(pieces);
  if (family == PieceFamily::m2m_100) {
    const auto unknown = vocabulary.id(settings.special("unk_token", "<unk>"));
    if (!unknown) return bad_input(path.string(), "special tokens", "'<unk>' in vocab.json", "none");
    tokenizer.foreign = ForeignIds{std::move(vocabulary), *unknown};
  }
  TRY(normalize_for(family, path, model, settings, tokenizer));
  read.present = those_of_vocabulary(tokenizer, std::move(added));
  number_behind(family, tokenizer, read.present);
  TRY(frame_pieces(family, path, settings, read));
  return read;
}

}  // namespace headlight
