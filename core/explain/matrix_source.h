// What stands behind a matrix: the weights and the stored results of its stack, its block and its attention.
#pragma once

#include "explain/matrices.h"

namespace headlight {

/// Null pointers where the model has no such thing, or no such layer.
struct MatrixSource {
  MatrixSource(const Trace& trace, const MatrixId& id);

  const Trace& trace;
  const Model& model;
  bool pre = false;      // the norm comes before its sublayer
  bool bare = false;     // somebody's own query, key and value: one attention and nothing around it
  bool pattern = false;  // weights that another program computed
  const ExternalStack* given = nullptr;
  const StackWeights* stack = nullptr;
  const StackTrace* stack_trace = nullptr;
  const BlockWeights* block = nullptr;
  const BlockTrace* block_trace = nullptr;
  const AttentionWeights* attention = nullptr;
  const AttentionTrace* attention_trace = nullptr;

  Index d_k() const { return attention_trace->query.cols() / attention_trace->num_heads(); }
  Index d_v() const { return attention_trace->value.cols() / attention_trace->num_kv_heads; }
};

/// The weights of the norm that makes this matrix, or that it belongs to; null where there is none.
const NormWeights* norm_of(const MatrixSource& source, Quantity quantity);

/// The learned matrix or vector of a linear layer, whole (of all heads); null for other kinds.
const Linear* linear_of(const MatrixSource& source, Quantity quantity);

/// The activation that makes this matrix.
Activation activation_of(const MatrixSource& source, Quantity quantity);

/// The dropout and the hand that come between softmax and weights of this head.
bool has_dropout(const Trace& trace);
bool is_set_by_hand(const Trace& trace, const HeadRef& head);

inline HeadRef head_ref(const MatrixId& id) { return {id.layer, id.head, id.stack}; }

/// Another matrix at the same place.
inline MatrixId beside(const MatrixId& id, Quantity quantity) { return matrix_id(quantity, head_ref(id)); }

}  // namespace headlight
