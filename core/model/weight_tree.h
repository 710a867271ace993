// The layers of a block once: drawing, packing, training, storing and reading visit them with for_each_layer(). A new
// layer is added to BlockWeights and here.
#pragma once

#include "model/weights.h"

namespace headlight {

enum class LayerKind { query, key, value, output, gate, up, down, norm };

struct LayerName {
  LayerKind kind;
  const char* name;    // of its random numbers, and of its parameters in a training
  const char* stored;  // in checkpoints of models trained here
};

inline constexpr LayerName kSelfLayers[] = {{LayerKind::query, "query", "attention.query"},
                                            {LayerKind::key, "key", "attention.key"},
                                            {LayerKind::value, "value", "attention.value"},
                                            {LayerKind::output, "output", "attention.output"}};
inline constexpr LayerName kCrossLayers[] = {{LayerKind::query, "cross.query", "cross_attention.query"},
                                             {LayerKind::key, "cross.key", "cross_attention.key"},
                                             {LayerKind::value, "cross.value", "cross_attention.value"},
                                             {LayerKind::output, "cross.output", "cross_attention.output"}};
inline constexpr LayerName kFfnLayers[] = {
    {LayerKind::gate, "gate", "ffn.gate"}, {LayerKind::up, "up", "ffn.up"}, {LayerKind::down, "down", "ffn.down"}};
inline constexpr LayerName kNorms[] = {{LayerKind::norm, "attention_norm", "attention_norm"},
                                       {LayerKind::norm, "cross_norm", "cross_norm"},
                                       {LayerKind::norm, "ffn_norm", "ffn_norm"},
                                       {LayerKind::norm, "attention_after_norm", "attention_after_norm"},
                                       {LayerKind::norm, "ffn_after_norm", "ffn_after_norm"}};
inline constexpr LayerName kExpertLayers[] = {{LayerKind::gate, "expert.gate", "ffn.experts.gate"},
                                              {LayerKind::up, "expert.up", "ffn.experts.up"},
                                              {LayerKind::down, "expert.down", "ffn.experts.down"},
                                              {LayerKind::gate, "router", "ffn.router"}};

/// Calls visit(LayerName, Linear& or NormWeights&) for each layer in the order of the computation, also for those
/// without numbers; those of the cross-attention where the block has one. `Block` is BlockWeights or const
/// BlockWeights.
template <class Block, class Visit>
void for_each_layer(Block& block, const Visit& visit) {
  const auto visit_attention = [&](auto& attention, const LayerName(&layers)[4]) {
    visit(layers[0], attention.query);
    visit(layers[1], attention.key);
    visit(layers[2], attention.value);
    visit(layers[3], attention.output);
  };
  visit_attention(block.self, kSelfLayers);
  visit(kNorms[0], block.attention_norm);
  if (block.cross) {
    visit_attention(*block.cross, kCrossLayers);
    visit(kNorms[1], block.cross_norm);
  }
  visit(kFfnLayers[0], block.gate);
  visit(kFfnLayers[1], block.up);
  visit(kFfnLayers[2], block.down);
  visit(kNorms[2], block.ffn_norm);
  if (block.attention_after_norm) visit(kNorms[3], *block.attention_after_norm);
  if (block.ffn_after_norm) visit(kNorms[4], *block.ffn_after_norm);
  if (!block.experts) return;
  const auto visit_expert = [&](auto& expert) {
    visit(kExpertLayers[0], expert.gate);
    visit(kExpertLayers[1], expert.up);
    visit(kExpertLayers[2], expert.down);
  };
  visit(kExpertLayers[3], block.experts->router);
  for (auto& expert : block.experts->all) visit_expert(expert);
  if (block.experts->shared) visit_expert(*block.experts->shared);
  if (block.experts->shared_gate) visit(kExpertLayers[3], *block.experts->shared_gate);
}

}  // namespace headlight
