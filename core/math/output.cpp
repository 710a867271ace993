#include "math/output.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/formatted.h"
#include "math/ops.h"
#include "math/score_terms.h"

namespace headlight {

Status check_has_logits(const Trace& trace, std::string_view where) {
  if (trace.logits.size() > 0) return Done{};
  return bad_input(where, "output layer", "a model with scores over a vocabulary",
                   trace.model->given ? "attention alone" : "none");
}

Status check_answers(std::string_view where, Index query, const Trace& trace) {
  if (!classifies(*trace.model)) return check_within(where, "", query, trace.queries());
  return bad_input(where, "", "a model that guesses a word at each token", "one that classifies all tokens as one");
}

Activation transform_activation(const Model& model) {
  return model.output->activation.value_or(model.config.activation);
}

namespace {

Matrix uncapped_logits(const Model& model, Matrix hidden, const Threads& threads) {
  assert(model.output);
  const OutputWeights& output = *model.output;
  if (classifies(model)) {
    Matrix mixed = output.mixtures * hidden;
    hidden = mixed.reshaped<Eigen::RowMajor>(1, mixed.size());
  }
  if (!output.transform.is_identity()) {
    hidden = linear(hidden, output.transform, threads);
    activate(hidden, transform_activation(model));
  }
  if (output.transform_norm) hidden = norm(hidden, *output.transform_norm);
  Matrix logits = linear(hidden, *output.weight, threads);
  if (output.scale != 1.0f) logits *= output.scale;
  if (output.bias.size() > 0) logits.rowwise() += output.bias;
  return logits;
}

}  // namespace

Matrix logits_of(const Model& model, Matrix hidden, const Threads& threads) {
  Matrix logits = uncapped_logits(model, std::move(hidden), threads);
  if (model.output->softcap > 0) soft_cap(logits, model.output->softcap);
  return logits;
}

Matrix logits_of_texts(const Model& model, const Matrix& hidden, Index texts, const std::vector<Index>& queries,
                       Index first, const Threads& threads) {
  const Index rows = hidden.rows() / texts, count = static_cast<Index>(queries.size());
  if (classifies(model)) {
    assert(first == 0 && count == 1);
    Matrix logits(texts, model.output->weight->outputs());
    for (Index text = 0; text < texts; ++text)
      logits.row(text) = logits_of(model, hidden.middleRows(text * rows, rows), threads);
    return logits;
  }
  Matrix asked(texts * count, hidden.cols());
  for (Index i = 0; i < asked.rows(); ++i)
    asked.row(i) = hidden.row(i / count * rows + queries[static_cast<std::size_t>(i % count)] - first);
  return logits_of(model, std::move(asked), threads);
}

Index answered_rows(const Trace& trace) { return classifies(*trace.model) ? 1 : trace.last_hidden_state().rows(); }

namespace {

/// The last hidden states that the logits of these queries are of.
Matrix read_for(const Trace& trace, Index first, Index count) {
  const Matrix& hidden = trace.last_hidden_state();
  return classifies(*trace.model) ? hidden : Matrix(hidden.middleRows(first, count));
}

}  // namespace

Matrix logit_rows(const Trace& trace, Index first, Index count, const Threads& threads) {
  return logits_of(*trace.model, read_for(trace, first, count), threads);
}

Matrix uncapped_logit_rows(const Trace& trace, Index first, Index count, const Threads& threads) {
  return uncapped_logits(*trace.model, read_for(trace, first, count), threads);
}

Vector probabilities(const Vector& logits, float temperature) {
  Vector result = Vector::Zero(logits.size());
  if (logits.size() == 0) return result;
  Index best = 0;
  const double largest = logits.maxCoeff(&best);
  if (temperature <= 0.0f) {
    result(best) = 1.0f;
    return result;
  }
  double sum = 0;
  for (Index i = 0; i < logits.size(); ++i) sum += std::exp((logits(i) - largest) / temperature);
  for (Index i = 0; i < logits.size(); ++i)
    result(i) = static_cast<float>(std::exp((logits(i) - largest) / temperature) / sum);
  return result;
}

std::vector<double> log_probabilities(const ConstMatrixRef& logits) {
  assert(logits.rows() == 1);
  const double largest = static_cast<double>(logits.maxCoeff());
  double sum = 0;
  for (Index i = 0; i < logits.cols(); ++i) sum += std::exp(static_cast<double>(logits(0, i)) - largest);
  const double normalizer = largest + std::log(sum);
  std::vector<double> result;
  for (Index i = 0; i < logits.cols(); ++i) result.push_back(static_cast<double>(logits(0, i)) - normalizer);
  return result;
}

double divergence(const std::vector<double>& before, const std::vector<double>& after) {
  double sum = 0;
  for (std::size_t word = 0; word < before.size(); ++word) sum += std::exp(before[word]) * (before[word] - after[word]);
  return std::max(0.0, sum);
}

bool is_word(const Model& model, Index row) {
  if (!model.vocabulary) return true;
  const auto& words = model.vocabulary->words;
  return row < static_cast<Index>(words.size()) && !words[static_cast<std::size_t>(row)].empty();
}

std::vector<Index> most_changed(const Model& model, const Vector& before, const Vector& after, Index count) {
  const Vector changes = (after - before).cwiseAbs();
  std::vector<Index> rows;
  for (Index row = 0; row < changes.size(); ++row)
    if (changes(row) > 0 && is_word(model, row)) rows.push_back(row);
  const auto end = rows.begin() + std::min<Index>(count, static_cast<Index>(rows.size()));
  std::partial_sort(rows.begin(), end, rows.end(),
                    [&](Index a, Index b) { return changes(a) != changes(b) ? changes(a) > changes(b) : a < b; });
  rows.erase(end, rows.end());
  return rows;
}

Candidate candidate(const Model& model, Index row) {
  const auto at = static_cast<std::size_t>(row);
  const Vocabulary* vocabulary = model.vocabulary.get();
  const std::int64_t id = vocabulary && at < vocabulary->ids.size() ? vocabulary->ids[at] : row;
  const bool named = vocabulary && at < vocabulary->words.size() && !vocabulary->words[at].empty();
  return {.id = id, .text = named ? vocabulary->words[at] : std::to_string(id), .probability = 0, .row = row};
}

Candidate candidate(const Model& model, const Vector& probabilities, Index row) {
  Candidate word = candidate(model, row);
  word.probability = probabilities(row);
  return word;
}

std::vector<Candidate> most_probable(const Model& model, const Vector& probabilities, Index count) {
  std::vector<Index> rows;
  for (Index row = 0; row < probabilities.size(); ++row)
    if (is_word(model, row)) rows.push_back(row);
  count = std::min(count, static_cast<Index>(rows.size()));
  std::partial_sort(rows.begin(), rows.begin() + count, rows.end(), [&](Index a, Index b) {
    return probabilities(a) != probabilities(b) ? probabilities(a) > probabilities(b) : a < b;
  });
  std::vector<Candidate> best;
  for (Index i = 0; i < count; ++i) best.push_back(candidate(model, probabilities, rows[static_cast<std::size_t>(i)]));
  return best;
}

std::optional<Index> find_word(const Model& model, std::string_view text) {
  if (!model.output) return std::nullopt;
  const Index rows = model.output->weight->outputs();
  if (model.vocabulary) {
    const auto& words = model.vocabulary->words;
    for (const std::string& word : {std::string(text), " " + std::string(text)}) {
      const auto at = text.empty() ? words.end() : std::find(words.begin(), words.end(), word);
      if (at != words.end() && at - words.begin() < rows) return at - words.begin();
    }
    const auto begins = [&](const std::string& word) { return word.starts_with(std::string(text) + ", "); };
    const auto named =
        classifies(model) && !text.empty() ? std::find_if(words.begin(), words.end(), begins) : words.end();
    if (named != words.end()) return named - words.begin();
  }
  const auto id = parse_number<std::int64_t>(text);
  if (!id) return std::nullopt;
  if (model.vocabulary && !model.vocabulary->ids.empty()) {
    const auto& ids = model.vocabulary->ids;
    const auto at = std::find(ids.begin(), ids.end(), *id);
    return at == ids.end() || at - ids.begin() >= rows ? std::nullopt : std::optional<Index>(at - ids.begin());
  }
  return *id >= 0 && *id < rows ? std::optional<Index>(*id) : std::nullopt;
}

Index sample(const Vector& probabilities, float draw) {
  assert(probabilities.size() > 0);
  double sum = 0, total = probabilities.cast<double>().sum();
  Index last = 0;  // the last row that is possible at all: rounding must not run past it
  for (Index row = 0; row < probabilities.size(); ++row) {
    if (probabilities(row) <= 0.0f) continue;
    last = row;
    sum += probabilities(row);
    if (draw * total < sum) return row;
  }
  return last;
}

bool is_masked(const Token& token) { return token.text == "[MASK]" || token.text == "<mask>"; }

Index answering_query(const Request& request) {
  if (request.model && classifies(*request.model)) return 0;
  const std::vector<Token>& tokens = query_tokens(request).tokens;
  if (request.config.arch == Arch::encoder) {
    const auto masked = std::find_if(tokens.begin(), tokens.end(), is_masked);
    if (masked != tokens.end()) return masked - tokens.begin();
  }
  const auto last = std::find_if(tokens.rbegin(), tokens.rend(), [](const Token& token) { return !token.pad; });
  return last == tokens.rend() ? 0 : tokens.rend() - last - 1;
}

}  // namespace headlight
