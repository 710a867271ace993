#include "explain/patch/neurons.h"

#include <algorithm>

#include "explain/matrices.h"
#include "math/variants.h"

namespace headlight {

Index num_neurons(const Trace& trace, Stack stack, Index layer) {
  const MatrixId hidden = matrix_id(Quantity::hidden, {layer, 0, stack});
  return stack != Stack::cross && exists(trace, hidden) ? shape(trace, hidden).cols : 0;
}

Matrix neuron_activations(const Trace& trace, Stack stack, Index layer) {
  return whole(trace, matrix_id(Quantity::hidden, {layer, 0, stack}));
}

NeuronPatches::NeuronPatches(const Patching& patching, const PatchWanted& wanted, const HeadRef& layer)
    : layer_{layer.layer, 0, layer.stack} {
  const auto activations = [&](const Trace& trace) { return neuron_activations(trace, layer.stack, layer.layer); };
  own_ = activations(patching.base);
  other_ =
      wanted.baseline.given() ? replacements(own_, wanted.baseline, activations).front() : activations(patching.source);
  given_ = part_of(patching.base, PatchAt::ffn, layer_);
  down_ = whole(patching.base, matrix_id(Quantity::down_weight, layer_));
}

Patch NeuronPatches::of(Index neuron, const TokenPairs& pairs) const {
  Patch patch{.at = PatchAt::ffn, .stack = layer_.stack, .layer = layer_.layer};
  patch.values.resize(static_cast<Index>(pairs.size()), given_.cols());
  for (const auto& [from, to] : pairs) {
    const float change = other_(from, neuron) - own_(to, neuron);
    patch.values.row(static_cast<Index>(patch.rows.size())) = given_.row(to) + change * down_.col(neuron).transpose();
    patch.rows.push_back(to);
  }
  return patch;
}

void add_neuron(Patches& patches, const Patch& one, const Trace& base) {
  const auto known = std::ranges::find_if(patches, [&](const Patch& other) {
    return other.stack == one.stack && other.layer == one.layer && other.rows == one.rows;
  });
  if (known == patches.end()) return patches.push_back(one);
  const Matrix given = part_of(base, PatchAt::ffn, {one.layer, 0, one.stack});
  for (std::size_t i = 0; i < one.rows.size(); ++i)
    known->values.row(static_cast<Index>(i)) += one.values.row(static_cast<Index>(i)) - given.row(one.rows[i]);
}

}  // namespace headlight
