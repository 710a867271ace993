#include "explain/lens.h"

#include <cassert>

#include "math/ops.h"

namespace headlight {

namespace {

constexpr Index kWordsAtOnce = 4096;  // of the output layer that are read into memory

/// The scores of all words after a layer, for queries [first, first + count); of a classifier for all as one.
Matrix logits_after(const Trace& trace, Index layer, Index first, Index count, int threads) {
  const Model& model = *trace.model;
  assert(model.output);
  Matrix hidden = trace.blocks[static_cast<std::size_t>(layer)].output;
  if (!classifies(model)) hidden = Matrix(hidden.middleRows(first, count));
  if (model.final_norm) hidden = norm(hidden, *model.final_norm);
  return logits_of(model, std::move(hidden), Threads(threads));
}

/// The parts of what the output layer reads. Of a classifier those of its tokens, one beside the other.
WrittenParts parts_read(const Trace& trace, Index query) {
  if (!classifies(*trace.model)) return parts_of_last(trace, Stack::self, query);
  const Matrix& mixtures = trace.model->output->mixtures;
  WrittenParts all;
  for (Index k = 0; k < mixtures.rows(); ++k) {
    Index token = 0;
    mixtures.row(k).maxCoeff(&token);
    const WrittenParts parts = parts_of_last(trace, Stack::self, token);  // the same writers for every token
    const Index width = parts.front().vector.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (k == 0) all.push_back({parts[i].writer, Eigen::RowVectorXd::Zero(mixtures.rows() * width)});
      all[i].vector.segment(k * width, width) = parts[i].vector;
    }
  }
  return all;
}

}  // namespace

std::vector<std::vector<Candidate>> lens_words_after(const Trace& trace, Index layer, Index first, Index count,
                                                     Index top, int threads) {
  const Matrix logits = logits_after(trace, layer, first, count, threads);
  std::vector<std::vector<Candidate>> words;
  for (Index i = 0; i < logits.rows(); ++i)
    words.push_back(most_probable(*trace.model, probabilities(logits.row(i)), top));
  return words;
}

std::vector<Vector> lens_logits(const Trace& trace, Index query, int threads) {
  std::vector<Vector> logits;
  for (std::size_t layer = 0; layer < trace.blocks.size(); ++layer)
    logits.emplace_back(logits_after(trace, static_cast<Index>(layer), query, 1, threads).row(0));
  return logits;
}

std::vector<std::vector<Candidate>> lens_words(const Trace& trace, Index query, Index top, int threads) {
  std::vector<std::vector<Candidate>> words;
  for (const Vector& logits : lens_logits(trace, query, threads))
    words.push_back(most_probable(*trace.model, probabilities(logits), top));
  return words;
}

Result<LogitSplit> split_logit(const Trace& trace, Index query, Index row, std::optional<Index> other, bool centred) {
  const OutputWeights& output = *trace.model->output;
  if (!output.transform.is_identity())
    return bad_input("lens", "attribution", "an output layer that is linear",
                     "a transform with an activation before the words: what a head adds cannot be told apart");
  if (classifies(*trace.model) && (output.mixtures.rowwise().maxCoeff().array() < 1).any())
    return bad_input("lens", "attribution", "a classifier that reads single tokens",
                     "one that reads the mean of all patches");
  WrittenParts parts = parts_read(trace, query);
  if (output.transform_norm) norm_frozen(parts, *output.transform_norm);
  Linear word{.weight = weight_rows(*output.weight, row, 1) * output.scale, .bias = {}};
  if (output.bias.size() > 0) word.bias = output.bias.segment(row, 1);
  const Matrix logits = uncapped_logit_rows(trace, query, 1);
  LogitSplit split{.logit = static_cast<double>(logits(0, row)), .sum = 0, .terms = {}};
  if (centred && !other) {
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(word.weight.cols());
    for (Index first = 0, count = 0; first < logits.cols(); first += count) {
      count = std::min<Index>(kWordsAtOnce, logits.cols() - first);
      mean += weight_rows(*output.weight, first, count).cast<double>().colwise().sum();
    }
    word.weight -= Matrix((mean / static_cast<double>(logits.cols())).cast<float>()) * output.scale;
    if (output.bias.size() > 0) word.bias(0) -= output.bias.mean();
    split.logit -= logits.cast<double>().mean();
  }
  project_parts(parts, word);
  for (const WrittenPart& part : parts) {
    split.terms.push_back({part.writer, part.vector(0)});
    split.sum += part.vector(0);
  }
  if (!other) return split;
  const auto subtracted = TRY(split_logit(trace, query, *other));
  split.logit -= subtracted.logit;
  split.sum -= subtracted.sum;
  for (std::size_t i = 0; i < split.terms.size(); ++i) {  // the same writers, in the same order
    assert(split.terms[i].from == subtracted.terms[i].from);
    split.terms[i].value -= subtracted.terms[i].value;
  }
  return split;
}

}  // namespace headlight
