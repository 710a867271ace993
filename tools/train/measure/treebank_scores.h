// Which head shows which relation of a treebank, measured on the text as it stood: it is cut into words by the model's
// tokenizer. Beside it what the best fixed distance and fresh weights give.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "card/universal_relations.h"
#include "text/tokenizer.h"
#include "train/corpus/teaching.h"
#include "train/measure/relations.h"

namespace headlight {

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
