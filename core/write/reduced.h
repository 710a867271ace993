// Maps that sum up others (heads/reduce.h) as arrays of an export: under the names of the attentions and in their four
// axes, of which those that are summed up have one place, so that the files open like any attention.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heads/reduce.h"
#include "write/arrays.h"

namespace headlight {

struct ReducedAttention {
  StackNames names;
  std::shared_ptr<const ReducedMaps> maps;
};

/// The reduced maps of each attention that is wanted, of all these answers together; of an encoder-decoder those that
/// can be reduced in this way. Errors: those of reduced_maps(), where none can. The traces must outlive them.
Result<std::vector<ReducedAttention>> reduced_attentions(std::vector<const Trace*> traces,
                                                         const ExportOptions& options);
std::vector<const Trace*> pointers_to(const std::vector<std::shared_ptr<const Trace>>& traces);

/// What is reduced together, and what stands before its names: `0.`, `1.`, … of the sentences of a batch.
using ReducedSentences = std::vector<std::pair<std::string, std::vector<ReducedAttention>>>;
Result<ReducedSentences> reduced_sentences(const std::vector<std::shared_ptr<const Trace>>& traces,
                                           const ExportOptions& options);

/// `attentions` (layers or 1, heads or 1, rows, columns), 0 where blocked; with ReduceBy::strongest `strongest` of the
/// same shape: the number of the head in its layer, over layers too layer · heads + head; −1 where blocked.
std::vector<ArrayStream> reduced_arrays(const std::vector<ReducedAttention>& reduced);
ArrayStream reduced_array(const ReducedAttention& reduced, bool strongest = false);
/// Those arrays, then `reduce`, a text as reduction_json() has it, and `tokens`, …, the texts of reduced_tokens().
std::vector<ArrayStream> named_arrays(const std::string& prefix, const std::vector<ReducedAttention>& reduced);

/// {"by": "mean", "over": ["heads"], "sentences": 1, "of": {"Self": [["0.0", "0.1"], …]}, "off": []}: in each attention
/// the heads that each map sums up (of a rollout all of them at once), and those that are left out.
std::string reduction_json(const std::vector<ReducedAttention>& reduced);

/// The tokens, words or blocks of rows and columns, by the names that exports have for them.
std::map<std::string, Tokens> reduced_tokens(const std::vector<ReducedAttention>& reduced);

}  // namespace headlight
