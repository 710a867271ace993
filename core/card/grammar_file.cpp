// assets/grammar.json → Grammar.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/formatted.h"
#include "base/utf8.h"
#include "card/grammar.h"
#include "card/grammar_file.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

class GrammarReader {
 public:
  Grammar grammar;

  void read(const JsonField& root) {
    for (const auto& [name, field] : root.at("relations").fields()) {
      relations_[name] = static_cast<int>(grammar.relations.size());
      grammar.relations.push_back({name, field.text("en"), field.text("zh"), field.flag("held_out", false)});
    }
    for (const auto& [name, field] : root.at("lists").fields()) {
      lists_[name] = add_family(name);
      for (const std::int32_t word : words_in(field)) add_to_family(lists_[name], word);
    }
    for (const auto& [name, field] : root.at("links").fields()) read_link(name, field);
    for (const JsonField& field : root.at("kinds").items()) read_kind(field);
    for (const JsonField& field : root.at("literals").items()) read_literal(field);
    if (grammar.kinds.empty()) root.at("kinds").problem("at least one kind of sentence");
  }

 private:
  std::int32_t word_of(const std::string& text) {
    const auto [at, is_new] = words_.emplace(text, static_cast<std::int32_t>(grammar.words.size()));
    if (is_new) grammar.words.push_back(text);
    return at->second;
  }

  std::vector<std::int32_t> words_in(const JsonField& field) {
    std::vector<std::int32_t> words;
    for (const std::string& part : parts_of(field.text())) words.push_back(word_of(part));
    if (words.empty()) field.problem("words with spaces between them");
    return words;
  }

  int add_family(const std::string& name) {
    grammar.families.emplace_back();
    grammar.family_names.push_back(name);
    return static_cast<int>(grammar.families.size()) - 1;
  }

  void add_to_family(int family, std::int32_t word) {
    std::vector<std::int32_t>& words = grammar.families[static_cast<std::size_t>(family)];
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }

  void read_link(const std::string& name, const JsonField& field) {
    Link link{.name = name};
    for (const JsonField& one : field.items()) {
      std::vector<std::vector<std::int32_t>> words;
      std::vector<std::string> names;
      for (const auto& [field_name, list] : one.fields()) {
        names.push_back(field_name);
        words.push_back(words_in(list));
      }
      if (link.classes.empty()) {
        link.fields = names;
        for (const std::string& each : names) link.families.push_back(add_family(name + "." + each));
      }
      if (names != link.fields) return one.problem("the fields that the first class has");
      for (std::size_t f = 0; f < names.size(); ++f) {
        for (const std::int32_t word : words[f]) add_to_family(link.families[f], word);
      }
      link.classes.push_back(std::move(words));
    }
    if (link.classes.empty() || link.fields.empty()) return field.problem("at least one class with fields");
    links_[name] = static_cast<int>(grammar.links.size());
    grammar.links.push_back(std::move(link));
  }

  void read_kind(const JsonField& field) {
    SentenceKind kind{.name = field.text("name"), .language = field.text("language")};
    kind.weight = static_cast<float>(field.integer("weight", 1, 1000));
    std::map<std::string, int> choices;
    if (field.has("choose")) {
      for (const auto& [variable, link] : field.at("choose").fields()) {
        const auto found = links_.find(link.text());
        if (found == links_.end()) return link.problem("a name under links");
        choices[variable] = static_cast<int>(kind.choices.size());
        kind.choices.push_back(found->second);
      }
    }
    kind.distinct.assign(kind.choices.size(), false);
    std::map<int, int> classes_needed;  // of a link
    for (const std::string& variable : parts_of(field.text("distinct", ""))) {
      const auto found = choices.find(variable);
      if (found == choices.end()) return field.at("distinct").problem("names under choose");
      const int link = kind.choices[static_cast<std::size_t>(found->second)];
      kind.distinct[static_cast<std::size_t>(found->second)] = true;
      if (++classes_needed[link] > static_cast<int>(grammar.links[static_cast<std::size_t>(link)].classes.size())) {
        return field.at("distinct").problem("no more names than the link has classes");
      }
    }
    std::map<std::string, int> names;
    for (const JsonField& variant : field.at("variants").items()) read_pattern(variant, field, choices, names, kind);
    if (kind.patterns.empty()) return field.at("variants").problem("at least one");
    kind.names.resize(names.size());
    for (const auto& [name, index] : names) kind.names[static_cast<std::size_t>(index)] = name;
    if (field.has("pairs")) {
      const auto last = static_cast<std::int64_t>(kind.patterns.size()) - 1;
      const std::vector<JsonField> pair = field.at("pairs").items();
      if (pair.size() != 2) return field.at("pairs").problem("two variants");
      kind.pair = {static_cast<int>(pair[0].integer(0, last)), static_cast<int>(pair[1].integer(0, last))};
    }
    if (field.has("held_out")) {
      const std::vector<std::string> both = parts_of(field.text("held_out"));
      if (both.size() != 2 || !names.contains(both[0]) || !names.contains(both[1])) {
        return field.at("held_out").problem("two names of words in the variants");
      }
      kind.held_out = {names[both[0]], names[both[1]]};
    }
    grammar.kinds.push_back(std::move(kind));
  }

  void read_pattern(const JsonField& variant, const JsonField& kind_field, const std::map<std::string, int>& choices,
                    std::map<std::string, int>& names, SentenceKind& kind) {
    SentencePattern pattern;
    if (variant.has("share")) {
      const nlohmann::json& share = variant.at("share").value();
      if (!share.is_number() || !(share.get<float>() > 0) || !(share.get<float>() <= 1000))
        return variant.at("share").problem("a number above 0 and at most 1000");
      pattern.share = share.get<float>();
    }
    const JsonField words = variant.at("words");
    std::map<std::string, int> said;  // how often each source was drawn from
    bool in_group = false;
    for (std::string part : parts_of(words.text())) {
      if (part.front() == '[') {
        const float share = parse_number<float>(std::string_view(part).substr(1)).value_or(0.0f);
        if (in_group || !(share > 0 && share < 1)) return words.problem("groups as [.25 …], none in another");
        pattern.groups.push_back(share);
        in_group = true;
        continue;
      }
      const bool closes = part.back() == ']';
      if (closes) part.pop_back();
      std::optional<PatternItem> item = item_of(part, choices, names, said, kind);
      if (!item) {
        return words.problem("words, {list}, {name:class.field}, {name:=name} or {name:'word'~name}, not " +
                             in_quotes(part));
      }
      if (in_group) item->group = static_cast<int>(pattern.groups.size()) - 1;
      pattern.items.push_back(*item);
      if (closes && !in_group) return words.problem("a [ before each ]");
      if (closes) in_group = false;
    }
    if (in_group) return words.problem("a ] behind each [");
    // A repeated item may have been left out.
    const bool always = std::any_of(pattern.items.begin(), pattern.items.end(), [](const PatternItem& item) {
      return item.group < 0 && item.kind != PatternItem::Kind::repeat;
    });
    if (!always) return words.problem("a word that is always there");
    if (pattern.items.size() > kLongestSentence)
      return words.problem("at most " + std::to_string(kLongestSentence) + " words");
    for (const JsonField* field : {&kind_field, &variant}) {
      if (field->has("relations")) read_relations(field->at("relations"), names, pattern);
    }
    kind.patterns.push_back(std::move(pattern));
  }

  std::optional<PatternItem> item_of(const std::string& part, const std::map<std::string, int>& choices,
                                     std::map<std::string, int>& names, std::map<std::string, int>& said,
                                     const SentenceKind& kind) {
    PatternItem item;
    if (part.empty()) return std::nullopt;
    if (part.front() != '{') {
      if (part.find_first_of("{}[]") != std::string::npos) return std::nullopt;
      item.word = word_of(part);
      item.called = "'" + part + "'";
      return item;
    }
    if (part.back() != '}') return std::nullopt;
    std::string source = part.substr(1, part.size() - 2);
    if (const std::size_t colon = source.find(':'); colon != std::string::npos) {
      item.name = names.emplace(source.substr(0, colon), static_cast<int>(names.size())).first->second;
      source.erase(0, colon + 1);
    }
    const std::string called = item.name >= 0 ? part.substr(1, part.find(':') - 1) : source;
    item.called = called;
    item.seed = hash_text(called + "#" + std::to_string(said[called]++));
    if (const std::size_t tilde = source.find('~'); tilde != std::string::npos) {
      const auto found = names.emplace(source.substr(tilde + 1), static_cast<int>(names.size())).first;
      item.stands_for = found->second;
      source.erase(tilde);
    }
    if (source.size() > 2 && source.front() == '\'' && source.back() == '\'') {
      item.word = word_of(source.substr(1, source.size() - 2));
    } else if (!source.empty() && source.front() == '=') {
      const auto found = names.find(source.substr(1));
      if (found == names.end()) return std::nullopt;
      item.kind = PatternItem::Kind::repeat;
      item.repeats = found->second;
    } else if (const std::size_t dot = source.find('.'); dot != std::string::npos) {
      const auto choice = choices.find(source.substr(0, dot));
      if (choice == choices.end()) return std::nullopt;
      const int chosen = kind.choices[static_cast<std::size_t>(choice->second)];
      const Link& link = grammar.links[static_cast<std::size_t>(chosen)];
      const auto field = std::find(link.fields.begin(), link.fields.end(), source.substr(dot + 1));
      if (field == link.fields.end()) return std::nullopt;
      item.kind = PatternItem::Kind::field;
      item.choice = choice->second;
      item.field = static_cast<int>(field - link.fields.begin());
      item.family = link.families[static_cast<std::size_t>(item.field)];
    } else {
      const auto list = lists_.find(source);
      if (list == lists_.end()) return std::nullopt;
      item.kind = PatternItem::Kind::list;
      item.family = list->second;
    }
    return item;
  }

  /// The name of a word of the pattern; of one without a name the list that it is drawn from, its first word if there
  /// are several. To name an item would change what is drawn for it (PatternItem::seed).
  static std::optional<int> named(const std::string& word, std::map<std::string, int>& names,
                                  SentencePattern& pattern) {
    const auto found = names.find(word);
    const auto is_it = [&](const PatternItem& item) { return found != names.end() && item.name == found->second; };
    if (std::any_of(pattern.items.begin(), pattern.items.end(), is_it)) return found->second;
    const auto drawn = std::find_if(pattern.items.begin(), pattern.items.end(), [&](const PatternItem& item) {
      return item.name < 0 && item.kind == PatternItem::Kind::list && item.called == word;
    });
    if (drawn == pattern.items.end()) return std::nullopt;
    drawn->name = names.emplace(word, static_cast<int>(names.size())).first->second;
    return drawn->name;
  }

  void read_relations(const JsonField& field, std::map<std::string, int>& names, SentencePattern& pattern) {
    for (const auto& [name, pairs] : field.fields()) {
      const auto relation = relations_.find(name);
      if (relation == relations_.end()) return pairs.problem("a name under relations");
      std::vector<std::string> texts;
      if (pairs.value().is_array()) {
        for (const JsonField& pair : pairs.items()) texts.push_back(pair.text());
      } else {
        texts.push_back(pairs.text());
      }
      for (const std::string& text : texts) {
        const std::vector<std::string> both = parts_of(text);
        if (both.size() != 2) return pairs.problem("two names of words");
        const auto query = named(both[0], names, pattern), key = named(both[1], names, pattern);
        // A relation of the kind may have words that this variant does not have.
        if (!query || !key) continue;
        pattern.relations.push_back({relation->second, *query, *key});
      }
    }
  }

  void read_literal(const JsonField& field) {
    Literal literal;
    for (const std::string& part : parts_of(field.text("words"))) {
      const auto word = words_.find(part);
      if (word == words_.end()) return field.at("words").problem("words of the grammar, not " + in_quotes(part));
      literal.words.push_back(word->second);
    }
    if (literal.words.empty()) return field.at("words").problem("words with spaces between them");
    const auto last = static_cast<std::int64_t>(literal.words.size()) - 1;
    for (const auto& [name, pair] : field.at("relations").fields()) {
      const auto relation = relations_.find(name);
      const std::vector<JsonField> both = pair.items();
      if (relation == relations_.end() || both.size() != 2) return pair.problem("a relation's name and two places");
      literal.gold.push_back(
          {relation->second, static_cast<int>(both[0].integer(0, last)), static_cast<int>(both[1].integer(0, last))});
    }
    grammar.literals.push_back(std::move(literal));
  }

  std::unordered_map<std::string, std::int32_t> words_;
  std::map<std::string, int> lists_, links_, relations_;
};

}  // namespace

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string in_quotes(std::string_view part) { return "\"" + printable(part) + "\""; }

Result<Grammar> parse_grammar(std::string_view where, std::string_view text) {
  const auto json = parse_json(where, text);
  if (!json) return json.error();
  JsonProblems problems{std::string(where)};
  GrammarReader reader;
  const JsonField root(*json, "", problems);
  reader.read(root);
  if (!problems.first) read_translations(root, reader.grammar);
  if (problems.first) return *problems.first;
  TRY(check_draws(where, reader.grammar));
  return std::move(reader.grammar);
}

}  // namespace headlight
