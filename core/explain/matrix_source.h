// The source of a matrix: the weights and the stored results of its stack, its block and its attention.
#pragma once

#include "explain/matrices.h"
#include "model/edits.h"

namespace headlight {

/// Pointers are null where the model has no such part or no such layer.
struct MatrixSource {
  MatrixSource(const Trace& trace, const MatrixId& id);

  const Trace& trace;
  const Model& model;
  Stack which = Stack::self;
  PartsOff off = {};     // parts of the block
  bool pre = false;      // the norm comes before its sublayer, or is off
  bool bare = false;     // query, key and value from a tensors file: one attention without residual and norm
  bool pattern = false;  // weights that another program computed
  const ExternalStack* given = nullptr;
  const StackWeights* stack = nullptr;
  const StackTrace* stack_trace = nullptr;
  const BlockWeights* block = nullptr;
  const BlockTrace* block_trace = nullptr;
  const AttentionWeights* attention = nullptr;
  const AttentionTrace* attention_trace = nullptr;

  bool has_ffn() const { return block && block->has_ffn() && !off.ffn; }
  Index d_k() const { return attention_trace->query.cols() / attention_trace->num_heads(); }
  /// Of this attention; null: none.
  const Rotary* rotary() const { return stack && attention ? rotary_of(*stack, *attention, which) : nullptr; }
  /// The norm of queries or keys is over all heads together.
  bool is_wide(const NormWeights& norm) const { return norm.scale.size() > d_k(); }

  Index d_v() const { return attention_trace->value.cols() / attention_trace->num_kv_heads; }
};

/// The weights of the norm that computes this matrix, or that it belongs to; null where there is none.
const NormWeights* norm_of(const MatrixSource& source, Quantity quantity);

/// The linear layer that this weight or bias belongs to, of all heads; null for other kinds.
const Linear* linear_of(const MatrixSource& source, Quantity quantity);

/// The activation that computes this matrix.
Activation activation_of(const MatrixSource& source, Quantity quantity);

/// Whether dropout, or edits by hand, change the weights of this head after the softmax.
bool has_dropout(const Trace& trace);
bool is_set_by_hand(const Trace& trace, const HeadRef& head);

inline HeadRef head_ref(const MatrixId& id) { return {id.layer, id.head, id.stack}; }

/// The matrix of another kind, of the same stack, layer and head.
inline MatrixId beside(const MatrixId& id, Quantity quantity) { return matrix_id(quantity, head_ref(id)); }

}  // namespace headlight
