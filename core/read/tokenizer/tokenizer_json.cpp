#include "read/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "read/array/array.h"
#include "read/json/json_document.h"
#include "read/tokenizer/tokenizer_rules.h"
#include "text/subwords.h"
#include "text/words.h"

namespace headlight {
namespace {

using Merges = std::vector<std::pair<std::string_view, std::string_view>>;

double power_of_ten(int exponent) {
  const std::string text = "1e" + std::to_string(exponent);
  double power = 1;
  std::from_chars(text.data(), text.data() + text.size(), power);
  return power;
}

/// A string or, missing or null, nothing.
std::optional<std::string> optional_text(const JsonField& field, const char* name) {
  if (!field.has(name)) return std::nullopt;
  return field.text(name);
}

/// "a b" or ["a", "b"]; the views point into the document.
Merges merges_from(const JsonField& field) {
  std::vector<std::string_view> lines;
  Merges merges;
  for (const JsonField& item : field.items()) {
    const auto& value = item.value();
    if (value.is_string()) {
      lines.emplace_back(value.get_ref<const std::string&>());
    } else if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
      merges.emplace_back(value[0].get_ref<const std::string&>(), value[1].get_ref<const std::string&>());
    } else {
      item.problem("two words");
      return {};
    }
  }
  if (lines.empty()) return merges;
  if (!merges.empty()) {
    field.problem("merges all written alike");
    return {};
  }
  auto parsed = merges_from_lines(field.problems().where + ": " + field.path(), lines);
  if (parsed) return *std::move(parsed);
  if (!field.problems().first) field.problems().first = parsed.error();
  return {};
}

std::optional<TokenModel> bpe_from(const JsonField& field, std::vector<Error>& warnings, const Bpe* kept) {
  BpeOptions options{.unknown = optional_text(field, "unk_token"),
                     .continuing_prefix = field.text("continuing_subword_prefix", ""),
                     .end_suffix = field.text("end_of_word_suffix", ""),
                     .fuse_unknown = field.flag("fuse_unk", false),
                     .byte_fallback = field.flag("byte_fallback", false),
                     .ignore_merges = field.flag("ignore_merges", false)};
  if (field.has("dropout") && field.at("dropout").value() != 0)
    warnings.emplace_back(ErrorCode::bad_value, field.problems().where,
                          "model.dropout: not applied, so that a text has one reading");
  if (kept) return TokenModel(Bpe::of_merges(kept->words(), std::move(options), kept->merges()));
  std::vector<WordTable::Word> words = vocabulary_from(field.at("vocab"));
  const Merges merges = merges_from(field.at("merges"));
  if (field.problems().first) return std::nullopt;
  auto bpe = Bpe::make(field.problems().where + ": model", WordTable(std::move(words)), std::move(options), merges);
  if (bpe) return TokenModel(*std::move(bpe));
  field.problems().first = bpe.error();
  return std::nullopt;
}

/// A score as Hugging Face's reader rounds it: the digits as one integer, divided or multiplied by a power of ten, each
/// step rounded (serde_json without float_roundtrip). Where two spellings of a piece have the same sum of scores, the
/// last bit decides between them.
double rounded_like_serde(double score) {
  constexpr int kMostExponent = 308;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, std::abs(score), std::chars_format::scientific).ptr;
  std::uint64_t digits = 0;
  int decimals = 0, exponent = 0;
  const char* at = text;
  for (bool behind = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      behind = true;
      continue;
    }
    digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimals += behind ? 1 : 0;
  }
  if (at != end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, exponent);
  exponent -= decimals;
  auto value = static_cast<double>(digits);
  if (exponent < -kMostExponent) {
    value /= 1e308;
    exponent += kMostExponent;
  }
  // Powers of ten are read, not computed, so that each is the nearest number.
  const double power = power_of_ten(std::abs(exponent));
  value = exponent < 0 ? value / power : value * power;
  return score < 0 ? -value : value;
}

void check_longest(const JsonField& field, const auto& words) {
  const auto is_longer = [](const auto& word) { return word.text.size() > kLongestWord; };
  if (std::any_of(words.begin(), words.end(), is_longer))
    field.at("vocab").problem("words of at most " + std::to_string(kLongestWord) + " bytes");
}

std::optional<TokenModel> unigram_from(const JsonField& field) {
  std::vector<Unigram::Entry> entries;
  for (const JsonField& item : field.at("vocab").items()) {
    const auto& value = item.value();
    if (!value.is_array() || value.size() != 2 || !value[0].is_string() || !value[1].is_number()) {
      item.problem("a word and its score");
      return std::nullopt;
    }
    entries.push_back({value[0].get<std::string>(), rounded_like_serde(value[1].get<double>())});
  }
  if (entries.size() > static_cast<std::size_t>(kMostTokenIds))
    field.at("vocab").problem("at most " + std::to_string(kMostTokenIds) + " words");
  std::optional<std::int32_t> unknown;
  if (field.has("unk_id"))
    unknown = static_cast<std::int32_t>(field.integer("unk_id", 0, static_cast<std::int64_t>(entries.size()) - 1));
  const bool byte_fallback = field.flag("byte_fallback", false);
  if (field.problems().first) return std::nullopt;
  check_longest(field, entries);
  if (field.problems().first) return std::nullopt;
  return TokenModel(Unigram(std::move(entries), unknown, byte_fallback));
}

std::optional<TokenModel> wordpiece_from(const JsonField& field) {
  WordPiece model{.words = {},
                  .unknown = field.text("unk_token", "[UNK]"),
                  .prefix = field.text("continuing_subword_prefix", "##"),
                  .longest_piece = 100,
                  .character_fallback = field.flag("character_fallback", false)};
  if (field.has("max_input_chars_per_word"))
    model.longest_piece = static_cast<std::size_t>(field.integer("max_input_chars_per_word", 0, INT64_MAX));
  std::vector<WordTable::Word> words = vocabulary_from(field.at("vocab"));
  if (field.problems().first) return std::nullopt;
  check_longest(field, words);
  if (field.problems().first) return std::nullopt;
  for (const WordTable::Word& word : words)
    if (word.text.size() > model.prefix.size() && word.text.starts_with(model.prefix) && !model.prefix.empty())
      model.word_rows = model.word_rows == 0 ? word.id : std::min(model.word_rows, word.id);
  model.words = WordTable(std::move(words));
  return TokenModel(std::move(model));
}

std::optional<TokenModel> word_level_from(const JsonField& field) {
  WordLevel model{.words = {}, .unknown = field.text("unk_token", "<unk>")};
  std::vector<WordTable::Word> words = vocabulary_from(field.at("vocab"));
  if (field.problems().first) return std::nullopt;
  model.words = WordTable(std::move(words));
  return TokenModel(std::move(model));
}

std::optional<TokenModel> model_from(const JsonField& field, std::vector<Error>& warnings, const Bpe* kept) {
  // Old files do not name the type.
  const std::string guess = field.has("merges")                     ? "BPE"
                            : field.at("vocab").value().is_array()  ? "Unigram"
                            : field.has("max_input_chars_per_word") ? "WordPiece"
                                                                    : "WordLevel";
  const std::string type = field.text("type", guess);
  if (type == "BPE") return bpe_from(field, warnings, kept);
  if (type == "Unigram") return unigram_from(field);
  if (type == "WordPiece") return wordpiece_from(field);
  if (type == "WordLevel") return word_level_from(field);
  field.at("type").problem("one of BPE, Unigram, WordLevel, WordPiece");
  return std::nullopt;
}

std::vector<AddedToken> added_from(const JsonField& field) {
  std::vector<AddedToken> tokens;
  if (field.is_null()) return tokens;
  for (const JsonField& item : field.items()) {
    const auto id = static_cast<std::int32_t>(item.integer("id", 0, kMostTokenIds - 1));
    tokens.push_back(added_token_from(item, id));
  }
  return tokens;
}

/// Gives the rule `Words` the words of the vocabulary, unless it has costs.
void set_lexicon(Tokenizer& tokenizer, const JsonField& rules) {
  for (PreTokenizer& rule : tokenizer.pre_tokenizers) {
    auto* words = std::get_if<SplitLexiconWords>(&rule);
    if (!words || words->lexicon) continue;
    if (!std::holds_alternative<WordLevel>(tokenizer.model))
      return rules.problem("Words without costs only before a model of the type WordLevel");
    std::vector<std::string> list;
    const WordTable& table = words_of(tokenizer);
    for (std::size_t id = 0; id < table.ids(); ++id) list.emplace_back(table.text(static_cast<std::int32_t>(id)));
    words->lexicon = std::make_shared<const Lexicon>(lexicon_of(list));
  }
}

}  // namespace

std::vector<WordTable::Word> vocabulary_from(const JsonField& field) {
  std::vector<WordTable::Word> words;
  if (!field.value().is_object()) {
    field.problem("an object of words and their ids");
    return words;
  }
  std::vector<bool> taken;
  words.reserve(field.value().size());
  for (const auto& [word, value] : field.value().items()) {
    const JsonField item{value, field.path() + ".\"" + printable(word) + "\"", field.problems()};
    const auto id = static_cast<std::int32_t>(item.integer(0, kMostTokenIds - 1));
    if (item.problems().first) return {};
    const auto at = static_cast<std::size_t>(id);
    if (at >= taken.size()) taken.resize(std::max(at + 1, taken.size() * 2));
    if (taken[at]) {
      item.problem("an id that no other word has");
      return {};
    }
    taken[at] = true;
    words.push_back({word, id});
  }
  return words;
}

Result<std::vector<std::pair<std::string_view, std::string_view>>> merges_from_lines(
    std::string_view where, const std::vector<std::string_view>& lines) {
  Merges merges;
  merges.reserve(lines.size());
  for (const std::string_view line : lines) {
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      return bad_input(where, "merge " + std::to_string(merges.size()), "two words with a space between them",
                       quoted_word(line));
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

AddedToken added_token_from(const JsonField& field, std::int32_t id) {
  return {.content = field.text("content"),
          .id = id,
          .single_word = field.flag("single_word", false),
          .strip_left = field.flag("lstrip", false),
          .strip_right = field.flag("rstrip", false),
          .normalized = field.flag("normalized", true),
          .special = field.flag("special", false)};
}

Status set_added_tokens(Tokenizer& tokenizer, std::vector<AddedToken> tokens) {
  tokenizer.added = TRY(AddedTokens::make(std::move(tokens), tokenizer.normalizers));
  return Done{};
}

Result<TokenizerJson> parse_tokenizer_json(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  return tokenizer_from_json(where, *document);
}

Result<TokenizerJson> tokenizer_from_json(std::string_view where, const nlohmann::json& document, const Bpe* kept) {
  JsonProblems problems{.where = std::string(where)};
  const JsonField root(document, "", problems);
  if (!document.is_object()) return bad_input(where, "", "an object", "something else");
  TokenizerJson result;
  if (root.text("version", "1.0") != "1.0") root.at("version").problem("\"1.0\"");
  for (const char* name : {"truncation", "padding"})
    if (root.has(name))
      result.warnings.emplace_back(ErrorCode::bad_value, where,
                                   std::string(name) + ": not applied, so that every token is shown");
  Tokenizer& tokenizer = result.tokenizer;
  tokenizer.normalizers = normalizers_from(root.at("normalizer"));
  tokenizer.pre_tokenizers = pre_tokenizers_from(root.at("pre_tokenizer"));
  tokenizer.templates = templates_from(root.at("post_processor"));
  const std::vector<AddedToken> listed = added_from(root.at("added_tokens"));
  if (!problems.first) {
    auto model = model_from(root.at("model"), result.warnings, kept);
    if (model) tokenizer.model = *std::move(model);
  }
  if (!problems.first) set_lexicon(tokenizer, root.at("pre_tokenizer"));
  if (problems.first) return *problems.first;

  // Ids of added tokens, as the library itself gives them.
  const WordTable& words = words_of(tokenizer);
  auto next = static_cast<std::int32_t>(words.size());
  std::map<std::string, AddedToken> by_content;
  for (AddedToken token : listed) {
    if (token.content.empty()) continue;
    const std::int32_t listed_id = token.id;
    const auto before = by_content.find(token.content);
    if (const auto id = words.id(token.content)) token.id = *id;
    else token.id = before != by_content.end() ? before->second.id : next++;
    if (token.id >= kMostTokenIds)
      return bad_input(where, "added_tokens", "ids below " + std::to_string(kMostTokenIds), std::to_string(token.id));
    if (token.id != listed_id)
      result.warnings.emplace_back(ErrorCode::bad_value, where,
                                   "added_tokens: " + quoted_word(token.content) + " has the id " +
                                       std::to_string(token.id) + ", not " + std::to_string(listed_id));
    by_content.insert_or_assign(token.content, token);
  }
  std::vector<AddedToken> added;
  for (auto& [content, token] : by_content) added.push_back(std::move(token));
  TRY(set_added_tokens(tokenizer, std::move(added)));
  tokenizer.spelling = spelling_of(tokenizer);
  return result;
}

}  // namespace headlight
