// Which cross heads show what a word was made of, and how well the next word is foretold.
#pragma once

#include "train/measure/relations.h"

namespace headlight {

/// Alignment of every cross head of an encoder-decoder on held-out sentences and their English, as the relations OWN
/// (the row that reads a word) and NEXT (the row before it, which says it): heads are chosen on validation sentences
/// and scored on others. Nothing where it was stopped. Errors: a grammar without English.
Result<std::optional<RelationReport>> measure_alignment(const std::shared_ptr<const Model>& model,
                                                        const Grammar& grammar, const RelationOptions& options,
                                                        Progress& progress);

/// Lines of text: every cross head in both kinds of rows, what a diagonal gives, the literals.
std::string alignment_text(const AlignmentReport& report);
/// One line.
std::string next_word_text(const NextWordScore& score);

}  // namespace headlight
