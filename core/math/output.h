// The output layer: hidden states → scores over the vocabulary (logits) → probabilities → a word.
#pragma once

#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "model/trace.h"

namespace headlight {

/// An Error of `where` for an answer without logits: a model without an output layer, or weights without a model.
Status check_has_logits(const Trace& trace, std::string_view where);

/// The activation between the output layer's transform and its norm.
Activation transform_activation(const Model& model);

/// The rows of logits of an answer: 1 of a classifier, else one a query.
Index answered_rows(const Trace& trace);
/// An Error of the option `where` for a query that the answer does not have, and of a classifier for any.
Status check_answers(std::string_view where, Index query, const Trace& trace);

/// Scores over the vocabulary for queries [first, first + count), (count, V); of a classifier (1, V), whichever they
/// are. The model must have an output layer.
Matrix logit_rows(const Trace& trace, Index first, Index count, const Threads& threads = {});

/// The same before the output layer's soft cap.
Matrix uncapped_logit_rows(const Trace& trace, Index first, Index count, const Threads& threads = {});

/// The logits, capped, of hidden states (n, d_model) that a final norm has normed: (n, V); of a classifier, whose n is
/// T, (1, V).
Matrix logits_of(const Model& model, Matrix hidden, const Threads& threads = {});

/// Of texts whose hidden states from query `first` on stand one below the other: for each text the logits of each of
/// `queries` (texts·queries, V). Of a classifier `first` is 0.
Matrix logits_of_texts(const Model& model, const Matrix& hidden, Index texts, const std::vector<Index>& queries,
                       Index first, const Threads& threads = {});

/// A word and its probability.
struct Candidate {
  std::int64_t id = 0;
  std::string text;
  float probability = 0;
  Index row = 0;  // in the output layer

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// softmax(logits / temperature), (V). A temperature of 0 gives 1 to the largest (the first of equal ones).
Vector probabilities(const Vector& logits, float temperature = 1);

/// The logarithms of softmax(logits), (V): as finite as the logits are.
std::vector<double> log_probabilities(const ConstMatrixRef& logits);
/// KL(before ‖ after) of two distributions by their logarithms, in nats; what rounding makes less than 0 is 0.
double divergence(const std::vector<double>& before, const std::vector<double>& after);

/// Whether a row of the output layer is a word. Tables are often longer than the vocabulary, padded to a round number:
/// what is beyond its words, or is an id without one, is none. Without a vocabulary every row is.
bool is_word(const Model& model, Index row);

/// The `count` most probable words, the most probable first; of equal ones the lower row. Probabilities are those of
/// the softmax over all rows, as the model was trained.
std::vector<Candidate> most_probable(const Model& model, const Vector& probabilities, Index count);

/// The words whose probability changed most, by |after − before|, the largest first, of equal ones the lower row; those
/// that did not change at all are left out.
std::vector<Index> most_changed(const Model& model, const Vector& before, const Vector& after, Index count);

/// The candidate of one row; without probabilities its probability is 0.
Candidate candidate(const Model& model, const Vector& probabilities, Index row);
Candidate candidate(const Model& model, Index row);

/// The row of a word by its text as the vocabulary spells it, else with a space before it, else of a class by the first
/// of its names ("tabby, tabby cat"), else by its id in decimal; nothing where it is unknown.
std::optional<Index> find_word(const Model& model, std::string_view text);

/// A row drawn at random in proportion to the probabilities. `draw` in [0, 1).
Index sample(const Vector& probabilities, float draw);

/// Whether a token is the mask that an encoder predicts a word for: [MASK], <mask>.
bool is_masked(const Token& token);

/// Trace::answering: the last token that is not padding. In an encoder, which predicts the word at each position, the
/// first masked token, else that same last one. Of a classifier 0, its one row.
Index answering_query(const Request& request);

}  // namespace headlight
