// How well heads show relations: what was measured of a trained model, as its card keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/head.h"

namespace headlight {

class JsonField;
struct TaughtHead;

/// A head, and from which of a relation's two words it looks at the other.
struct DirectedHead {
  Index layer = 0, head = 0;
  bool reversed = false;  // from key to query

  friend bool operator==(const DirectedHead&, const DirectedHead&) = default;
};

/// How often a head's strongest target is the right word: the word itself and special tokens left out.
struct HeadScore {
  double accuracy = 0;
  double weight = 0;  // mean weight on the right word
  double hard = 0;    // accuracy where both offset baselines are wrong; 0 where there are no such sentences
  Index hard_count = 0;
};

struct RelationScore {
  std::string relation, en, zh;
  Stack stack = Stack::self;
  DirectedHead chosen = {};  // of the last layer, the relations of `apart` on different heads
  HeadScore score = {};
  double random = 0;       // the best head of fresh weights of the same shape
  double offset = 0;       // the best fixed distance from the one word to the other
  double kind_offset = 0;  // the best distance for each kind of sentence
  Index sentences = 0;     // that were scored
  /// [layer · heads + head] the better of both directions, by validation; scored on test sentences.
  std::vector<DirectedHead> directed = {};
  std::vector<HeadScore> heads = {};
  /// [layer] where the head stands in these two that looks best in its layer, by validation; empty where heads are not
  /// measured one by one: translations, treebanks, and what a file keeps.
  std::vector<std::size_t> best_of_layer = {};
};

/// The head that shows a relation of one sentence best: among those with the right word as strongest target, the one of
/// the strongest weight.
struct LiteralLook {
  DirectedHead head = {};
  bool shown = false;  // whether there is one
  double weight = 0;

  friend bool operator==(const LiteralLook&, const LiteralLook&) = default;
};

/// A sentence of the tutorials: for each of its relations the head that shows it best.
struct LiteralScore {
  std::string text, relation, query, key;
  LiteralLook best = {};   // in whichever direction
  LiteralLook other = {};  // in the opposite one
  bool by_chosen = false;  // whether the head that was chosen for the relation shows it too
};

/// What one cross head shows of where words come from: of the English words that were made of a word of the sentence,
/// which counts wherever it stands in it (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine
/// Translation").
struct CrossHead {
  Index layer = 0, head = 0;
  HeadScore own = {};   // in the row that reads the word
  HeadScore next = {};  // in the row before, which predicts it
};

/// A sentence of the tutorials and its English: how many of the words that come from one are shown to.
struct LiteralAlignment {
  std::string text, english;
  Index words = 0, right = 0;  // by the head and in the rows that were chosen
};

/// How a model that translates shows what its words were made of. The best of all heads in either kind of row are the
/// relations OWN and NEXT of the report, the better one by validation first.
struct AlignmentReport {
  Index words = 0;      // that were scored
  double diagonal = 0;  // right where a word is taken to come from as far along the sentence as it stands itself
  std::vector<CrossHead> heads = {};
  std::vector<LiteralAlignment> literals = {};
};

/// How well the next word is foretold on held-out sentences.
struct NextWordScore {
  double accuracy = 0;    // the most probable word is the right one
  double perplexity = 0;  // e to the mean of −ln p
  Index words = 0;
};

struct RelationReport {
  std::uint64_t test_seed = 0;
  std::vector<RelationScore> relations = {};
  /// Of each of these the head of the last layer that looks best in the other direction; empty where that was not
  /// measured: translations, treebanks.
  std::vector<RelationScore> opposite = {};
  Index pairs = 0, pairs_right = 0;  // minimal pairs, and those of which both sentences are right
  std::vector<LiteralScore> literals = {};
  Index unknown_words = 0;         // of the grammar, that the model does not have
  AlignmentReport alignment = {};  // of an encoder-decoder; else no heads
  NextWordScore next_word = {};    // of a model that predicts the next word; else of no words
};

/// The other direction of one of its relations; null where it was not measured.
const RelationScore* opposite_of(const RelationReport& report, const RelationScore& relation);

/// relations_json (train/measure/relations_json.h) read back; what is wrong goes to the field's problems. `heads` are
/// not kept in JSON.
RelationReport relations_from(const JsonField& field);

/// Whether a score is of a relation of Universal Dependencies (card/universal_relations.h), on a treebank in Chinese or
/// another: RelationScore::relation is the name, with "zh:" before it where most sentences have Chinese characters.
bool is_universal(const RelationScore& score);
inline constexpr std::string_view kChinesePrefix = "zh:";
/// The name without the language.
std::string_view plain_name(const RelationScore& score);
bool is_of_chinese(const RelationScore& score);

/// Whether the head of a score was taught its relation. Then it did not find it by itself.
bool was_taught(const std::vector<TaughtHead>& taught, const RelationScore& score);

}  // namespace headlight
