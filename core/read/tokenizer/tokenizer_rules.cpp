#include "read/tokenizer/tokenizer_rules.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "base/base64.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "text/words.h"

namespace headlight {
namespace {

constexpr std::size_t kMostRules = 64;
constexpr std::size_t kLongestContent = 256;  // characters that one match is replaced by
constexpr std::size_t kMostParts = 64;        // of a template

std::u32string characters(const JsonField& field, std::size_t most) {
  const std::vector<char32_t> codes = code_points(field.text());
  if (codes.size() > most) field.problem("at most " + std::to_string(most) + " characters");
  return {codes.begin(), codes.end()};
}

/// {"String": "…"} or {"Regex": "…"}; nothing if there is a problem.
std::optional<Pattern> pattern_from(const JsonField& field) {
  if (field.has("String")) return Pattern(characters(field.at("String"), 1 << 15));
  auto regex = Regex::compile(field.problems().where + ": " + field.path(), field.text("Regex"));
  if (regex) return Pattern(*std::move(regex));
  if (!field.problems().first) field.problems().first = regex.error();
  return std::nullopt;
}

template <class Rule>
void append(std::vector<Rule>& rules, std::vector<Rule> more, const JsonField& field) {
  rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  if (rules.size() > kMostRules) field.problem("at most " + std::to_string(kMostRules) + " rules");
}

// A table is how a type is read, by its name.
template <class Rule>
struct Type {
  std::string_view name;
  std::vector<Rule> (*read)(const JsonField&);
};

template <class Rule, std::size_t N>
std::vector<Rule> rules_from(const JsonField& field, const char* list, const Type<Rule> (&types)[N]) {
  if (field.is_null() || field.problems().first) return {};
  const std::string name = field.text("type");
  std::vector<Rule> rules;
  if (name == "Sequence") {
    for (const JsonField& item : field.at(list).items()) append(rules, rules_from(item, list, types), field);
    return rules;
  }
  for (const Type<Rule>& type : types)
    if (type.name == name) return type.read(field);
  field.at("type").problem("one of " + joined_texts(types, ", ", &Type<Rule>::name) + ", Sequence");
  return {};
}

std::vector<Normalizer> bert_normalizer(const JsonField& field) {
  std::vector<Normalizer> rules;
  const bool lowercase = field.flag("lowercase", true);
  if (field.flag("clean_text", true)) rules.emplace_back(CleanText{});
  if (field.flag("handle_chinese_chars", true)) rules.emplace_back(SpaceChinese{});
  if (field.flag("strip_accents", lowercase)) rules.emplace_back(DropAccents{});
  if (lowercase) rules.emplace_back(Lowercase{});
  return rules;
}

std::vector<Normalizer> charsmap(const JsonField& field) {
  if (!field.has("precompiled_charsmap")) return {};
  const JsonField stored = field.at("precompiled_charsmap");
  const auto bytes = decode_base64(stored.text());
  if (!bytes) {
    stored.problem("Base64");
    return {};
  }
  auto map = Charsmap::parse(field.problems().where, *bytes);
  if (map) return {std::make_shared<const Charsmap>(*std::move(map))};
  if (!field.problems().first) field.problems().first = map.error();
  return {};
}

std::vector<Normalizer> replace(const JsonField& field) {
  auto pattern = pattern_from(field.at("pattern"));
  if (!pattern) return {};
  std::vector<Normalizer> rules;
  rules.emplace_back(Replace{*std::move(pattern), characters(field.at("content"), kLongestContent)});
  return rules;
}

constexpr Type<Normalizer> kNormalizers[] = {
    {"BertNormalizer", bert_normalizer},
    {"ByteLevel", [](const JsonField&) { return std::vector<Normalizer>{SpellBytes{}}; }},
    {"Lowercase", [](const JsonField&) { return std::vector<Normalizer>{Lowercase{}}; }},
    {"NFC", [](const JsonField&) { return std::vector<Normalizer>{UnicodeForm::nfc}; }},
    {"NFD", [](const JsonField&) { return std::vector<Normalizer>{UnicodeForm::nfd}; }},
    {"NFKC", [](const JsonField&) { return std::vector<Normalizer>{UnicodeForm::nfkc}; }},
    {"NFKD", [](const JsonField&) { return std::vector<Normalizer>{UnicodeForm::nfkd}; }},
    {"Nmt", [](const JsonField&) { return std::vector<Normalizer>{Nmt{}}; }},
    {"Precompiled", charsmap},
    {"Prepend",
     [](const JsonField& field) {
       return std::vector<Normalizer>{Prepend{characters(field.at("prepend"), kLongestContent)}};
     }},
    {"Replace", replace},
    {"Strip",
     [](const JsonField& field) {
       return std::vector<Normalizer>{Strip{field.flag("strip_left", true), field.flag("strip_right", true)}};
     }},
    {"StripAccents", [](const JsonField&) { return std::vector<Normalizer>{StripAccents{}}; }},
};

Delimiters delimiters_from(const JsonField& field) {
  struct Name {
    std::string_view name;
    Delimiters delimiters;
  };
  static constexpr Name kNames[] = {{"Removed", Delimiters::removed},
                                    {"Isolated", Delimiters::isolated},
                                    {"MergedWithPrevious", Delimiters::merged_with_previous},
                                    {"MergedWithNext", Delimiters::merged_with_next},
                                    {"Contiguous", Delimiters::contiguous}};
  if (field.is_null()) return Delimiters::isolated;
  const std::string wanted = field.text();
  for (const Name& name : kNames)
    if (name.name == wanted) return name.delimiters;
  field.problem("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  return Delimiters::isolated;
}

std::vector<PreTokenizer> split(const JsonField& field) {
  auto pattern = pattern_from(field.at("pattern"));
  if (!pattern) return {};
  std::vector<PreTokenizer> rules;
  rules.emplace_back(
      SplitAtPattern{*std::move(pattern), delimiters_from(field.at("behavior")), field.flag("invert", false)});
  return rules;
}

std::vector<PreTokenizer> metaspace(const JsonField& field) {
  Metaspace rule;
  if (field.has("replacement")) {
    const std::u32string mark = characters(field.at("replacement"), 1);
    if (mark.size() == 1) rule.replacement = mark.front();
    else field.at("replacement").problem("one character");
  }
  const std::string scheme = field.text("prepend_scheme", "always");
  if (scheme == "first") rule.prepend = Metaspace::Prepend::first;
  else if (scheme == "never") rule.prepend = Metaspace::Prepend::never;
  else if (scheme != "always") field.at("prepend_scheme").problem("always, first or never");
  // Files from before there were schemes.
  if (!field.flag("add_prefix_space", true)) rule.prepend = Metaspace::Prepend::never;
  rule.split = field.flag("split", true);
  return {rule};
}

/// Without costs the words are those of the vocabulary, which is read later.
std::vector<PreTokenizer> words(const JsonField& field) {
  if (!field.has("costs")) return {SplitLexiconWords{}};
  const std::vector<LikelyWords::Word> list = word_costs_from(field.at("costs"));
  Lexicon lexicon;
  lexicon.likely = std::make_shared<const LikelyWords>(list);
  return {SplitLexiconWords{std::make_shared<const Lexicon>(std::move(lexicon))}};
}

SplitAtPattern split_at_character(const JsonField& field) {
  std::u32string delimiter = characters(field.at("delimiter"), 1);
  if (delimiter.empty()) field.at("delimiter").problem("one character");
  return {std::move(delimiter), Delimiters::removed, false};
}

constexpr Type<PreTokenizer> kPreTokenizers[] = {
    {"BertPreTokenizer",
     [](const JsonField&) {
       return std::vector<PreTokenizer>{SplitAtKind{CharacterKind::white_space, Delimiters::removed},
                                        SplitAtKind{CharacterKind::punctuation, Delimiters::isolated}};
     }},
    {"ByteLevel",
     [](const JsonField& field) {
       return byte_level_rules(field.flag("add_prefix_space", true), field.flag("use_regex", true));
     }},
    {"CharDelimiterSplit", [](const JsonField& field) { return std::vector<PreTokenizer>{split_at_character(field)}; }},
    {"Digits",
     [](const JsonField& field) {
       const bool single = field.flag("individual_digits", false);
       return std::vector<PreTokenizer>{
           SplitAtKind{CharacterKind::numeric, single ? Delimiters::isolated : Delimiters::contiguous}};
     }},
    {"FixedLength",
     [](const JsonField& field) {
       const std::int64_t length = field.has("length") ? field.integer("length", 1, 1 << 20) : 5;
       return std::vector<PreTokenizer>{SplitEvenly{static_cast<std::size_t>(length)}};
     }},
    {"Metaspace", metaspace},
    {"Punctuation",
     [](const JsonField& field) {
       return std::vector<PreTokenizer>{SplitAtKind{CharacterKind::punctuation, delimiters_from(field.at("behavior"))}};
     }},
    {"Split", split},
    {"Whitespace", [](const JsonField&) { return std::vector<PreTokenizer>{SplitWords{}}; }},
    {"Words", words},
    {"WhitespaceSplit",
     [](const JsonField&) {
       return std::vector<PreTokenizer>{SplitAtKind{CharacterKind::white_space, Delimiters::removed}};
     }},
};

std::int32_t id_from(const JsonField& field) { return static_cast<std::int32_t>(field.integer(0, kMostTokenIds - 1)); }

/// A special token of a template: its ids and words, one for one.
std::vector<std::pair<std::int32_t, std::string>> specials_from(const JsonField& field) {
  const std::vector<JsonField> ids = field.at("ids").items(), words = field.at("tokens").items();
  if (ids.size() != words.size() || ids.size() > kMostParts)
    field.problem("as many ids as tokens, at most " + std::to_string(kMostParts));
  std::vector<std::pair<std::int32_t, std::string>> specials;
  for (std::size_t i = 0; i < ids.size() && i < words.size(); ++i)
    specials.emplace_back(id_from(ids[i]), words[i].text());
  return specials;
}

/// The parts of a template under a key: special tokens and the texts, A and, of a pair, B.
std::vector<Template::Part> parts_from(const JsonField& field, const char* key, bool pair) {
  const JsonField specials = field.at("special_tokens");
  std::vector<Template::Part> parts;
  for (const JsonField& item : field.at(key).items()) {
    const bool is_text = item.has("Sequence");
    const JsonField piece = item.at(is_text ? "Sequence" : "SpecialToken");
    const std::string id = piece.text("id");
    Template::Part part{.is_text = is_text};
    if (piece.has("type_id")) part.type = static_cast<int>(piece.integer("type_id", 0, 1 << 16));
    if (!is_text) part.specials = specials_from(specials.at(id.c_str()));
    else if (pair && id == "B") part.second = true;
    else if (id != "A") piece.at("id").problem(pair ? "A or B" : "A in the template of a single text");
    parts.push_back(std::move(part));
  }
  if (parts.size() > kMostParts) field.at(key).problem("at most " + std::to_string(kMostParts) + " parts");
  return parts;
}

std::vector<Template> template_processing(const JsonField& field) {
  const auto is_text = [](const Template::Part& part) { return part.is_text; };
  Template result{.parts = parts_from(field, "single", false)};
  if (std::count_if(result.parts.begin(), result.parts.end(), is_text) != 1)
    field.at("single").problem("the text once, among at most " + std::to_string(kMostParts) + " parts");
  if (!field.has("pair")) return {result};
  // One that has the texts in another order, or one of them twice, takes no pairs here.
  std::vector<Template::Part> pair = parts_from(field, "pair", true), texts;
  std::copy_if(pair.begin(), pair.end(), std::back_inserter(texts), is_text);
  if (texts.size() == 2 && !texts[0].second && texts[1].second) result.pair = std::move(pair);
  return {result};
}

/// ["[SEP]", 102]
std::pair<std::int32_t, std::string> special_pair(const JsonField& field) {
  const std::vector<JsonField> items = field.items();
  if (items.size() == 2) return {id_from(items[1]), items[0].text()};
  field.problem("a word and its id");
  return {};
}

Template cls_and_sep(const JsonField& field) {
  return template_around({special_pair(field.at("cls"))}, {special_pair(field.at("sep"))});
}

constexpr Type<Template> kTemplates[] = {
    {"BertProcessing", [](const JsonField& field) { return std::vector{for_pairs(cls_and_sep(field), 1, 1)}; }},
    {"ByteLevel", [](const JsonField&) { return std::vector<Template>{}; }},
    {"RobertaProcessing", [](const JsonField& field) { return std::vector{for_pairs(cls_and_sep(field), 2, 0)}; }},
    {"TemplateProcessing", template_processing},
};

}  // namespace

std::vector<Normalizer> normalizers_from(const JsonField& field) {
  return rules_from(field, "normalizers", kNormalizers);
}

std::vector<PreTokenizer> pre_tokenizers_from(const JsonField& field) {
  return rules_from(field, "pretokenizers", kPreTokenizers);
}

std::vector<LikelyWords::Word> word_costs_from(const JsonField& costs) {
  std::vector<LikelyWords::Word> list;
  for (const JsonField& item : costs.items()) {
    const auto& value = item.value();
    const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_string();
    const double cost = pair ? value[0].get<double>() : -1;
    if (!(cost >= 0 && cost <= LikelyWords::kHighestCost)) {
      item.problem("a cost of 0 to " + std::to_string(static_cast<int>(LikelyWords::kHighestCost)) + " and words");
      return {};
    }
    std::string_view rest = value[1].get_ref<const std::string&>();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::vector<char32_t> codes = code_points(rest.substr(0, end));
      if (codes.empty() || codes.size() > LikelyWords::kLongestWord || list.size() == LikelyWords::kMostWords) {
        item.problem("at most " + std::to_string(LikelyWords::kMostWords) + " words of 1 to " +
                     std::to_string(LikelyWords::kLongestWord) + " characters, one space between them");
        return {};
      }
      list.push_back({std::string(rest.substr(0, end)), cost});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return list;
}

std::vector<Template> templates_from(const JsonField& field) { return rules_from(field, "processors", kTemplates); }

Regex known_regex(std::string_view expression) {
  auto regex = Regex::compile("tokenizer", expression);
  assert(regex);
  return *std::move(regex);
}

std::vector<PreTokenizer> byte_level_rules(bool prefix_space, bool split_words) {
  std::vector<PreTokenizer> rules;
  if (prefix_space) rules.emplace_back(PrefixSpace{});
  if (split_words) rules.emplace_back(SplitAtPattern{known_regex(kGpt2Split), Delimiters::isolated, false});
  rules.emplace_back(PiecesToBytes{});
  return rules;
}

Template template_around(std::vector<std::pair<std::int32_t, std::string>> before,
                         std::vector<std::pair<std::int32_t, std::string>> after) {
  Template result;
  if (!before.empty()) result.parts.push_back({.is_text = false, .specials = std::move(before)});
  result.parts.push_back({.is_text = true});
  if (!after.empty()) result.parts.push_back({.is_text = false, .specials = std::move(after)});
  return result;
}

Template for_pairs(Template around, int separators, int type) {
  const Template::Part end = around.parts.back();
  around.pair = around.parts;
  for (int i = 1; i < separators; ++i) around.pair.push_back(end);
  around.pair.push_back({.is_text = true, .type = type, .specials = {}, .second = true});
  around.pair.push_back(end);
  around.pair.back().type = type;
  return around;
}

}  // namespace headlight
