// English for the sentences of a grammar: patterns that refer to the words of a sentence, and a dictionary of what
// each of those is in English. Of every English word it is known which word it was made of: the gold that alignments
// are measured by. The README says how the file is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace headlight {

struct Grammar;
struct Sentence;
class JsonField;

/// A word of the grammar in English.
struct Rendering {
  struct Word {
    std::int32_t word = 0;
    bool made = true;  // of the word that is spelt; false: an article, which comes from none
  };
  std::vector<Word> words = {};
};

/// One item of an English pattern: a word that is always there, or what a word of the sentence is in English.
struct TargetItem {
  std::int32_t word = 0;  // written, where item is −1
  int item = -1;          // of the sentence's pattern; left out where the sentence has it not
  int form = 0;           // of Dictionary::forms
  int family = -1;        // of Dictionary::families
  int group = -1;         // there only if every item of the group is
};

struct TargetPattern {
  std::vector<TargetItem> items = {};  // empty: the pattern has no English
  int groups = 0;
};

/// English words by their numbers: those of the grammar, then `words`.
struct Dictionary {
  std::vector<std::string> words = {};                                // that no sentence of the grammar has
  std::vector<std::string> forms = {};                                // "plain", "The", "past" …
  std::map<std::pair<std::int32_t, int>, Rendering> renderings = {};  // by word of the grammar and form
  std::vector<std::vector<std::int32_t>> families = {};               // English words that stand in the same places
  std::int32_t a = -1, an = -1;  // the one becomes the other before a vowel; −1: no pattern has it
};

/// A sentence in English.
struct Translation {
  std::vector<std::int32_t> words = {};  // numbers as in Dictionary; empty: not known
  std::vector<int> made_of = {};         // of each the place of a word in the sentence; −1: of none
  std::vector<int> families = {};        // of each in Dictionary::families; −1: none
};

/// The English translation of a sentence, as the grammar's file gives it.
Translation translation_of(const Grammar& grammar, const Sentence& sentence);

/// Whether any sentence has English.
bool has_translations(const Grammar& grammar);

/// A word of a translation.
std::string_view target_word(const Grammar& grammar, std::int32_t word);

/// Reads the dictionary, the English patterns and the English of the literals of a grammar that was read from `root`.
/// Mistakes go to the field's problems: names that no word has, words without English, places beyond the end.
void read_translations(const JsonField& root, Grammar& grammar);

}  // namespace headlight
