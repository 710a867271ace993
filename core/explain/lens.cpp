#include "explain/lens.h"

#include <cassert>

#include "math/ops.h"

namespace headlight {

std::vector<std::vector<Candidate>> lens_words(const Trace& trace, Index query, Index top, int threads) {
  const Model& model = *trace.model;
  assert(model.output);
  std::vector<std::vector<Candidate>> words;
  for (const BlockTrace& block : trace.blocks) {
    Matrix hidden = block.output.row(query);
    if (model.final_norm) hidden = norm(hidden, *model.final_norm);
    words.push_back(most_probable(model, probabilities(logits_of(model, hidden, Threads(threads)).row(0)), top));
  }
  return words;
}

Result<LogitSplit> split_logit(const Trace& trace, Index query, Index row) {
  const OutputWeights& output = *trace.model->output;
  if (!output.transform.is_identity())
    return bad_input("lens", "attribution", "an output layer that is linear",
                     "a transform with an activation before the words: what a head adds cannot be told apart");
  WrittenParts parts = parts_of_last(trace, Stack::self, query);
  if (output.transform_norm) norm_frozen(parts, *output.transform_norm);
  Linear word{.weight = weight_rows(*output.weight, row, 1) * output.scale, .bias = {}};
  if (output.bias.size() > 0) word.bias = output.bias.segment(row, 1);
  project_parts(parts, word);
  LogitSplit split{.logit = static_cast<double>(uncapped_logit_rows(trace, query, 1)(0, row)), .sum = 0, .terms = {}};
  for (const WrittenPart& part : parts) {
    split.terms.push_back({part.writer, part.vector(0)});
    split.sum += part.vector(0);
  }
  return split;
}

}  // namespace headlight
