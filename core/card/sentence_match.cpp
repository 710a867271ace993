#include "card/grammar.h"

#include <algorithm>

namespace headlight {
namespace {

constexpr std::int32_t kUnknown = -1;
/// Optional groups can be left out in many ways; a sentence that needs more tries than this fits no pattern.
constexpr int kMostTries = 20000;

std::vector<std::int32_t> numbers_of(const Grammar& grammar, const std::vector<std::string_view>& words) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view word : words) {
    const auto found = std::find(grammar.words.begin(), grammar.words.end(), word);
    numbers.push_back(found == grammar.words.end() ? kUnknown
                                                   : static_cast<std::int32_t>(found - grammar.words.begin()));
  }
  return numbers;
}

bool is_full_stop(std::string_view word) { return word == "." || word == "。"; }
bool is_too(std::string_view word) { return word == "too" || word == "太"; }

/// The words of a sentence laid over the items of one pattern.
class Laying {
 public:
  Laying(const Grammar& grammar, const SentencePattern& pattern, const std::vector<std::int32_t>& words)
      : grammar_(grammar), items_(pattern.items), words_(words), position_of_(items_.size(), -1) {}

  bool fits() { return fits(0, 0); }

  /// Whether the words that the pattern draws from one class are in one: *animal* and *tired*, *street* and *wide*.
  bool fits_classes(const SentenceKind& kind) const {
    for (std::size_t choice = 0; choice < kind.choices.size(); ++choice) {
      const auto& classes = grammar_.links[at(kind.choices[choice])].classes;
      if (std::none_of(classes.begin(), classes.end(), [&](const auto& fields) { return has_all(fields, choice); }))
        return false;
    }
    return true;
  }

  /// Of each word its item.
  std::vector<int> items() const {
    std::vector<int> items(words_.size(), -1);
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (position_of_[i] >= 0) items[at(position_of_[i])] = static_cast<int>(i);
    return items;
  }

  /// Whether the first of these names is a pronoun that stands for the second.
  bool stands_for(int pronoun, int noun) const {
    return std::any_of(items_.begin(), items_.end(),
                       [&](const PatternItem& item) { return item.name == pronoun && item.stands_for == noun; });
  }

  /// The position of the word of this name in the pattern; −1: it was left out.
  int position_of_name(int name) const {
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (items_[i].name == name && position_of_[i] >= 0) return position_of_[i];
    return -1;
  }

 private:
  bool fits(std::size_t item, std::size_t word) {
    if (++tries_ > kMostTries) return false;
    if (item == items_.size()) return word == words_.size();
    const PatternItem& wanted = items_[item];
    if (word < words_.size() && may_be(wanted, words_[word])) {
      position_of_[item] = static_cast<int>(word);
      if (fits(item + 1, word + 1)) return true;
      position_of_[item] = -1;
    }
    const bool begins_group = wanted.group >= 0 && (item == 0 || items_[item - 1].group != wanted.group);
    if (begins_group) {
      std::size_t behind = item;
      while (behind < items_.size() && items_[behind].group == wanted.group) ++behind;
      if (fits(behind, word)) return true;
    }
    // The repetition of an omitted word is omitted too; a full stop need not be typed.
    if (wanted.kind == PatternItem::Kind::repeat && position_of_name(wanted.repeats) < 0) return fits(item + 1, word);
    if (wanted.kind != PatternItem::Kind::written) return false;
    if (is_too(grammar_.words[at(wanted.word)])) return fits(item + 1, word);
    return item + 1 == items_.size() && word == words_.size() && is_full_stop(grammar_.words[at(wanted.word)]);
  }

  /// Whether a class, its words by field, has those of the choice.
  bool has_all(const std::vector<std::vector<std::int32_t>>& fields, std::size_t choice) const {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind != PatternItem::Kind::field || at(items_[i].choice) != choice || position_of_[i] < 0) continue;
      const std::vector<std::int32_t>& known = fields[at(items_[i].field)];
      if (std::find(known.begin(), known.end(), words_[at(position_of_[i])]) == known.end()) return false;
    }
    return true;
  }

  bool may_be(const PatternItem& item, std::int32_t word) const {
    switch (item.kind) {
      case PatternItem::Kind::written: return word == item.word;
      case PatternItem::Kind::repeat: {
        const int position = position_of_name(item.repeats);
        return position >= 0 && words_[at(position)] == word;
      }
      case PatternItem::Kind::list:
      case PatternItem::Kind::field: break;
    }
    const std::vector<std::int32_t>& family = grammar_.families[at(item.family)];
    return std::find(family.begin(), family.end(), word) != family.end();
  }

  const Grammar& grammar_;
  const std::vector<PatternItem>& items_;
  const std::vector<std::int32_t>& words_;
  std::vector<int> position_of_;  // of every item; −1: left out
  int tries_ = 0;
};

}  // namespace

std::optional<Sentence> match_sentence(const Grammar& grammar, const std::vector<std::string_view>& words) {
  if (words.empty() || words.size() > kLongestMatched) return std::nullopt;
  const std::vector<std::int32_t> numbers = numbers_of(grammar, words);
  const auto known = std::count_if(numbers.begin(), numbers.end(), [](std::int32_t word) { return word != kUnknown; });
  if (known < static_cast<std::ptrdiff_t>(numbers.size())) return std::nullopt;
  std::optional<Sentence> first;
  for (std::size_t kind = 0; kind < grammar.kinds.size(); ++kind)
    for (std::size_t i = 0; i < grammar.kinds[kind].patterns.size(); ++i) {
      const SentencePattern& pattern = grammar.kinds[kind].patterns[i];
      Laying laying(grammar, pattern, numbers);
      if (!laying.fits()) continue;
      const bool fits_classes = laying.fits_classes(grammar.kinds[kind]);
      if (first && !fits_classes) continue;
      Sentence match{
          .words = numbers, .items = laying.items(), .kind = static_cast<int>(kind), .pattern = static_cast<int>(i)};
      for (const PatternRelation& relation : pattern.relations) {
        const int query = laying.position_of_name(relation.query), key = laying.position_of_name(relation.key);
        if (query >= 0 && key >= 0 && (fits_classes || !laying.stands_for(relation.query, relation.key)))
          match.gold.push_back({relation.relation, query, key});
      }
      if (fits_classes) return match;
      first = std::move(match);
    }
  return first;
}

bool stands_for_a_noun(const Grammar& grammar, std::string_view word) {
  const auto is_it = [&](std::int32_t number) { return grammar.words[at(number)] == word; };
  for (const SentenceKind& kind : grammar.kinds)
    for (const SentencePattern& pattern : kind.patterns)
      for (const PatternItem& item : pattern.items) {
        if (item.stands_for < 0) continue;
        if (item.family < 0 ? is_it(item.word)
                            : std::any_of(grammar.families[at(item.family)].begin(),
                                          grammar.families[at(item.family)].end(), is_it))
          return true;
      }
  return false;
}

}  // namespace headlight
