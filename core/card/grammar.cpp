#include "card/grammar.h"

#include <algorithm>

#include "card/grammar_file.h"

namespace headlight {
namespace {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t name) { return Random(seed ^ Random(name).next()).next(); }

/// An index below `size`.
std::size_t drawn(std::uint64_t bits, std::size_t size) { return static_cast<std::size_t>((bits >> 11) % size); }

std::vector<int> chosen_classes(const Grammar& grammar, const SentenceKind& kind, std::uint64_t seed) {
  std::vector<int> classes(kind.choices.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::size_t count = grammar.links[at(kind.choices[c])].classes.size();
    std::size_t one = drawn(mixed(seed, 0xC1A55 + c), count);
    const auto taken = [&](std::size_t candidate) {
      for (std::size_t other = 0; other < c; ++other) {
        if (kind.distinct[other] && kind.distinct[c] && kind.choices[other] == kind.choices[c] &&
            at(classes[other]) == candidate) {
          return true;
        }
      }
      return false;
    };
    while (taken(one)) one = (one + 1) % count;
    classes[c] = static_cast<int>(one);
  }
  return classes;
}

/// A word of `words` that the sentence does not hold yet, so that no word stands twice by accident.
std::int32_t unused(const std::vector<std::int32_t>& words, const std::vector<std::int32_t>& said, std::uint64_t bits) {
  std::size_t one = drawn(bits, words.size());
  for (std::size_t tries = 0; tries < words.size(); ++tries, one = (one + 1) % words.size()) {
    if (std::find(said.begin(), said.end(), words[one]) == said.end()) break;
  }
  return words[one];
}

bool is_literal(const Grammar& grammar, const Sentence& sentence) {
  return std::any_of(grammar.literals.begin(), grammar.literals.end(),
                     [&](const Literal& literal) { return literal.words == sentence.words; });
}

/// One of `count` by their weights; never one of weight 0, whatever rounding leaves of the draw.
template <class Weight>
int weighted(std::size_t count, float draw, Weight weight) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += weight(i);
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (weight(i) <= 0) continue;
    last = i;
    draw -= weight(i) / sum;
    if (draw < 0) break;
  }
  return static_cast<int>(last);
}

bool has_pairs(const Grammar& grammar) {
  const auto& kinds = grammar.kinds;
  return std::any_of(kinds.begin(), kinds.end(), [](const SentenceKind& kind) { return kind.pair.has_value(); });
}

/// Any sentence, of whichever part.
Sentence any_sentence(const Grammar& grammar, Random& random) {
  const auto& kinds = grammar.kinds;
  const int kind = weighted(kinds.size(), random.uniform(), [&](std::size_t k) { return kinds[k].weight; });
  const std::vector<SentencePattern>& patterns = kinds[at(kind)].patterns;
  const int pattern = weighted(patterns.size(), random.uniform(), [&](std::size_t p) { return patterns[p].share; });
  return sentence_of(grammar, kind, pattern, random.next());
}

bool is_of(const Grammar& grammar, const Sentence& sentence, CorpusPart part) {
  return sentence.held_out == (part == CorpusPart::held_out) && !is_literal(grammar, sentence);
}

std::array<Sentence, 2> any_pair(const Grammar& grammar, Random& random) {
  const int kind = weighted(grammar.kinds.size(), random.uniform(),
                            [&](std::size_t k) { return grammar.kinds[k].pair ? grammar.kinds[k].weight : 0.0f; });
  const auto& pair = grammar.kinds[at(kind)].pair;
  assert(pair);
  const std::uint64_t seed = random.next();
  return {sentence_of(grammar, kind, (*pair)[0], seed), sentence_of(grammar, kind, (*pair)[1], seed)};
}

bool is_minimal_pair(const Grammar& grammar, const std::array<Sentence, 2>& both) {
  return std::all_of(both.begin(), both.end(), [&](const Sentence& one) {
    return is_of(grammar, one, CorpusPart::held_out) && !one.gold.empty();
  });
}

/// check_draws() demands kWanted of kTried draws, so kMostDraws in vain are practically impossible.
constexpr int kTried = 4000, kWanted = 20, kMostDraws = 100000;

bool begins_with_vowel(std::string_view word) { return std::string_view("aeiou").find(word.front()) != word.npos; }

}  // namespace

bool is_held_out(std::string_view first, std::string_view second) {
  return Random(hash_text(first) ^ Random(hash_text(second)).next()).next() % 8 == 0;
}

Sentence sentence_of(const Grammar& grammar, int kind_index, int pattern_index, std::uint64_t seed) {
  const SentenceKind& kind = grammar.kinds[at(kind_index)];
  const SentencePattern& pattern = kind.patterns[at(pattern_index)];
  const std::vector<int> classes = chosen_classes(grammar, kind, seed);
  Sentence sentence{.kind = kind_index, .pattern = pattern_index};
  std::vector<int> position_of(kind.names.size(), -1);
  std::vector<int> stands_for_name;
  // Named items are drawn first: an item that repeats another may stand before it.
  for (std::size_t index = 0; index < pattern.items.size(); ++index) {
    const PatternItem& item = pattern.items[index];
    if (item.group >= 0) {
      const float share = pattern.groups[at(item.group)];
      if (Random(mixed(seed, 0x6209 + static_cast<std::uint64_t>(item.group))).uniform() >= share) continue;
    }
    std::int32_t word = item.word;
    int family = item.family;
    switch (item.kind) {
      case PatternItem::Kind::written: break;
      case PatternItem::Kind::list:
        word = unused(grammar.families[at(item.family)], sentence.words, mixed(seed, item.seed));
        break;
      case PatternItem::Kind::field: {
        const Link& link = grammar.links[at(kind.choices[at(item.choice)])];
        const auto& words = link.classes[at(classes[at(item.choice)])][at(item.field)];
        word = unused(words, sentence.words, mixed(seed, item.seed));
        break;
      }
      case PatternItem::Kind::repeat: {
        const int position = position_of[at(item.repeats)];
        if (position < 0) continue;  // what it repeats was left out
        word = sentence.words[at(position)];
        family = sentence.families[at(position)];
        break;
      }
    }
    if (item.name >= 0) position_of[at(item.name)] = static_cast<int>(sentence.words.size());
    sentence.words.push_back(word);
    sentence.families.push_back(family);
    stands_for_name.push_back(item.stands_for);
    sentence.items.push_back(static_cast<int>(index));
  }
  for (const int name : stands_for_name) sentence.stands_for.push_back(name < 0 ? -1 : position_of[at(name)]);

  const auto text = [&](int position) -> std::string_view { return grammar.words[at(sentence.words[at(position)])]; };
  for (const PatternRelation& relation : pattern.relations) {
    const int query = position_of[at(relation.query)], key = position_of[at(relation.key)];
    if (query < 0 || key < 0) continue;
    sentence.gold.push_back({relation.relation, query, key});
    const bool may_be = grammar.relations[at(relation.relation)].held_out;
    if (may_be && is_held_out(text(query), text(key))) sentence.held_out = true;
  }
  if (kind.held_out) {
    const int first = position_of[at((*kind.held_out)[0])], second = position_of[at((*kind.held_out)[1])];
    if (first >= 0 && second >= 0 && is_held_out(text(first), text(second))) sentence.held_out = true;
  }
  return sentence;
}

Sentence draw_sentence(const Grammar& grammar, CorpusPart part, Random& random) {
  Sentence sentence = any_sentence(grammar, random);
  for (int tries = 1; tries < kMostDraws && !is_of(grammar, sentence, part); ++tries)
    sentence = any_sentence(grammar, random);
  return sentence;
}

std::array<Sentence, 2> draw_minimal_pair(const Grammar& grammar, Random& random) {
  assert(has_pairs(grammar));
  std::array<Sentence, 2> both = any_pair(grammar, random);
  for (int tries = 1; tries < kMostDraws && !is_minimal_pair(grammar, both); ++tries) both = any_pair(grammar, random);
  return both;
}

Status check_draws(std::string_view where, const Grammar& grammar) {
  Random random(0);
  const auto enough = [](auto draw) {
    int found = 0;
    for (int tries = 0; tries < kTried && found < kWanted; ++tries) found += draw();
    return found == kWanted;
  };
  const std::string wanted = "at least one in " + std::to_string(kTried / kWanted) + " of those that are drawn";
  for (const auto& [part, what] : {std::pair(CorpusPart::training, "sentences without a held-out pair of words"),
                                   std::pair(CorpusPart::held_out, "sentences with a held-out pair of words")}) {
    if (!enough([&, part = part] { return is_of(grammar, any_sentence(grammar, random), part); }))
      return bad_input(where, what, wanted, "fewer or none");
  }
  for (const CorpusPart part : {CorpusPart::training, CorpusPart::held_out}) {
    const auto translated = [&] {
      const Sentence sentence = any_sentence(grammar, random);
      return is_of(grammar, sentence, part) && !translation_of(grammar, sentence).words.empty();
    };
    if (has_translations(grammar) && !enough(translated))
      return bad_input(where,
                       part == CorpusPart::training ? "training sentences with English" : "held-out ones with English",
                       wanted, "fewer or none");
  }
  if (has_pairs(grammar) && !enough([&] { return is_minimal_pair(grammar, any_pair(grammar, random)); }))
    return bad_input(where, "held-out pairs of variants", wanted, "fewer or none");
  return Done{};
}

std::string text_of(const Grammar& grammar, const Sentence& sentence) {
  std::string text;
  for (const std::int32_t word : sentence.words) {
    const std::string& next = grammar.words[at(word)];
    const auto is_latin = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!text.empty() && is_latin(next.front()) && static_cast<unsigned char>(text.back()) < 0x80) text += ' ';
    text += next;
  }
  return text;
}

Translation translation_of(const Grammar& grammar, const Sentence& sentence) {
  const SentencePattern& pattern = grammar.kinds[at(sentence.kind)].patterns[at(sentence.pattern)];
  const Dictionary& dictionary = grammar.dictionary;
  std::vector<int> position_of(pattern.items.size(), -1);
  for (std::size_t position = 0; position < sentence.items.size(); ++position)
    position_of[at(sentence.items[position])] = static_cast<int>(position);
  std::vector<bool> whole(at(pattern.target.groups), true);
  for (const TargetItem& item : pattern.target.items)
    if (item.group >= 0 && item.item >= 0 && position_of[at(item.item)] < 0) whole[at(item.group)] = false;

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
    const int position = position_of[at(item.item)];
    if (position < 0) continue;
    const Rendering& rendering = dictionary.renderings.at({sentence.words[at(position)], item.form});
    for (const Rendering::Word& one : rendering.words) say(one.word, one.made ? position : -1, item.family);
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
