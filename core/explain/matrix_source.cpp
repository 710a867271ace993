#include "explain/matrix_source.h"

#include <algorithm>

#include "math/output.h"

namespace headlight {

MatrixSource::MatrixSource(const Trace& of, const MatrixId& id) : trace(of), model(*of.model) {
  if (!trace.has(id.stack)) return;
  if (model.given) {
    given = &model.given->stacks.at(id.stack);
    pattern = !given->patterns.empty();
    bare = !pattern;
  }
  pre = !model.given && model.config.norm == Norm::pre;
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

const NormWeights* norm_of(const MatrixSource& way, Quantity quantity) {
  const auto pointer = [](const std::optional<NormWeights>& norm) { return norm ? &*norm : nullptr; };
  if (way.model.given && !way.attention) return nullptr;
  switch (quantity) {
    case Quantity::embedding_norm_scale:
    case Quantity::embedding_norm_shift:
    case Quantity::embedding_normed:
    case Quantity::embedding: return way.bare || !way.stack ? nullptr : pointer(way.stack->embeddings.norm);
    case Quantity::attention_norm_scale:
    case Quantity::attention_norm_shift:
    case Quantity::attention_input:
    case Quantity::after_attention:
      if (way.bare || !way.attention) return nullptr;
      return way.attention == &way.block->self ? &way.block->attention_norm : &way.block->cross_norm;
    case Quantity::query_norm_scale:
    case Quantity::query_norm_shift:
    case Quantity::query_normed:
    case Quantity::query: return way.attention ? pointer(way.attention->query_norm) : nullptr;
    case Quantity::key_norm_scale:
    case Quantity::key_norm_shift:
    case Quantity::key_normed:
    case Quantity::key: return way.attention ? pointer(way.attention->key_norm) : nullptr;
    case Quantity::ffn_norm_scale:
    case Quantity::ffn_norm_shift:
    case Quantity::ffn_input:
    case Quantity::block_output: return way.block && way.block->has_ffn() ? &way.block->ffn_norm : nullptr;
    case Quantity::final_norm_scale:
    case Quantity::final_norm_shift:
    case Quantity::last_hidden_state: return way.bare || !way.stack ? nullptr : pointer(way.stack->final_norm);
    case Quantity::transform_norm_scale:
    case Quantity::transform_norm_shift:
    case Quantity::transformed: return way.model.output ? pointer(way.model.output->transform_norm) : nullptr;
    default: return nullptr;
  }
}

const Linear* linear_of(const MatrixSource& way, Quantity quantity) {
  switch (quantity) {
    case Quantity::embedding_projection_weight:
    case Quantity::embedding_projection_bias: return way.stack ? &way.stack->embeddings.projection : nullptr;
    case Quantity::transform_weight:
    case Quantity::transform_bias: return way.model.output ? &way.model.output->transform : nullptr;
    case Quantity::vocabulary_weight: return way.model.output ? way.model.output->weight.get() : nullptr;
    case Quantity::query_weight:
    case Quantity::query_bias: return way.attention ? &way.attention->query : nullptr;
    case Quantity::key_weight:
    case Quantity::key_bias: return way.attention ? &way.attention->key : nullptr;
    case Quantity::value_weight:
    case Quantity::value_bias: return way.attention ? &way.attention->value : nullptr;
    case Quantity::output_weight:
    case Quantity::output_bias: return way.attention ? &way.attention->output : nullptr;
    case Quantity::gate_weight:
    case Quantity::gate_bias: return way.block ? &way.block->gate : nullptr;
    case Quantity::up_weight:
    case Quantity::up_bias: return way.block ? &way.block->up : nullptr;
    case Quantity::down_weight:
    case Quantity::down_bias: return way.block ? &way.block->down : nullptr;
    default: return nullptr;
  }
}

Activation activation_of(const MatrixSource& way, Quantity quantity) {
  return quantity == Quantity::activated_transform ? transform_activation(way.model) : way.model.config.activation;
}

bool has_dropout(const Trace& trace) { return trace.request.edits.dropout > 0.0f; }

bool is_set_by_hand(const Trace& trace, const HeadRef& head) {
  const auto& edits = trace.request.edits.weights;
  return std::any_of(edits.begin(), edits.end(), [&](const WeightEdit& edit) { return edit.head == head; });
}

}  // namespace headlight
