// A written grammar: sentences by the thousand in which every word that can be foretold is foretold by the word it
// belongs to. assets/grammar.json holds the words and the patterns; the README says how it is read and extended.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "train/grammar/translations.h"

namespace headlight {

/// A place in a container.
inline std::size_t at(std::ptrdiff_t index) { return static_cast<std::size_t>(index); }

/// Something a head may learn: which word belongs to which.
struct Relation {
  std::string name;       // "VO"
  std::string en, zh;     // "verb → object"
  bool held_out = false;  // an eighth of its word pairs are kept from training
};

/// One item of a pattern: a word of a family, a word that stands there already, or a word as it is written.
struct PatternItem {
  enum class Kind { written, list, field, repeat } kind = Kind::written;
  std::int32_t word = 0;    // written
  int family = -1;          // list; of a field: its link's own family
  int choice = 0;           // field: which of the kind's chosen classes …
  int field = 0;            // … and which of its fields
  int repeats = 0;          // repeat: an earlier item's name
  int name = -1;            // what relations and repeats call it; −1: nothing
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
  int query = 0, key = 0;  // places in the sentence

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
  std::vector<std::string> words;                   // in the order in which the file says them first
  std::vector<std::vector<std::int32_t>> families;  // words that stand in the same places: what a word is swapped for
  std::vector<std::string> family_names;
  std::vector<Link> links;
  std::vector<SentenceKind> kinds;
  std::vector<Literal> literals;
  Dictionary dictionary;  // of the words in English
};

/// Errors name the place in the file `where`, or what could not be drawn of it (train/grammar/grammar_draws.h).
Result<Grammar> parse_grammar(std::string_view where, std::string_view text);

struct Sentence {
  std::vector<std::int32_t> words = {};  // of the grammar
  std::vector<int> families = {};        // of each word; −1: none
  std::vector<int> stands_for = {};      // of a pronoun: the place of the noun; −1
  std::vector<int> items = {};           // of each word its item of the pattern
  std::vector<Gold> gold = {};
  int kind = 0, pattern = 0;
  bool held_out = false;  // has a pair of words that training never sees together
};

/// The sentence of one pattern that this seed gives. Patterns of one kind share what they name alike, so that a minimal
/// pair differs in nothing but what it must.
Sentence sentence_of(const Grammar& grammar, int kind, int pattern, std::uint64_t seed);

enum class CorpusPart { training, held_out };

/// A sentence at random: a kind by its weight, a pattern by its share. Training has no pair of words that is held out,
/// the other part at least one in every sentence; neither has a literal.
Sentence draw_sentence(const Grammar& grammar, CorpusPart part, Random& random);

/// Two sentences at random that differ in the word that decides what their pronoun stands for, both held out.
std::array<Sentence, 2> draw_minimal_pair(const Grammar& grammar, Random& random);

/// Whether an eighth of all pairs of words, this one among them, is kept from training: by checksum.
bool is_held_out(std::string_view first, std::string_view second);

/// The words as one text: with spaces between words of scripts that have them.
std::string text_of(const Grammar& grammar, const Sentence& sentence);

}  // namespace headlight
