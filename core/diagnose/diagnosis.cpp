#include "diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "diagnose/hypotheses.h"

namespace headlight {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const Array* find(const ExportFile& file, const std::string& name) {
  const auto at = file.arrays.find(name);
  return at == file.arrays.end() ? nullptr : &at->second;
}

/// The heads of one layer of an array (layers, heads, rows, columns), or of (rows, columns) the whole as one; empty
/// where the array or the layer is not there.
Heads layer_of(const Array* array, Index layer) {
  Heads heads;
  if (array == nullptr || array->values.empty()) return heads;
  const bool flat = array->shape.size() == 2;
  if (!flat && (array->shape.size() != 4 || layer >= array->shape[0])) return heads;
  const Index rows = array->shape[array->shape.size() - 2], cols = array->shape.back();
  const Index count = flat ? 1 : array->shape[1];
  const float* values = array->values.data() + (flat ? 0 : layer * count * rows * cols);
  for (Index head = 0; head < count; ++head)
    heads.emplace_back(Eigen::Map<const Matrix>(values + head * rows * cols, rows, cols).cast<double>());
  return heads;
}

/// Scores with −inf in each masked cell, whatever number stood there.
Heads masked_scores(Heads scores) {
  for (Grid& head : scores) {
    for (Index i = 0; i < head.rows(); ++i) {
      std::vector<float> row;
      for (Index j = 0; j < head.cols(); ++j) row.push_back(static_cast<float>(head(i, j)));
      const float top = largest_score(row);
      for (Index j = 0; j < head.cols(); ++j)
        if (is_masked_score(row[static_cast<std::size_t>(j)], top)) head(i, j) = -kNever;
    }
  }
  return scores;
}

Heads softmax_of(const Heads& scores) {
  Heads weights;
  for (const Grid& head : scores) weights.push_back(reference::softmax(head));
  return weights;
}

/// The weights that scores come to.
Heads weights_of_scores(Heads scores) { return softmax_of(masked_scores(std::move(scores))); }

/// The largest difference over the cells that neither leaves open (NaN); infinite for other shapes.
double apart(const Heads& a, const Heads& b, const Heads* where = nullptr) {
  if (!same_shape(a, b) || (where && !same_shape(a, *where))) return kNever;
  double largest = 0;
  for (std::size_t head = 0; head < a.size(); ++head) {
    for (Index i = 0; i < a[head].size(); ++i) {
      const double x = a[head].data()[i], y = b[head].data()[i];
      if (std::isnan(x) || (where && std::isnan((*where)[head].data()[i])) || x == y) continue;
      const double difference = std::abs(x - y);
      largest = std::max(largest, std::isnan(difference) ? kNever : difference);
    }
  }
  return largest;
}

/// The inputs and projections of a layer, from the answer that was computed from them.
void take_inputs(const Trace& trace, Known& known) {
  const AttentionTrace& self = trace.attention(Stack::self, 0);
  known.query = self.query.cast<double>();
  known.key = self.key.cast<double>();
  known.value = self.value.cast<double>();
  known.num_kv_heads = self.num_kv_heads;
  known.scale = static_cast<double>(self.scale);
  for (Index i = 0; i < known.queries(); ++i)
    for (Index j = 0; j < known.keys(); ++j) known.mask(i, j) = static_cast<double>(self.mask->added(i, j));
  const ExternalStack& given = trace.model->given->stacks.at(Stack::self);
  const AttentionWeights& weights = trace.model->blocks[0].self;
  known.inputs = LayerInputs{given.query.cast<double>(),         given.key.cast<double>(),
                             given.value.cast<double>(),         reference::layer_of(weights.query),
                             reference::layer_of(weights.key),   reference::layer_of(weights.value),
                             reference::layer_of(weights.output)};
}

/// Queries, keys and values of an export, heads side by side.
void take_projected(const ExportFile& file, const std::string& before, Index layer, Known& known) {
  const Heads queries = layer_of(find(file, before + "queries"), layer);
  const Heads keys = layer_of(find(file, before + "keys"), layer);
  const Heads values = layer_of(find(file, before + "values"), layer);
  if (queries.size() != known.weights.size() || keys.empty() || queries.size() % keys.size() != 0 ||
      queries[0].cols() != keys[0].cols() || queries[0].rows() != known.queries() || keys[0].rows() != known.keys())
    return;
  known.query = reference::concatenated(queries);
  known.key = reference::concatenated(keys);
  known.num_kv_heads = static_cast<Index>(keys.size());
  if (values.size() == keys.size()) known.value = reference::concatenated(values);
  known.scale = 1 / std::sqrt(static_cast<double>(queries[0].cols()));
}

/// The mask as the weights show it: a cell is blocked where every head has the weight 0.
Grid mask_seen_in(const Heads& weights) {
  Allowed allowed = Allowed::Constant(weights[0].rows(), weights[0].cols(), false);
  for (const Grid& head : weights) allowed = allowed || head.array() != 0;
  return mask_of(allowed);
}

Index d_k_of(const ExportFile& file, const std::string& before, Index heads) {
  if (const Array* queries = find(file, before + "queries"); queries && queries->shape.size() == 4)
    return queries->shape.back();
  if (file.computed) return file.computed->attention(Stack::self, 0).query.cols() / heads;
  if (file.d_k) return *file.d_k;
  const std::string sentence = before.substr(0, before.find('.') + 1);
  for (const std::string& place : {before, sentence})
    for (const char* kind : {"last_hidden_state", "hidden_states", "output"})
      if (const Array* array = find(file, place + kind); array && !array->shape.empty())
        if (array->shape.back() % heads == 0) return array->shape.back() / heads;
  return 0;
}

/// Everything that the believed file contains about one layer, and d_k and the inputs from either file. What does not
/// reproduce the believed weights is left out.
Known known_of(const ExportFile& believed, const ExportFile& other, const std::string& before, Index layer) {
  Known known;
  const auto computed = believed.computed ? believed.computed : other.computed;
  const bool has_inputs = computed && before.empty() && layer == 0 && computed->model->given;
  known.weights = layer_of(find(believed, before + "attentions"), layer);
  if (known.weights.empty()) known.weights = weights_of_scores(layer_of(find(believed, before + "scores"), layer));
  if (known.weights.empty() && has_inputs) {
    const auto ours = answers_of(*computed);
    known.weights = layer_of(&ours.at("attentions"), 0);
  }
  if (known.weights.empty()) return known;
  known.num_heads = static_cast<Index>(known.weights.size());
  for (const ExportFile* file : {&believed, &other})
    if (known.d_k == 0) known.d_k = d_k_of(*file, before, known.num_heads);

  const Grid seen = mask_seen_in(known.weights);
  Grid mask = seen;
  if (const auto said = believed.masks.find(before); said != believed.masks.end())
    if (said->second.rows() == seen.rows() && said->second.cols() == seen.cols()) mask = said->second.cast<double>();
  known.mask = mask;
  for (const Grid& head : known.weights)
    known.logits.push_back(head.unaryExpr([](double weight) { return weight > 0 ? std::log(weight) : -kNever; }));
  if (const Heads scores = masked_scores(layer_of(find(believed, before + "scores"), layer));
      same_shape(scores, known.weights) && apart(softmax_of(scores), known.weights) < 1e-4)
    known.logits = scores;

  const bool fits = has_inputs && computed->queries() == seen.rows() && computed->keys() == seen.cols() &&
                    computed->num_heads() == known.num_heads;
  if (fits) take_inputs(*computed, known);
  else take_projected(believed, before, layer, known);
  if (known.query.size() == 0) return known;
  known.dot = dot_products(split_heads(known.query, known.num_heads, HeadSplit::blocks),
                           split_heads(known.key, known.num_kv_heads, HeadSplit::blocks));
  if (apart(attend(known.dot, known.scale, known.mask), known.weights) > 1e-4) {
    known.dot.clear();
    known.query = known.key = known.value = Grid();
    known.num_kv_heads = 0;
    known.inputs.reset();
    known.mask = mask;
  }
  return known;
}

struct Suspect {
  PredictedArray subject;
  std::string array;
  Index layer;
  double tolerance;
  Known known;
  Heads believed, found;
};

struct Explanation {
  const Hypothesis* hypothesis = nullptr;
  std::string text;
  double difference = 0, left = 0;
};

std::string text_of(const Hypothesis& hypothesis, const Prediction& prediction) {
  if (!prediction.text.empty()) return prediction.text;
  return hypothesis.text.empty() ? words(hypothesis.code, hypothesis.role) : hypothesis.text;
}

/// The number of cells that are evidence: a zero in all three is none.
Index telling_cells(const Suspect& suspect, const Heads& predicted) {
  const bool comparable = same_shape(suspect.believed, predicted);
  Index count = 0;
  for (std::size_t head = 0; head < predicted.size(); ++head)
    for (Index i = 0; i < predicted[head].size(); ++i) {
      const double value = predicted[head].data()[i];
      if (std::isnan(value)) continue;
      const bool all_zero =
          value == 0 && suspect.found[head].data()[i] == 0 && (!comparable || suspect.believed[head].data()[i] == 0);
      count += all_zero ? 0 : 1;
    }
  return count;
}

Mistake mistake_of(const Explanation& explanation, const std::string& array) {
  return {.code = explanation.hypothesis->code,
          .text = explanation.text,
          .role = explanation.hypothesis->role,
          .array = array,
          .before = explanation.difference,
          .after = explanation.left};
}

std::optional<Explanation> explains(const Suspect& suspect, const Prediction& prediction,
                                    const Hypothesis& hypothesis) {
  const double left = apart(prediction.values, suspect.found);
  // Attention of fewer heads than are believed differs as a whole.
  const double difference =
      same_shape(suspect.believed, suspect.found) ? apart(suspect.believed, suspect.found, &prediction.values) : 1.0;
  const bool small =
      std::isfinite(left) && left <= std::max(suspect.tolerance, 1e-3 * difference) && left <= 0.1 * difference;
  if (!small || difference <= suspect.tolerance) return std::nullopt;
  if (telling_cells(suspect, prediction.values) <= prediction.fitted) return std::nullopt;
  return Explanation{&hypothesis, text_of(hypothesis, prediction), difference, left};
}

/// What the suspected array would be with that mistake.
std::optional<Prediction> predicted(const Suspect& suspect, const Hypothesis& hypothesis) {
  if (hypothesis.subject == suspect.subject) return hypothesis.predict(suspect.known, suspect.found);
  // Where the file has only the output, a mistake in the attention shows in the output.
  const bool through_output = suspect.subject == PredictedArray::output && !suspect.known.weights.empty();
  if (!through_output || hypothesis.subject != PredictedArray::attentions) return std::nullopt;
  const auto weights = hypothesis.predict(suspect.known, {});
  return weights ? output_with_weights(suspect.known, weights->values) : std::nullopt;
}

/// The mistake that explains best; of those that are as good as it, the first of the table.
std::optional<Explanation> best(const Suspect& suspect, bool last_resort) {
  std::vector<Explanation> found;
  for (const Hypothesis& hypothesis : hypotheses()) {
    if (hypothesis.last_resort != last_resort) continue;
    const auto prediction = predicted(suspect, hypothesis);
    if (!prediction) continue;
    if (auto explanation = explains(suspect, *prediction, hypothesis)) found.push_back(std::move(*explanation));
  }
  if (found.empty()) return std::nullopt;
  double least = kNever;
  for (const Explanation& explanation : found) least = std::min(least, explanation.left);
  return *std::find_if(found.begin(), found.end(), [&](const Explanation& explanation) {
    return explanation.left <= 4 * least + 1e-6 * explanation.difference;
  });
}

/// The array whose difference is to be explained, in the first layer where it shows.
std::optional<std::pair<PredictedArray, const ComparedArray*>> subject_of(const FileComparison& comparison) {
  for (const auto& [kind, subject] : {std::pair{"attentions", PredictedArray::attentions},
                                      {"scores", PredictedArray::attentions},
                                      {"queries", PredictedArray::queries},
                                      {"keys", PredictedArray::keys},
                                      {"values", PredictedArray::values},
                                      {"output", PredictedArray::output}})
    for (const ComparedArray& array : comparison.arrays)
      if (!array.equal() && parse_array_name(array.name).kind == kind) return std::pair{subject, &array};
  return std::nullopt;
}

Suspect suspect_of(const ExportFile& believed, const ExportFile& other, PredictedArray subject,
                   const ComparedArray& array) {
  const std::string before = array.name.substr(0, array.name.size() - parse_array_name(array.name).kind.size());
  const Index layer = array.first && array.first->at.size() == 4 ? array.first->at[0] : 0;
  Suspect suspect{subject,
                  array.name,
                  layer,
                  static_cast<double>(array.tolerance),
                  known_of(believed, other, before, layer),
                  layer_of(find(believed, array.name), layer),
                  layer_of(find(other, array.name), layer)};
  if (parse_array_name(array.name).kind == "scores") {
    // Scores are judged by the weights that they come to.
    suspect.tolerance = static_cast<double>(kCompareTolerance);
    suspect.believed = weights_of_scores(suspect.believed);
    suspect.found = weights_of_scores(suspect.found);
  }
  return suspect;
}

/// The suspected array without a mistake, in double precision; nothing where queries and keys are not known.
std::optional<Heads> right_answer(const Suspect& suspect) {
  if (suspect.known.dot.empty()) return std::nullopt;
  Heads weights = attend(suspect.known.dot, suspect.known.scale, suspect.known.mask);
  if (suspect.subject != PredictedArray::output) return weights;
  auto output = output_with_weights(suspect.known, weights);
  return output ? std::optional(std::move(output->values)) : std::nullopt;
}

}  // namespace

std::optional<Diagnosis> hidden_mistake(const ExportFile& expected, const ExportFile& found) {
  // Rounding to float32 makes less than this share of the largest number; of a mistake less than this share is left.
  constexpr double kRounding = 2e-6, kLeft = 0.1;
  for (const ComparedArray& array : compare(expected, found, 0).arrays) {
    const std::string kind = parse_array_name(array.name).kind;
    if (array.equal() || !array.same_shape() || (kind != "attentions" && kind != "scores" && kind != "output"))
      continue;
    const auto subject = kind == "output" ? PredictedArray::output : PredictedArray::attentions;
    const Suspect suspect = suspect_of(expected, found, subject, array);
    const auto right = suspect.known.weights.empty() ? std::nullopt : right_answer(suspect);
    if (!right) continue;
    double largest = 0;
    for (const Grid& head : *right) largest = std::max(largest, head.cwiseAbs().maxCoeff());
    for (const Hypothesis& hypothesis : hypotheses()) {
      const auto prediction = predicted(suspect, hypothesis);
      if (!prediction || prediction->fitted > 0) continue;
      const double effect = apart(prediction->values, *right), left = apart(prediction->values, suspect.found);
      if (!std::isfinite(effect) || effect < kRounding * largest || !(left <= kLeft * effect)) continue;
      const Explanation explanation{&hypothesis, text_of(hypothesis, *prediction),
                                    apart(suspect.believed, suspect.found), left};
      return Diagnosis{.mistake = mistake_of(explanation, array.name), .layer = suspect.layer, .otherwise = ""};
    }
  }
  return std::nullopt;
}

std::optional<Diagnosis> diagnose(const ExportFile& expected, const ExportFile& found,
                                  const FileComparison& comparison) {
  const auto what = subject_of(comparison);
  if (!what) return std::nullopt;
  const Suspect b = suspect_of(expected, found, what->first, *what->second);
  const Suspect a = suspect_of(found, expected, what->first, *what->second);
  const auto usable = [](const Suspect& s) { return !s.known.weights.empty() && !s.found.empty(); };
  const auto of_b = usable(b) ? best(b, false) : std::nullopt;
  // Answers computed here from the inputs are not suspected.
  const bool a_is_computed = expected.computed && !expected.own_answers;
  const auto of_a = usable(a) && !a_is_computed ? best(a, false) : std::nullopt;
  auto named = of_b ? of_b : of_a;
  if (!named && usable(b)) named = best(b, true);
  if (!named) return std::nullopt;
  return Diagnosis{.mistake = mistake_of(*named, what->second->name),
                   .of_a = !of_b && of_a,
                   .layer = b.layer,
                   .otherwise = of_b && of_a ? "A: " + of_a->text : ""};
}

std::vector<Mistake> Examination::mistakes() const {
  if (comparison.equal()) return {};
  if (diagnosis) return {diagnosis->mistake};
  const ComparedArray& array = comparison.arrays[*comparison.first];
  const auto before = array.largest ? std::optional(static_cast<double>(array.largest->difference())) : std::nullopt;
  const std::string size = !array.same_shape()                ? "in shape"
                           : before && std::isfinite(*before) ? "by " + formatted("%.2g", *before)
                                                              : "(not finite)";
  const std::string from = b.own_answers && a.own_answers ? "" : " from attention of these queries, keys and values";
  return {{.code = mistakes::unexplained,
           .text = words(mistakes::unexplained, array.name + " differ " + size + from),
           .role = "",
           .array = array.name,
           .before = before,
           .after = before}};
}

Examination examine(ExportFile expected, ExportFile found, float tolerance) {
  Examination result{std::move(expected), std::move(found)};
  result.comparison = compare(result.a, result.b, tolerance);
  if (!result.comparison.equal()) {
    result.diagnosis = diagnose(result.a, result.b, result.comparison);
  } else if (tolerance <= kCompareTolerance) {
    result.diagnosis = hidden_mistake(result.a, result.b);
    if (!result.diagnosis) return result;
    result.hidden_by = tolerance;
    result.comparison = compare(result.a, result.b, static_cast<float>(*result.diagnosis->mistake.before / 2));
    if (result.comparison.equal()) result.comparison = compare(result.a, result.b, 0);
  }
  return result;
}

}  // namespace headlight
