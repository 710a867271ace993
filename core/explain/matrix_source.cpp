#include "explain/matrix_source.h"

#include <algorithm>

#include "explain/matrix_kinds.h"
#include "math/output.h"

namespace headlight {

MatrixSource::MatrixSource(const Trace& of, const MatrixId& id) : trace(of), model(*of.model), which(id.stack) {
  if (!trace.has(id.stack)) return;
  if (model.given) {
    given = &model.given->stacks.at(id.stack);
    pattern = !given->patterns.empty();
    bare = !pattern;
  }
  if (!model.given) off = parts_off(trace.request.edits, id.stack, id.layer);
  pre = !model.given && (model.config.norm == Norm::pre || off.norm);
  stack_trace = id.stack == Stack::encoder ? trace.encoder.get() : &trace;
  if (!pattern) stack = id.stack == Stack::encoder ? &*model.encoder : &model;
  const auto layer = static_cast<std::size_t>(id.layer);
  if (id.layer < 0 || layer >= stack_trace->blocks.size()) return;
  block_trace = &stack_trace->blocks[layer];
  if (stack) block = &stack->blocks[layer];
  if (id.stack != Stack::cross) {
    attention_trace = &block_trace->self;
    if (block) attention = &block->self;
  } else if (block_trace->cross) {
    attention_trace = &*block_trace->cross;
    if (block) attention = &*block->cross;
  }
}

const NormWeights* norm_of(const MatrixSource& source, Quantity quantity) {
  if (source.model.given && !source.attention) return nullptr;
  const auto norm = kind_of(quantity).norm;
  return norm ? norm(source) : nullptr;
}

const Linear* linear_of(const MatrixSource& source, Quantity quantity) {
  const auto linear = kind_of(quantity).linear;
  return linear ? linear(source) : nullptr;
}

Activation activation_of(const MatrixSource& source, Quantity quantity) {
  return quantity == Quantity::activated_transform ? transform_activation(source.model)
                                                   : source.model.config.activation;
}

bool has_dropout(const Trace& trace) { return trace.request.edits.dropout > 0.0f; }

bool is_set_by_hand(const Trace& trace, const HeadRef& head) {
  const auto& edits = trace.request.edits.weights;
  return std::any_of(edits.begin(), edits.end(), [&](const WeightEdit& edit) { return edit.head == head; });
}

}  // namespace headlight
