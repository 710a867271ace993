#include "diagnose/mistakes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headlight::mistakes {

namespace {

bool can_split(const Known& known) {
  return known.query.size() > 0 && known.key.size() > 0 && known.num_kv_heads > 0 && known.num_heads > 1;
}

bool has_values(const Known& known) { return known.value.size() > 0 && known.num_kv_heads > 0; }

Heads z_of(const Known& known, const Heads& weights) {
  return weighted_values(weights, split_heads(known.value, known.num_kv_heads, HeadSplit::blocks));
}

Maybe output_of(const Known& known, const Grid& z, Slip slip = Slip::none) {
  if (!known.inputs) return kUnknown;
  const auto output = project_with(known.inputs->out_proj, z, slip);
  if (!output) return kUnknown;
  return Prediction{{*output}};
}

}  // namespace

Maybe heads_permuted(const Known& known, const Heads& found) {
  if (!same_shape(known.weights, found) || found.size() < 2) return kUnknown;
  Prediction prediction;
  std::vector<bool> taken(found.size(), false);
  bool moved = false;
  std::string order;
  for (std::size_t head = 0; head < found.size(); ++head) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < found.size(); ++other) {
      const double apart = (known.weights[other] - found[head]).cwiseAbs().maxCoeff();
      if (!taken[other] && apart < least) least = apart, nearest = other;
    }
    taken[nearest] = true;
    moved = moved || nearest != head;
    prediction.values.push_back(known.weights[nearest]);
    order += (head > 0 ? ", " : "") + std::to_string(nearest);
  }
  prediction.text = "heads in another order: they are heads " + order;
  return moved ? Maybe(prediction) : Maybe();
}

Maybe heads_averaged(const Known& known, const Heads& found) {
  const bool one_map = found.size() == 1;
  if ((!one_map && found.size() != known.weights.size()) || known.weights.size() < 2) return kUnknown;
  Grid mean = Grid::Zero(known.queries(), known.keys());
  for (const Grid& weights : known.weights) mean += weights / static_cast<double>(known.weights.size());
  return Prediction{Heads(found.size(), mean)};
}

Maybe heads_split(const Known& known, HeadSplit how) {
  if (!can_split(known)) return kUnknown;
  return Prediction{attend(
      dot_products(split_heads(known.query, known.num_heads, how), split_heads(known.key, known.num_kv_heads, how)),
      known.scale, known.mask)};
}

Maybe query_and_key_swapped(const Known& known, const Heads& found) {
  if (known.queries() != known.keys()) return kUnknown;
  Prediction prediction;
  if (!known.dot.empty()) {
    for (const Grid& dot : known.dot)
      prediction.values.push_back(reference::softmax(dot.transpose() * known.scale + known.mask));
    return prediction;
  }
  if (!same_shape(known.logits, found) || has_mask(known)) return kUnknown;
  for (std::size_t head = 0; head < found.size(); ++head)
    prediction.values.emplace_back(softmax_rows_up_to_offsets(known.logits[head], found[head].transpose()).transpose());
  prediction.fitted = count_rows(found);
  return prediction;
}

Maybe projected_with(const Known& known, Slip of_query, Slip of_key) {
  if (!known.inputs || known.num_kv_heads == 0) return kUnknown;
  const auto query = project_with(known.inputs->query_proj, known.inputs->query, of_query);
  const auto key = project_with(known.inputs->key_proj, known.inputs->key, of_key);
  if (!query || !key || query->cols() != known.query.cols() || key->cols() != known.key.cols()) return kUnknown;
  return Prediction{attend(dot_products(split_heads(*query, known.num_heads, HeadSplit::blocks),
                                        split_heads(*key, known.num_kv_heads, HeadSplit::blocks)),
                           known.scale, known.mask)};
}

Maybe side_with(const Known& known, const ProjectionRole& side, Slip slip) {
  if (!known.inputs || known.*side.num_heads == 0) return kUnknown;
  const LayerInputs& inputs = *known.inputs;
  const auto projected = project_with(inputs.*side.projection, inputs.*side.input, slip);
  if (!projected || projected->cols() != (known.*side.projected).cols()) return kUnknown;
  return Prediction{split_heads(*projected, known.*side.num_heads, HeadSplit::blocks)};
}

Maybe side_split(const Known& known, const ProjectionRole& side, HeadSplit how) {
  if ((known.*side.projected).size() == 0 || known.*side.num_heads < 2) return kUnknown;
  return Prediction{split_heads(known.*side.projected, known.*side.num_heads, how)};
}

Maybe query_scaled(const Known& known) {
  if (known.query.size() == 0 || known.d_k < 2) return kUnknown;
  return Prediction{
      split_heads(known.query / std::sqrt(static_cast<double>(known.d_k)), known.num_heads, HeadSplit::blocks)};
}

Maybe output_with(const Known& known, Slip slip) {
  if (!has_values(known)) return kUnknown;
  return output_of(known, reference::concatenated(z_of(known, known.weights)), slip);
}

Maybe output_with_weights(const Known& known, const Heads& weights) {
  if (!has_values(known) || weights.size() != known.weights.size()) return kUnknown;
  return output_of(known, reference::concatenated(z_of(known, weights)));
}

Maybe output_with_values(const Known& known, const Maybe& values) {
  if (!values) return kUnknown;
  return output_of(known, reference::concatenated(weighted_values(known.weights, values->values)));
}

Maybe heads_not_brought_together(const Known& known) {
  if (!has_values(known) || known.num_heads < 2) return kUnknown;
  const Heads z = z_of(known, known.weights);
  Grid merged(known.queries(), z[0].cols() * known.num_heads);
  for (std::size_t head = 0; head < z.size(); ++head)
    std::copy_n(z[head].data(), z[head].size(), merged.data() + static_cast<Index>(head) * z[head].size());
  return output_of(known, merged);
}

Maybe weights_transposed(const Known& known) {
  if (!has_values(known) || known.queries() != known.keys()) return kUnknown;
  Heads weights;
  for (const Grid& head : known.weights) weights.emplace_back(head.transpose());
  return output_with_weights(known, weights);
}

}  // namespace headlight::mistakes
