#include "train/grammar/translations.h"

#include <algorithm>

#include "train/grammar/grammar.h"

namespace headlight {
namespace {

bool begins_with_vowel(std::string_view word) { return std::string_view("aeiou").find(word.front()) != word.npos; }

}  // namespace

Translation translation_of(const Grammar& grammar, const Sentence& sentence) {
  const SentencePattern& pattern = grammar.kinds[at(sentence.kind)].patterns[at(sentence.pattern)];
  const Dictionary& dictionary = grammar.dictionary;
  std::vector<int> place_of(pattern.items.size(), -1);
  for (std::size_t place = 0; place < sentence.items.size(); ++place)
    place_of[at(sentence.items[place])] = static_cast<int>(place);
  std::vector<bool> whole(at(pattern.target.groups), true);
  for (const TargetItem& item : pattern.target.items)
    if (item.group >= 0 && item.item >= 0 && place_of[at(item.item)] < 0) whole[at(item.group)] = false;

  Translation translation;
  const auto say = [&](std::int32_t word, int made_of, int family) {
    if (!translation.words.empty() && translation.words.back() == dictionary.a &&
        begins_with_vowel(target_word(grammar, word)))
      translation.words.back() = dictionary.an;
    translation.words.push_back(word);
    translation.made_of.push_back(made_of);
    translation.families.push_back(family);
  };
  for (const TargetItem& item : pattern.target.items) {
    if (item.group >= 0 && !whole[at(item.group)]) continue;
    if (item.item < 0) {
      say(item.word, -1, -1);
      continue;
    }
    const int place = place_of[at(item.item)];
    if (place < 0) continue;
    const Rendering& rendering = dictionary.renderings.at({sentence.words[at(place)], item.form});
    for (const Rendering::Word& one : rendering.words) say(one.word, one.made ? place : -1, item.family);
  }
  return translation;
}

bool has_translations(const Grammar& grammar) {
  for (const SentenceKind& kind : grammar.kinds)
    for (const SentencePattern& pattern : kind.patterns)
      if (!pattern.target.items.empty()) return true;
  return false;
}

std::string_view target_word(const Grammar& grammar, std::int32_t word) {
  const auto own = static_cast<std::int32_t>(grammar.words.size());
  return word < own ? grammar.words[at(word)] : grammar.dictionary.words[at(word - own)];
}

}  // namespace headlight
