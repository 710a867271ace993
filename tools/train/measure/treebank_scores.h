// Which head shows which relation of a treebank, measured on the text as it stood: it is cut into words by the model's
// tokenizer. Beside it what the best fixed distance and fresh weights give.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "train/corpus/teaching.h"
#include "train/measure/relations.h"

namespace headlight {

/// A relation of Universal Dependencies in words: from the dependent to its head. Its subtypes are counted with it
/// unless one of them is in the list itself. https://universaldependencies.org/u/dep/
struct UniversalRelation {
  const char *name, *en, *zh;
  const char *one, *many, *one_zh;  // its dependents, counted
};
/// Of these the scores are; the more frequent of a head's usual relations come first.
const std::vector<UniversalRelation>& universal_relations();
/// The relation of this name; null: none.
const UniversalRelation* universal_relation(std::string_view name);
/// The name in this list under which a relation of a treebank is counted; empty: none.
std::string_view universal_name(std::string_view relation);

/// Whether a score is of a relation of this list, on a treebank in Chinese or another: RelationScore::relation is the
/// name, with "zh:" before it where most sentences have Chinese characters.
bool is_universal(const RelationScore& score);
/// The name without the language.
std::string_view plain_name(const RelationScore& score);
bool is_of_chinese(const RelationScore& score);

/// Whether the head of a score was taught its relation. Then it did not find it by itself.
bool was_taught(const std::vector<TaughtHead>& taught, const RelationScore& score);

/// A treebank that no head was taught by.
struct HeldOutTreebank {
  std::string name;
  std::vector<TreebankSentence> sentences;
};

/// Of each treebank a row for every relation with at least kFewestArcs arcs in either half: sentences with even numbers
/// choose, the others are scored. A relation that a head was taught is scored on that head from the dependent to its
/// head; any other on the best head and direction of all layers. Pieces of a word look together (the mean of their
/// rows) and are looked at together (the sum of their columns), weights of a token that covers several words are shared
/// by bytes; the word itself, words that share a token with it, and special tokens are left out. RelationScore::random
/// is of fresh weights, kind_offset is offset. Nothing where it was stopped. Errors: a model without a vocabulary, or
/// with cross-attention; a treebank of which no relation could be scored.
inline constexpr Index kFewestArcs = 40;
Result<std::optional<RelationReport>> measure_treebanks(const std::shared_ptr<const Model>& model,
                                                        const Tokenizer& tokenizer,
                                                        const std::vector<HeldOutTreebank>& treebanks,
                                                        const std::vector<TaughtHead>& taught, int threads,
                                                        Progress& progress);

}  // namespace headlight
