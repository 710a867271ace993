// A written grammar: sentences by the thousand in which every predictable word is predicted by the word it belongs to.
// assets/grammar.json holds the words and the patterns; the README describes how it is read and extended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace headlight {

/// The rows of every trained model's table that are no words.
inline constexpr std::int32_t kPadRow = 0, kStartRow = 1, kMaskRow = 2, kUnknownRow = 3, kFirstWordRow = 4;
inline constexpr std::string_view kSpecialWords[] = {"<pad>", "<s>", "<mask>", "<unk>"};

/// Longer sentences of a text are left out.
inline constexpr std::size_t kLongestSentence = 120;

/// The end of a translation: the last word of a corpus with translations.
inline constexpr std::string_view kEndWord = "</s>";

/// An index into a container.
inline std::size_t at(std::ptrdiff_t index) { return static_cast<std::size_t>(index); }

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
  std::vector<std::vector<std::int32_t>> families = {};               // English words that stand at the same positions
  std::int32_t a = -1, an = -1;  // the one becomes the other before a vowel; −1: no pattern has it
};

/// A sentence in English.
struct Translation {
  std::vector<std::int32_t> words = {};  // numbers as in Dictionary; empty: not known
  std::vector<int> made_of = {};         // of each the position of a word in the sentence; −1: none
  std::vector<int> families = {};        // of each in Dictionary::families; −1: none
};

/// Something a head may learn: which word belongs to which.
struct Relation {
  std::string name;       // "VO"
  std::string en, zh;     // "verb → object"
  bool held_out = false;  // an eighth of its word pairs are kept from training
};

/// One item of a pattern: a word of a family, a word that the pattern has already, or a word as it is written.
struct PatternItem {
  enum class Kind { written, list, field, repeat } kind = Kind::written;
  std::int32_t word = 0;    // written
  int family = -1;          // list; of a field: the family of its link
  int choice = 0;           // field: which of the kind's chosen classes …
  int field = 0;            // … and which of its fields
  int repeats = 0;          // repeat: an earlier item's name
  int name = -1;            // its name in relations and repeats; −1: none
  int stands_for = -1;      // of a pronoun: the name of what it stands for
  int group = -1;           // left out with its group; −1: always there
  std::uint64_t seed = 0;   // of its draw
  std::string called = {};  // by translations: its name, what it is drawn from, or the word as it is written
};

struct PatternRelation {
  int relation = 0, query = 0, key = 0;  // the two are names
};

struct SentencePattern {
  float share = 1;
  std::vector<PatternItem> items = {};
  std::vector<float> groups = {};  // how often each is there
  std::vector<PatternRelation> relations = {};
  TargetPattern target = {};
};

struct SentenceKind {
  std::string name, language;
  float weight = 1;
  std::vector<int> choices = {};    // links of which one class each is chosen
  std::vector<bool> distinct = {};  // a choice that must differ from the others so marked
  std::vector<SentencePattern> patterns = {};
  std::vector<std::string> names = {};
  std::optional<std::array<int, 2>> pair = {};      // two patterns that make a minimal pair
  std::optional<std::array<int, 2>> held_out = {};  // names of one more pair of words that may be kept from training
};

/// Words whose fields belong together: a verb of class 3 takes an object of class 3.
struct Link {
  std::string name;
  std::vector<std::string> fields = {};
  std::vector<int> families = {};                                    // one a field
  std::vector<std::vector<std::vector<std::int32_t>>> classes = {};  // [class][field] words
};

/// Which word belongs to which in one sentence.
struct Gold {
  int relation = 0;
  int query = 0, key = 0;  // positions in the sentence

  friend bool operator==(const Gold&, const Gold&) = default;
};

/// A sentence of the grammar that no training may hold, and what its heads should show.
struct Literal {
  std::vector<std::int32_t> words = {};
  std::vector<Gold> gold = {};
  Translation english = {};
};

struct Grammar {
  std::vector<Relation> relations;
  std::vector<std::string> words;                   // in the order of their first use in the file
  std::vector<std::vector<std::int32_t>> families;  // words of the same positions: what a word is swapped for
  std::vector<std::string> family_names;
  std::vector<Link> links;
  std::vector<SentenceKind> kinds;
  std::vector<Literal> literals;
  Dictionary dictionary;  // of the words in English
};

/// Errors name the part of the file `where`, or what could not be drawn of it (check_draws).
Result<Grammar> parse_grammar(std::string_view where, std::string_view text);

struct Sentence {
  std::vector<std::int32_t> words = {};  // of the grammar
  std::vector<int> families = {};        // of each word; −1: none
  std::vector<int> stands_for = {};      // of a pronoun: the position of the noun; −1
  std::vector<int> items = {};           // of each word its item of the pattern
  std::vector<Gold> gold = {};
  int kind = 0, pattern = 0;
  bool held_out = false;  // has a pair of words that training never sees together
};

/// The sentence of one pattern that this seed gives. Patterns of one kind share what they name alike, so that a minimal
/// pair differs in nothing but what it must.
Sentence sentence_of(const Grammar& grammar, int kind, int pattern, std::uint64_t seed);

enum class CorpusPart { training, held_out };

/// A random sentence: a kind by its weight, a pattern by its share. A sentence of the training part has no held-out
/// pair of words, one of the held-out part has at least one. Neither has a literal.
Sentence draw_sentence(const Grammar& grammar, CorpusPart part, Random& random);

/// Two sentences at random that differ in the word that decides what their pronoun stands for, both held out.
std::array<Sentence, 2> draw_minimal_pair(const Grammar& grammar, Random& random);

/// Whether an eighth of all pairs of words, this one among them, is kept from training: by checksum.
bool is_held_out(std::string_view first, std::string_view second);

/// The words as one text: with spaces between words of scripts that have them.
std::string text_of(const Grammar& grammar, const Sentence& sentence);

/// The English translation of a sentence, as the grammar's file gives it.
Translation translation_of(const Grammar& grammar, const Sentence& sentence);

/// Whether any sentence has English.
bool has_translations(const Grammar& grammar);

/// A word of a translation.
std::string_view target_word(const Grammar& grammar, std::int32_t word);

/// The sentence as the first pattern that the words fit would have written it, each by its family, of several patterns
/// one whose classes they fit too; its words, items and relations alone are given. A full stop at the end and *too* may
/// be missing (heads find what a pronoun stands for as often without it: sentence_facts_test). There is no
/// relation of a pronoun where no class has the words that the pattern draws from one class: which noun it stands for
/// is unknown. Nothing for a sentence that no pattern fits, and for more than kLongestMatched words.
std::optional<Sentence> match_sentence(const Grammar& grammar, const std::vector<std::string_view>& words);
inline constexpr std::size_t kLongestMatched = 64;

/// Whether a sentence of the grammar has this word as a pronoun.
bool stands_for_a_noun(const Grammar& grammar, std::string_view word);

}  // namespace headlight
