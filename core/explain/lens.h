// What the model would predict after each layer, and what each head adds to a word's logit.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "explain/writers.h"
#include "math/output.h"

namespace headlight {

/// The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): final norm and output layer applied to the
/// residual stream of one query after each layer of the main stack; after the last layer this is the model's answer.
/// [layer]: the `top` most probable words. The model must have an output layer.
/// Of one layer, for queries [first, first + count): [query].
std::vector<std::vector<Candidate>> lens_words_after(const Trace& trace, Index layer, Index first, Index count,
                                                     Index top, int threads = 0);
std::vector<std::vector<Candidate>> lens_words(const Trace& trace, Index query, Index top, int threads = 0);

/// The same as scores of all words, one row a layer, (V) each.
std::vector<Vector> lens_logits(const Trace& trace, Index query, int threads = 0);

struct LogitTerm {
  Writer from;
  double value = 0;
};

/// Direct logit attribution: the last hidden state split over its writers, the final norm frozen (writers.h), each part
/// times the word's row of the output layer. The output layer's bias of the word is part of `bias`.
struct LogitSplit {
  double logit = 0;  // as the pass computed it, before a soft cap of the logits
  double sum = 0;    // of the terms
  std::vector<LogitTerm> terms;
};

/// Of the word in row `row` of the output layer, or of its logit minus that of the word in row `other`, or, `centred`,
/// minus the mean of all words' logits: what all have in common a softmax does not see. The model must have an output
/// layer. Errors: one with a transform and an activation before the words (BERT), which is not linear; a classifier
/// that reads the mean of all patches, whose parts would be those of every token.
Result<LogitSplit> split_logit(const Trace& trace, Index query, Index row, std::optional<Index> other = {},
                               bool centred = false);

}  // namespace headlight
