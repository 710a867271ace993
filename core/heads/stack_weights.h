// The weights that a stack and its layers have. A cross-attention stands in the blocks of the stack that answers.
#pragma once

#include "model/head.h"
#include "model/weights.h"

namespace headlight {

inline const StackWeights& stack_weights(const Model& model, Stack stack) {
  return stack == Stack::encoder ? *model.encoder : model;
}

inline const BlockWeights& block_weights(const Model& model, Stack stack, Index layer) {
  return stack_weights(model, stack).blocks[static_cast<std::size_t>(layer)];
}

inline const AttentionWeights& attention_weights(const Model& model, Stack stack, Index layer) {
  const BlockWeights& block = block_weights(model, stack, layer);
  return stack == Stack::cross ? *block.cross : block.self;
}

}  // namespace headlight
