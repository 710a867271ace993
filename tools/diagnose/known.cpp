#include "diagnose/known.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

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
void hide_masked(Heads& scores) {
  for (Grid& head : scores) head = allowed_in(head).select(head.array(), -kApart).matrix().eval();
}

Heads softmax_of(const Heads& scores) {
  Heads weights;
  for (const Grid& head : scores) weights.push_back(reference::softmax(head));
  return weights;
}

double apart(const Heads& a, const Heads& b) {
  double largest = same_shape(a, b) ? 0 : kApart;
  for (std::size_t head = 0; largest < kApart && head < a.size(); ++head) {
    const double one = (a[head] - b[head]).cwiseAbs().maxCoeff();
    largest = std::isnan(one) ? kApart : std::max(largest, one);
  }
  return largest;
}

/// The inputs and projections of a layer, from the answer that was computed from them.
void take_inputs(const Trace& trace, Known& known) {
  const AttentionTrace& self = trace.attention(Stack::self, 0);
  known.projected = {self.query.cast<double>(), self.key.cast<double>(), self.value.cast<double>()};
  known.num_kv_heads = self.num_kv_heads;
  known.scale = static_cast<double>(self.scale);
  known.softcap = static_cast<double>(self.softcap);
  known.sinks.assign(self.sinks.data(), self.sinks.data() + self.sinks.size());
  for (Index i = 0; i < known.queries(); ++i)
    for (Index j = 0; j < known.keys(); ++j) known.mask(i, j) = static_cast<double>(self.mask->added(i, j));
  const ExternalStack& given = trace.model->given->stacks.at(Stack::self);
  const AttentionWeights& weights = trace.model->blocks[0].self;
  known.inputs = LayerInputs{{given.query.cast<double>(), given.key.cast<double>(), given.value.cast<double>()},
                             {reference::layer_of(weights.query), reference::layer_of(weights.key),
                              reference::layer_of(weights.value), reference::layer_of(weights.output)}};
}

/// Queries, keys and values of an export, heads side by side.
void take_projected(Known& known) {
  const Heads &queries = known.right[SlipStep::queries], &keys = known.right[SlipStep::keys],
              &values = known.right[SlipStep::values];
  if (queries.size() != known.right[SlipStep::weights].size() || keys.empty() || queries.size() % keys.size() != 0 ||
      queries[0].cols() != keys[0].cols() || queries[0].rows() != known.queries() || keys[0].rows() != known.keys())
    return;
  known.projected[kQuery] = reference::concatenated(queries);
  known.projected[kKey] = reference::concatenated(keys);
  known.num_kv_heads = static_cast<Index>(keys.size());
  if (values.size() == keys.size()) known.projected[kValue] = reference::concatenated(values);
  known.scale = 1 / std::sqrt(static_cast<double>(queries[0].cols()));
}

/// The mask as the weights show it: a cell is blocked where every head has the weight 0.
Grid mask_seen_in(const Heads& weights) {
  Allowed allowed = Allowed::Constant(weights[0].rows(), weights[0].cols(), false);
  for (const Grid& head : weights) allowed = allowed || head.array() != 0;
  return mask_of(allowed);
}

Index d_model_of(const ExportFile& file, const std::string& before) {
  if (file.computed && file.computed->model->given)
    return file.computed->model->given->stacks.at(Stack::self).query.cols();
  const std::string sentence = before.substr(0, before.find('.') + 1);
  for (const std::string& prefix : {before, sentence})
    for (const char* kind : {"last_hidden_state", "hidden_states", "output"})
      if (const Array* array = find_array(file.arrays, prefix + kind); array && !array->shape.empty())
        return array->shape.back();
  return 0;
}

Index d_k_of(const ExportFile& file, const std::string& before, Index heads) {
  if (const Array* queries = find_array(file.arrays, before + "queries"); queries && queries->shape.size() == 4)
    return queries->shape.back();
  if (file.computed) return file.computed->attention(Stack::self, 0).query.cols() / heads;
  if (file.d_k) return *file.d_k;
  const Index d_model = d_model_of(file, before);
  return d_model % heads == 0 ? d_model / heads : 0;
}

/// The logits without queries and keys: scores where they lead to the weights, else the logarithms of those.
void take_logits(Known& known) {
  const Heads& weights = known.right[SlipStep::weights];
  Heads scores = known.right[SlipStep::scores];
  hide_masked(scores);
  known.exact = same_shape(scores, weights) && apart(softmax_of(scores), weights) < 1e-4;
  const Allowed allowed = allowed_by(known.mask);
  for (std::size_t head = 0; head < weights.size(); ++head) {
    Grid logits = known.exact ? scores[head] : Grid(weights[head].array().max(0).log());
    for (Index i = 0; i < logits.size(); ++i)
      if (!allowed.data()[i]) logits.data()[i] = kOpenCell;
    known.logits.push_back(std::move(logits));
  }
}

}  // namespace

LayerArrays arrays_of(const ExportFile& file, const std::string& before, Index layer) {
  LayerArrays arrays;
  for (std::size_t step = 0; step < kSteps; ++step)
    arrays.of[step] = layer_of(find_array(file.arrays, before + kStepNames[step]), layer);
  return arrays;
}

Known known_of(const ExportFile& right, const ExportFile& other, const std::string& before, Index layer) {
  Known known{.right = arrays_of(right, before, layer)};
  for (std::size_t step = 0; step < kSteps; ++step)
    if (!known.right.of[step].empty()) known.stored |= bit(static_cast<SlipStep>(step));
  const auto computed = right.computed ? right.computed : other.computed;
  const bool has_inputs = computed && before.empty() && layer == 0 && computed->model->given;
  Heads& weights = known.right[SlipStep::weights];
  if (weights.empty()) {
    weights = known.right[SlipStep::scores];
    hide_masked(weights);
    weights = softmax_of(weights);
  }
  if (weights.empty() && has_inputs) {
    const auto ours = answers_of(*computed);
    weights = layer_of(&ours.at("attentions"), 0);
  }
  if (weights.empty()) return known;
  known.num_heads = static_cast<Index>(weights.size());
  for (const ExportFile* file : {&right, &other}) {
    if (known.d_k == 0) known.d_k = d_k_of(*file, before, known.num_heads);
    if (known.d_model == 0) known.d_model = d_model_of(*file, before);
  }
  known.mask = mask_seen_in(weights);
  if (const auto said = right.masks.find(before); said != right.masks.end())
    if (said->second.rows() == known.mask.rows() && said->second.cols() == known.mask.cols())
      known.mask = said->second.cast<double>();
  const Grid mask = known.mask;

  const bool fits = has_inputs && computed->queries() == mask.rows() && computed->keys() == mask.cols() &&
                    computed->num_heads() == known.num_heads && computed->mask().heads() == 0;
  if (fits) take_inputs(*computed, known);
  else take_projected(known);
  known.direct = known.projected[kQuery].size() > 0;
  if (known.direct) {
    known.exact = true;
    known.logits = dot_products(split_heads(known.projected[kQuery], known.num_heads, HeadSplit::blocks),
                                split_heads(known.projected[kKey], known.num_kv_heads, HeadSplit::blocks), known.scale,
                                weights.size());
    Outcome outcome;
    if (compute_weights(known, {}, {}, outcome) && apart(outcome.arrays[SlipStep::weights], weights) < 1e-4)
      return known;
    known = {.right = std::move(known.right),
             .stored = known.stored,
             .mask = mask,
             .num_heads = known.num_heads,
             .d_k = known.d_k,
             .d_model = known.d_model};
  }
  take_logits(known);
  return known;
}

}  // namespace headlight
