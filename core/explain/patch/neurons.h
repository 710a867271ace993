// Neurons: the hidden activations of a feed-forward. Each adds its own vector, as often as it is active, to what the
// feed-forward gives; so one that is patched is a patch of ffn.
#pragma once

#include "explain/patch/patch_pass.h"

namespace headlight {

/// The neurons of a layer; 0 where it has no feed-forward, or one of experts.
Index num_neurons(const Trace& trace, Stack stack, Index layer);
/// (T, neurons): activation(up), or activation(gate)·up.
Matrix neuron_activations(const Trace& trace, Stack stack, Index layer);

/// The patches of the neurons of a layer.
class NeuronPatches {
 public:
  NeuronPatches(const Patching& patching, const PatchWanted& wanted, const HeadRef& layer);

  const HeadRef& layer() const { return layer_; }
  Patch of(Index neuron, const TokenPairs& pairs) const;

 private:
  HeadRef layer_;
  Matrix own_, other_;   // (T, neurons) of the base, and what is put in, by the tokens of the source
  Matrix given_, down_;  // (T, d_model) what the feed-forward of the base gives; (d_model, neurons)
};

/// Adds a patch of a neuron to others: neurons of the same layer and tokens change the same numbers.
void add_neuron(Patches& patches, const Patch& one, const Trace& base);

}  // namespace headlight
