// The English of assets/grammar.json → Dictionary, TargetPattern and Translation.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/formatted.h"
#include "card/grammar.h"
#include "card/grammar_file.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

/// The form that a word has where a pattern names no other, and articles, which every word has.
constexpr std::string_view kPlain = "plain", kArticles[] = {"the", "The"};

bool is_article(const std::string& form) {
  return std::find(std::begin(kArticles), std::end(kArticles), form) != std::end(kArticles);
}

/// Names take no article.
bool is_name(std::string_view word) { return !word.empty() && word.front() >= 'A' && word.front() <= 'Z'; }

/// `ask.past` or `this#2`, or both: the name of an item, which of several, and the form.
struct Reference {
  std::string called, form = std::string(kPlain);
  int which = 1;
};

std::optional<Reference> reference_of(std::string text) {
  Reference reference;
  if (const std::size_t dot = text.rfind('.'); dot != std::string::npos && text.find('\'', dot) == std::string::npos) {
    reference.form = text.substr(dot + 1);
    text.erase(dot);
  }
  if (const std::size_t hash = text.rfind('#'); hash != std::string::npos) {
    reference.which = parse_number<int>(std::string_view(text).substr(hash + 1)).value_or(0);
    if (reference.which < 1) return std::nullopt;
    text.erase(hash);
  }
  reference.called = text;
  if (text.empty() || reference.form.empty()) return std::nullopt;
  return reference;
}

class TranslationsReader {
 public:
  explicit TranslationsReader(Grammar& grammar) : grammar_(grammar), dictionary_(grammar.dictionary) {
    for (std::size_t word = 0; word < grammar.words.size(); ++word)
      numbers_.emplace(grammar.words[word], static_cast<std::int32_t>(word));
  }

  void read(const JsonField& root) {
    if (root.has("english"))
      for (const auto& [word, field] : root.at("english").fields()) read_entry(word, field);
    const std::vector<JsonField> kinds = root.at("kinds").items();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::vector<JsonField> variants = kinds[k].at("variants").items();
      for (std::size_t v = 0; v < variants.size(); ++v)
        if (variants[v].has("english"))
          read_pattern(variants[v].at("english"), grammar_.kinds[k], grammar_.kinds[k].patterns[v]);
    }
    const std::vector<JsonField> literals = root.at("literals").items();
    for (std::size_t i = 0; i < literals.size(); ++i)
      if (literals[i].has("english")) read_literal(literals[i].at("english"), grammar_.literals[i]);
    const auto a = numbers_.find("a");
    if (a == numbers_.end()) return;
    dictionary_.a = a->second;
    dictionary_.an = word_of("an");
  }

 private:
  std::int32_t word_of(const std::string& text) {
    const auto next = static_cast<std::int32_t>(grammar_.words.size() + dictionary_.words.size());
    const auto [found, is_new] = numbers_.emplace(text, next);
    if (is_new) dictionary_.words.push_back(text);
    return found->second;
  }

  int form_of(const std::string& name) {
    auto& forms = dictionary_.forms;
    const auto found = std::find(forms.begin(), forms.end(), name);
    const auto index = static_cast<int>(found - forms.begin());
    if (found == forms.end()) forms.push_back(name);
    return index;
  }

  /// `in (the) morning`.
  std::optional<Rendering> rendering_of(const std::string& text) {
    Rendering rendering;
    for (std::string part : parts_of(text)) {
      const bool made = part.front() != '(';
      if (!made) part = part.size() > 2 && part.back() == ')' ? part.substr(1, part.size() - 2) : std::string();
      if (part.empty() || part.find_first_of("(){}[]") != std::string::npos) return std::nullopt;
      rendering.words.push_back({word_of(part), made});
    }
    return rendering;
  }

  void read_entry(const std::string& word, const JsonField& field) {
    // A word that no sentence has is a spelling mistake.
    const auto known = std::find(grammar_.words.begin(), grammar_.words.end(), word);
    if (known == grammar_.words.end()) return field.problem("English for words of the grammar, not " + in_quotes(word));
    const auto number = static_cast<std::int32_t>(known - grammar_.words.begin());
    const auto add = [&](const std::string& form, const JsonField& text) {
      auto rendering = rendering_of(text.text());
      if (!rendering || rendering->words.empty()) return text.problem("English words, articles as (the)");
      dictionary_.renderings[{number, form_of(form)}] = *std::move(rendering);
    };
    if (!field.value().is_object()) return add(std::string(kPlain), field);
    for (const auto& [form, text] : field.fields()) add(form, text);
    if (!dictionary_.renderings.contains({number, form_of(std::string(kPlain))}))
      field.problem("a form called " + std::string(kPlain));
  }

  void read_pattern(const JsonField& field, const SentenceKind& kind, SentencePattern& pattern) {
    bool in_group = false;
    std::vector<bool> refers;  // groups
    for (std::string part : parts_of(field.text())) {
      if (part.front() == '[') {
        if (in_group) return field.problem("no group in another");
        in_group = true;
        refers.push_back(false);
        part.erase(0, 1);
      }
      const bool closes = !part.empty() && part.back() == ']';
      if (closes) part.pop_back();
      if (part.empty() || (closes && !in_group)) return field.problem("groups as [for {name}]");
      TargetItem item;
      if (part.front() == '{') {
        if (!read_reference(field, part, kind, pattern, item)) return;
        if (in_group) refers.back() = true;
      } else if (part.find_first_of("{}[]()") != std::string::npos) {
        return field.problem("words, {name}, {name.form} or [for {name}], not " + in_quotes(part));
      } else {
        item.word = word_of(part);
      }
      if (in_group) item.group = static_cast<int>(refers.size()) - 1;
      pattern.target.items.push_back(item);
      if (closes) in_group = false;
    }
    if (in_group) return field.problem("a ] behind each [");
    if (std::find(refers.begin(), refers.end(), false) != refers.end())
      return field.problem("a {name} in every group: it is there where that word is");
    pattern.target.groups = static_cast<int>(refers.size());
    const auto& own = pattern.items;
    const bool always = std::any_of(pattern.target.items.begin(), pattern.target.items.end(), [&](const auto& item) {
      return item.group < 0 &&
             (item.item < 0 || (own[at(item.item)].group < 0 && own[at(item.item)].kind != PatternItem::Kind::repeat));
    });
    if (!always) return field.problem("a word that is always there");
    if (pattern.target.items.size() > kLongestSentence)
      return field.problem("at most " + std::to_string(kLongestSentence) + " words");
  }

  bool read_reference(const JsonField& field, const std::string& part, const SentenceKind& kind,
                      const SentencePattern& pattern, TargetItem& item) {
    const auto reference = reference_of(part.back() == '}' ? part.substr(1, part.size() - 2) : std::string());
    if (!reference) {
      field.problem("words, {name}, {name.form} or [for {name}], not " + in_quotes(part));
      return false;
    }
    int which = reference->which;
    for (std::size_t i = 0; i < pattern.items.size() && item.item < 0; ++i)
      if (pattern.items[i].called == reference->called && --which == 0) item.item = static_cast<int>(i);
    if (item.item < 0) {
      field.problem("names of words in this variant, not " + in_quotes(part));
      return false;
    }
    item.form = form_of(reference->form);
    std::vector<std::int32_t> said;
    for (const std::int32_t word : words_of(pattern.items[at(item.item)], kind, pattern)) {
      const Rendering* rendering = rendering_for(word, reference->form);
      if (!rendering) {
        field.problem("a dictionary with " + in_quotes(grammar_.words[at(word)]) + " (" + reference->form + ")");
        return false;
      }
      for (const Rendering::Word& one : rendering->words) said.push_back(one.word);
    }
    item.family = family_of(std::move(said));
    return true;
  }

  /// All words that may stand there.
  std::vector<std::int32_t> words_of(const PatternItem& item, const SentenceKind& kind,
                                     const SentencePattern& pattern) const {
    std::vector<std::int32_t> words;
    switch (item.kind) {
      case PatternItem::Kind::written: return {item.word};
      case PatternItem::Kind::list: return grammar_.families[at(item.family)];
      case PatternItem::Kind::field:
        for (const auto& fields : grammar_.links[at(kind.choices[at(item.choice)])].classes)
          words.insert(words.end(), fields[at(item.field)].begin(), fields[at(item.field)].end());
        return words;
      case PatternItem::Kind::repeat: break;
    }
    // Of a name that occurs before: what repeats stands for comes to an end.
    for (const PatternItem& other : pattern.items) {
      if (&other == &item) break;
      if (other.name != item.repeats) continue;
      const auto more = words_of(other, kind, pattern);
      words.insert(words.end(), more.begin(), more.end());
    }
    return words;
  }

  /// The form, else the plain one; of articles the one that no entry overrides.
  const Rendering* rendering_for(std::int32_t word, const std::string& form) {
    auto& renderings = dictionary_.renderings;
    const auto plain = renderings.find({word, form_of(std::string(kPlain))});
    if (plain == renderings.end()) return nullptr;
    const auto found = renderings.find({word, form_of(form)});
    if (found != renderings.end()) return &found->second;
    Rendering rendering = plain->second;
    if (is_article(form)) {
      const bool named = is_name(target_word(grammar_, rendering.words.front().word));
      rendering.words.clear();
      if (!named) rendering.words.push_back({word_of(form), false});
    }
    return &(renderings[{word, form_of(form)}] = std::move(rendering));
  }

  int family_of(std::vector<std::int32_t> words) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    auto& families = dictionary_.families;
    const auto found = std::find(families.begin(), families.end(), words);
    const auto index = static_cast<int>(found - families.begin());
    if (found == families.end()) families.push_back(std::move(words));
    return index;
  }

  /// `Li:2 Lei:2 to book:5`.
  void read_literal(const JsonField& field, Literal& literal) {
    const int count = static_cast<int>(literal.words.size());
    for (std::string part : parts_of(field.text())) {
      int position = -1;
      if (const std::size_t colon = part.rfind(':'); colon != std::string::npos && colon > 0) {
        position = parse_number<int>(std::string_view(part).substr(colon + 1)).value_or(-1);
        if (position < 0 || position >= count)
          return field.problem("English words, each with the place of the word that it is made of, as book:5");
        part.erase(colon);
      }
      literal.english.words.push_back(word_of(part));
      literal.english.made_of.push_back(position);
      literal.english.families.push_back(-1);
    }
    if (literal.english.words.empty()) field.problem("English words");
  }

  Grammar& grammar_;
  Dictionary& dictionary_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace

void read_translations(const JsonField& root, Grammar& grammar) { TranslationsReader(grammar).read(root); }

}  // namespace headlight
