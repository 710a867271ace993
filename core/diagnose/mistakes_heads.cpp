// Heads, projections, and the output, from the believed weights.
#include <algorithm>
#include <cmath>

#include "diagnose/hypotheses.h"

namespace headlight {

namespace {

using namespace mistakes;

/// One of the three projections, by itself.
struct ProjectionRole {
  const char* name;
  PredictedArray array;
  Grid Known::*projected;
  Grid LayerInputs::*input;
  reference::LinearLayer LayerInputs::*projection;
  Index Known::*num_heads;
};
constexpr ProjectionRole kQuery{
    "query", PredictedArray::queries, &Known::query, &LayerInputs::query, &LayerInputs::query_proj, &Known::num_heads};
constexpr ProjectionRole kKey{
    "key", PredictedArray::keys, &Known::key, &LayerInputs::key, &LayerInputs::key_proj, &Known::num_kv_heads};
constexpr ProjectionRole kValue{"value",
                                PredictedArray::values,
                                &Known::value,
                                &LayerInputs::value,
                                &LayerInputs::value_proj,
                                &Known::num_kv_heads};

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

/// The projection of one side; nothing where it is not known or the slip changes its shape.
std::optional<Grid> projected(const Known& known, const ProjectionRole& side, Slip slip) {
  if (!known.inputs || known.*side.num_heads == 0) return std::nullopt;
  const LayerInputs& inputs = *known.inputs;
  auto rows = project_with(inputs.*side.projection, inputs.*side.input, slip);
  return rows && rows->cols() == (known.*side.projected).cols() ? rows : std::nullopt;
}

Maybe permuted(const Known& known, const Heads& found) {
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
  prediction.text = words(heads_permuted) + ": they are heads " + order;
  return moved ? Maybe(prediction) : Maybe();
}

/// Queries and keys dealt out to heads in another way.
Maybe heads_split(const Known& known, HeadSplit how) {
  if (!can_split(known)) return kUnknown;
  return Prediction{attend(
      dot_products(split_heads(known.query, known.num_heads, how), split_heads(known.key, known.num_kv_heads, how)),
      known.scale, known.mask)};
}

Maybe swapped(const Known& known, const Heads& found) {
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

/// Attention with slips in the projections of query and key.
Maybe attention_with(const Known& known, Slip of_query, Slip of_key) {
  const auto query = projected(known, kQuery, of_query), key = projected(known, kKey, of_key);
  if (!query || !key) return kUnknown;
  return Prediction{attend(dot_products(split_heads(*query, known.num_heads, HeadSplit::blocks),
                                        split_heads(*key, known.num_kv_heads, HeadSplit::blocks)),
                           known.scale, known.mask)};
}

Maybe side_with(const Known& known, const ProjectionRole& side, Slip slip) {
  const auto rows = projected(known, side, slip);
  if (!rows) return kUnknown;
  return Prediction{split_heads(*rows, known.*side.num_heads, HeadSplit::blocks)};
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

/// z through the output projection, with a slip.
Maybe output_with(const Known& known, Slip slip) {
  if (!has_values(known)) return kUnknown;
  return output_of(known, reference::concatenated(z_of(known, known.weights)), slip);
}

Maybe output_with_values(const Known& known, const Maybe& values) {
  if (!values) return kUnknown;
  return output_of(known, reference::concatenated(weighted_values(known.weights, values->values)));
}

/// z (H, T, d_v) read on as (T, H·d_v) without swapping its first two axes.
Maybe not_brought_together(const Known& known) {
  if (!has_values(known) || known.num_heads < 2) return kUnknown;
  const Heads z = z_of(known, known.weights);
  Grid merged(known.queries(), z[0].cols() * known.num_heads);
  for (std::size_t head = 0; head < z.size(); ++head)
    std::copy_n(z[head].data(), z[head].size(), merged.data() + static_cast<Index>(head) * z[head].size());
  return output_of(known, merged);
}

/// Weightsᵀ·values.
Maybe transposed_weights(const Known& known) {
  if (!has_values(known) || known.queries() != known.keys()) return kUnknown;
  Heads weights;
  for (const Grid& head : known.weights) weights.emplace_back(head.transpose());
  return output_with_weights(known, weights);
}

const std::pair<Slip, MistakeCode> kSlips[] = {{Slip::transposed, projection_not_transposed},
                                               {Slip::bias_left_out, projection_bias_missing},
                                               {Slip::left_out, projection_missing}};

struct SplitRow {
  HeadSplit how;
  MistakeCode code;
  const char* of_side;    // of queries, keys or values, after their name
  const char* of_output;  // of values, where the output shows it
};
constexpr SplitRow kSplits[] = {
    {HeadSplit::interleaved, heads_interleaved,
     " heads split in the wrong order: every H-th column in place of d_k neighbours",
     "value heads split in the wrong order: every H-th column"},
    {HeadSplit::reshaped, heads_reshaped, " heads split in the wrong order: (T, H, d_k) read on as (H, T, d_k)",
     "value heads split without transposing: (T, H, d_k) read on as (H, T, d_k)"}};

}  // namespace

Maybe output_with_weights(const Known& known, const Heads& weights) {
  if (!has_values(known) || weights.size() != known.weights.size()) return kUnknown;
  return output_of(known, reference::concatenated(z_of(known, weights)));
}

void add_heads_and_projections(HypothesisTable& table) {
  table.add(heads_permuted, kWeights, permuted);
  for (const SplitRow& row : kSplits)
    table.add(row.code, kWeights, [how = row.how](const Known& known) { return heads_split(known, how); });
  table.add(query_key_swapped, kWeights, swapped);
  for (const auto& [slip, code] : kSlips)
    for (const auto& [role, query, key] :
         {std::tuple{"query", slip, Slip::none}, {"key", Slip::none, slip}, {"query and key", slip, slip}})
      table.add(
          code, kWeights, [q = query, k = key](const Known& known) { return attention_with(known, q, k); }, role);
  for (const ProjectionRole& side : {kQuery, kKey, kValue}) {
    for (const auto& [slip, code] : kSlips)
      table.add(
          code, side.array, [side, s = slip](const Known& known) { return side_with(known, side, s); }, side.name);
    for (const SplitRow& row : kSplits)
      table.add(
          row.code, side.array, [side, how = row.how](const Known& known) { return side_split(known, side, how); },
          side.name, std::string(side.name) + row.of_side);
  }
  table.add(query_already_scaled, PredictedArray::queries, query_scaled);
  for (const auto& [slip, code] : kSlips) {
    table.add(
        code, kOutput, [s = slip](const Known& known) { return output_with(known, s); }, "output");
    table.add(
        code, kOutput,
        [s = slip](const Known& known) { return output_with_values(known, side_with(known, kValue, s)); }, "value");
  }
  for (const auto& [how, code, of_side, text] : kSplits)
    table.add(
        code, kOutput,
        [h = how](const Known& known) { return output_with_values(known, side_split(known, kValue, h)); }, "value",
        text);
  table.add(merge_not_transposed, kOutput, not_brought_together);
  table.add(weights_transposed, kOutput, transposed_weights);
}

}  // namespace headlight
