// Which head shows which relation: measured on sentences that no training saw, beside what chance and position alone
// would give. Heads, directions and offsets are chosen on validation sentences and scored on others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "card/grammar.h"
#include "card/relation_scores.h"
#include "math/forward.h"

namespace headlight {

struct RelationOptions {
  std::uint64_t validation_seed = 1, test_seed = 2;
  Index sentences = 1000;  // of validation, and of test
  Index pairs = 200;
  bool scrambled = false;  // every word replaced by one of its family: what is left without word-specific ties
  std::vector<std::string> apart = {"SP", "VO", "DP", "CO"};  // relations that must have different heads
  int threads = 0;
};

/// Measures the self-attention of a model whose vocabulary has the grammar's words; of an encoder-decoder the
/// cross-attention, on sentences and their English. Nothing where it was stopped.
/// Errors: no vocabulary, none of the words, of an encoder-decoder no English in the grammar.
Result<std::optional<RelationReport>> measure_relations(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress);

/// Alignment of every cross head of an encoder-decoder on held-out sentences and their English, as the relations OWN
/// (the row that reads a word) and NEXT (the row before it, which predicts it): heads are chosen on validation
/// sentences and scored on others. Nothing where it was stopped. Errors: a grammar without English.
Result<std::optional<RelationReport>> measure_alignment(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress);

/// Lines of text: every cross head in both kinds of rows, what a diagonal gives, the literals.
std::string alignment_text(const AlignmentReport& report);
/// One line.
std::string next_word_text(const NextWordScore& score);

}  // namespace headlight
