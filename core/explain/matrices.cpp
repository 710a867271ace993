#include "explain/matrices.h"

#include <cassert>

#include "explain/matrix_kinds.h"
#include "explain/matrix_source.h"

namespace headlight {
namespace {

using Q = Quantity;

bool has_weight(const MatrixSource& source, Q quantity) {
  const Linear* linear = linear_of(source, quantity);
  return linear && !linear->is_identity();
}

/// A part of a linear layer or of a norm exists where the model has it.
bool exists_in_layer(const MatrixSource& source, const Kind& kind) {
  if (kind.role == MatrixRole::weight) return has_weight(source, kind.quantity);
  if (kind.role == MatrixRole::bias) {
    const Linear* linear = linear_of(source, kind.quantity);
    return linear && linear->bias.size() > 0;
  }
  const NormWeights* norm = norm_of(source, kind.quantity);
  return norm && (kind.role == MatrixRole::scale || norm->shift.size() > 0);
}

/// Rotated after the projection: everywhere but in cross-attention.
bool is_rotated(const MatrixSource& source, const MatrixId& id) {
  return id.stack != Stack::cross && source.rotary() != nullptr;
}

/// The matrices of a pattern from another program: no query, no key, no value.
bool exists_in_pattern(const MatrixSource& source, const MatrixId& id) {
  switch (id.quantity) {
    case Q::given_weights:
    case Q::log_weights:
    case Q::scores:
    case Q::exponentials: return !source.attention_trace->mask_of(id.head).is_open();
    case Q::mask: return source.attention_trace->mask->heads() == 0 && !source.attention_trace->mask->is_open();
    case Q::head_mask:
      return source.attention_trace->mask->heads() > 0 && !source.attention_trace->mask_of(id.head).is_open();
    case Q::softmax:
    case Q::weights: return true;
    case Q::dropped: return has_dropout(source.trace);
    default: return false;
  }
}

bool exists_in_head(const MatrixSource& source, const MatrixId& id) {
  switch (id.quantity) {
    case Q::query_projected: return norm_of(source, Q::query) || is_rotated(source, id);
    case Q::key_projected: return norm_of(source, Q::key) || is_rotated(source, id);
    case Q::query_normed: return norm_of(source, Q::query) && is_rotated(source, id);
    case Q::key_normed: return norm_of(source, Q::key) && is_rotated(source, id);
    case Q::given_weights:
    case Q::log_weights: return false;
    case Q::capped: return source.attention_trace->softcap > 0;
    case Q::distance_keys:
    case Q::content_to_position:
      return source.attention_trace->distances && source.attention_trace->distances->keys.size() > 0;
    case Q::distance_queries:
    case Q::position_to_content:
      return source.attention_trace->distances && source.attention_trace->distances->queries.size() > 0;
    case Q::sink: return source.attention_trace->sinks.size() > 0;
    case Q::relative_bias: return source.attention_trace->relative_bias != nullptr;
    case Q::head_mask: return source.attention_trace->mask->heads() > 0;
    case Q::dropped: return has_dropout(source.trace);
    case Q::head_output: return is_off(source.trace.request.edits, head_ref(id));
    default: return true;
  }
}

bool exists_in_attention(const MatrixSource& source, const MatrixId& id) {
  switch (id.quantity) {
    case Q::given_query:
    case Q::given_key:
    case Q::given_value: return source.bare;
    case Q::mask: return source.attention_trace->mask->heads() == 0;
    case Q::attention_after_normed: return norm_of(source, id.quantity) != nullptr;
    case Q::attention_sum: return !source.bare && !source.pre;
    default: return true;
  }
}

bool exists_in_ffn(const MatrixSource& source, Q quantity) {
  if (!source.has_ffn()) return false;
  const auto& experts = source.block->experts;
  switch (quantity) {
    case Q::router_scores:
    case Q::routing: return experts.has_value();
    case Q::shared_output: return experts && experts->shared;
    case Q::up:
    case Q::hidden: return !experts;
    case Q::ffn_after_normed: return norm_of(source, quantity) != nullptr;
    case Q::gate:
    case Q::activated_gate: return !experts && !source.block->ungated();
    case Q::ffn_sum: return !source.pre;
    default: return true;
  }
}

bool exists_in_embedding(const MatrixSource& source, Q quantity) {
  if (source.bare) return quantity == Q::embedding;
  const Embeddings& embeddings = source.stack->embeddings;
  switch (quantity) {
    case Q::token_lookup: return embeddings.scale != 1.0f;
    case Q::position_vectors:
      return source.model.config.position != Position::none && source.model.config.position != Position::rotary;
    case Q::type_vectors: return embeddings.token_types.size() > 0;
    case Q::embedding_sum: return embeddings.norm.has_value() || has_weight(source, Q::embedding_projection_weight);
    case Q::embedding_normed: return embeddings.norm.has_value() && has_weight(source, Q::embedding_projection_weight);
    default: return true;
  }
}

bool exists_at_end(const MatrixSource& source, Q quantity) {
  if (classifies(source.model)) return quantity == Q::last_hidden_state;  // what mixes all tokens is no such step
  switch (quantity) {
    case Q::transformed: return norm_of(source, quantity) != nullptr;
    case Q::transform:
    case Q::activated_transform: return has_weight(source, Q::transform_weight);
    case Q::vocabulary_bias: return source.model.output && source.model.output->bias.size() > 0;
    case Q::unscaled_logits: return source.model.output && source.model.output->scale != 1.0f;
    case Q::uncapped_logits: return source.model.output && source.model.output->softcap > 0;
    case Q::last_hidden_state: return true;
    default: return source.model.output.has_value();
  }
}

/// The number of tokens along this side of a matrix.
Index tokens_of(const MatrixSource& source, const MatrixId& id, Axis side) {
  const Tokens& tokens = side == Axis::keys ? source.trace.key_tokens(id.stack) : source.trace.query_tokens(id.stack);
  return static_cast<Index>(tokens.size());
}

Index d_model(const MatrixSource& source) {
  return source.bare ? source.given->query.cols() : source.model.config.d_model;
}

/// The width of the tables of embeddings, and of what the vocabulary's weight reads.
Index table_width(const MatrixSource& source, const MatrixId& id) {
  if (kind_of(id.quantity).part == MatrixPart::output) return source.model.output->weight->inputs();
  const Linear& projection = source.stack->embeddings.projection;
  return projection.is_identity() ? d_model(source) : projection.inputs();
}

/// The width of what an attention gives.
Index output_width(const AttentionWeights& weights, const AttentionTrace& trace) {
  return weights.output.is_identity() ? trace.z.cols() : weights.output.outputs();
}

/// The width of what a projection of this head reads.
Index input_width(const MatrixSource& source, Q quantity) {
  switch (quantity) {
    case Q::given_query: return source.given->query.cols();
    case Q::given_key: return source.given->key.cols();
    case Q::given_value: return source.given->value.cols();
    default: return linear_of(source, quantity)->inputs();
  }
}

Index length(const MatrixSource& source, const MatrixId& id, Axis axis) {
  switch (axis) {
    case Axis::queries:
    case Axis::keys: return tokens_of(source, id, axis);
    case Axis::d_k: {
      const MatrixRole role = kind_of(id.quantity).role;
      return role == MatrixRole::scale || role == MatrixRole::shift ? norm_of(source, id.quantity)->scale.size()
                                                                    : source.d_k();
    }
    case Axis::d_v: return source.d_v();
    case Axis::heads_d_v: return source.d_v() * source.attention_trace->num_heads();
    case Axis::ffn: return source.block->up.outputs();
    case Axis::embedding: return table_width(source, id);
    case Axis::vocabulary: return source.model.output->weight->outputs();
    case Axis::one: return 1;
    case Axis::experts: return source.block->experts->router.outputs();
    case Axis::distances: return source.attention_trace->distances->rows();
    case Axis::d_model: break;
  }
  switch (id.quantity) {
    case Q::output_weight:
    case Q::output_bias:
    case Q::attention_output:
    case Q::contribution: return output_width(*source.attention, *source.attention_trace);
    case Q::after_attention:
    case Q::block_output:
    case Q::last_hidden_state: return source.bare ? source.trace.last_hidden_state().cols() : d_model(source);
    case Q::query_weight:
    case Q::key_weight:
    case Q::value_weight:
    case Q::given_query:
    case Q::given_key:
    case Q::given_value: return input_width(source, id.quantity);
    default: return d_model(source);
  }
}

std::string stack_name(const Trace& trace, Stack stack) {
  if (trace.model->given && trace.model->given->stacks.size() == 1) return "attention";
  if (trace.model->given) return stack == Stack::encoder ? "encoder" : "decoder";
  return stack == Stack::encoder || trace.model->config.arch == Arch::encoder ? "encoder" : "decoder";
}

/// Adds the matrix where it exists and equals no other one.
void add(const Trace& trace, std::vector<MatrixId>& list, const MatrixId& id) {
  if (!exists(trace, id) || origin(trace, id) != id) return;
  // Where nothing changes the softmax, the weights equal it: only the weights are listed.
  if (id.quantity == Q::softmax && !has_dropout(trace) && !is_set_by_hand(trace, head_ref(id))) return;
  list.push_back(id);
}

void add_range(const Trace& trace, std::vector<MatrixId>& list, const HeadRef& head, Q first, Q last) {
  for (int q = static_cast<int>(first); q <= static_cast<int>(last); ++q)
    add(trace, list, matrix_id(static_cast<Quantity>(q), head));
}

/// One attention of a block; without a head only what belongs to all heads.
void add_attention(const Trace& trace, std::vector<MatrixId>& list, const HeadRef& head, bool with_head) {
  const bool pre = MatrixSource(trace, matrix_id(Q::attention_input, head)).pre;
  add_range(trace, list, head, Q::given_query, Q::given_value);
  if (pre) add_range(trace, list, head, Q::attention_norm_scale, Q::attention_norm_shift);
  add(trace, list, matrix_id(Q::attention_input, head));
  for (int q = static_cast<int>(Q::query_weight); q <= static_cast<int>(Q::z); ++q)
    if (with_head || !is_per_head(static_cast<Quantity>(q)))
      add(trace, list, matrix_id(static_cast<Quantity>(q), head));
  add_range(trace, list, head, Q::concat, Q::output_bias);
  if (with_head) add(trace, list, matrix_id(Q::contribution, head));
  add_range(trace, list, head, Q::attention_output, Q::attention_sum);
  if (!pre) add_range(trace, list, head, Q::attention_norm_scale, Q::attention_norm_shift);
  add(trace, list, matrix_id(Q::after_attention, head));
}

void add_ffn(const Trace& trace, std::vector<MatrixId>& list, const HeadRef& head) {
  const bool pre = MatrixSource(trace, matrix_id(Q::ffn_input, head)).pre;
  if (pre) add_range(trace, list, head, Q::ffn_norm_scale, Q::ffn_norm_shift);
  add_range(trace, list, head, Q::ffn_input, Q::ffn_sum);
  if (!pre) add_range(trace, list, head, Q::ffn_norm_scale, Q::ffn_norm_shift);
  add(trace, list, matrix_id(Q::block_output, head));
}

}  // namespace

MatrixId matrix_id(Quantity quantity, const HeadRef& head) {
  MatrixId id{quantity, head.stack, head.layer, head.head};
  const MatrixPart part = kind_of(quantity).part;
  if (part != MatrixPart::head) id.head = 0;
  if (part == MatrixPart::embedding || part == MatrixPart::end || part == MatrixPart::output) id.layer = 0;
  if (part != MatrixPart::head && part != MatrixPart::attention && id.stack == Stack::cross) id.stack = Stack::self;
  if (part == MatrixPart::output) id.stack = Stack::self;
  return id;
}

bool is_per_head(Quantity quantity) { return kind_of(quantity).part == MatrixPart::head; }
bool is_learned(Quantity quantity) { return kind_of(quantity).role != MatrixRole::computed; }

bool exists(const Trace& trace, const MatrixId& id) {
  const MatrixSource source(trace, id);
  const MatrixPart part = kind_of(id.quantity).part;
  if (!source.stack_trace) return false;
  if (part == MatrixPart::head || part == MatrixPart::attention)
    if (!source.attention_trace || id.head < 0 || id.head >= source.attention_trace->num_heads()) return false;
  if (source.pattern)
    return (part == MatrixPart::head || part == MatrixPart::attention) && exists_in_pattern(source, id);
  if (kind_of(id.quantity).role >= MatrixRole::weight) return exists_in_layer(source, kind_of(id.quantity));
  switch (part) {
    case MatrixPart::head: return exists_in_head(source, id);
    case MatrixPart::attention: return exists_in_attention(source, id);
    case MatrixPart::ffn: return exists_in_ffn(source, id.quantity);
    case MatrixPart::block: return source.block_trace != nullptr;
    case MatrixPart::embedding: return exists_in_embedding(source, id.quantity);
    case MatrixPart::end:
    case MatrixPart::output: break;
  }
  return exists_at_end(source, id.quantity);
}

Axes axes(const Trace& trace, const MatrixId& id) {
  const Kind& kind = kind_of(id.quantity);
  const MatrixSource source(trace, id);
  const auto as_it_is = [&](Axis axis) {
    return axis == Axis::embedding && table_width(source, id) == d_model(source) ? Axis::d_model : axis;
  };
  return {as_it_is(kind.rows), as_it_is(kind.cols)};
}

Shape shape(const Trace& trace, const MatrixId& id) {
  assert(exists(trace, id));
  const MatrixSource source(trace, id);
  const Kind& kind = kind_of(id.quantity);
  return {length(source, id, kind.rows), length(source, id, kind.cols)};
}

const Tokens* tokens_along(const Trace& trace, const MatrixId& id, Axis axis) {
  if (axis == Axis::queries) return &trace.query_tokens(id.stack);
  return axis == Axis::keys ? &trace.key_tokens(id.stack) : nullptr;
}

Matrix whole(const Trace& trace, const MatrixId& id) { return rows_of(trace, id, 0, shape(trace, id).rows); }

std::string path(const Trace& trace, const MatrixId& id) {
  const Kind& kind = kind_of(id.quantity);
  const std::string stack = stack_name(trace, id.stack);
  const std::string layer = stack + "." + std::to_string(id.layer) + ".";
  const std::string attention = layer + (id.stack == Stack::cross ? "cross." : "self.");
  switch (kind.part) {
    case MatrixPart::embedding: return stack + ".embedding." + kind.name;
    case MatrixPart::attention: return attention + kind.name;
    case MatrixPart::head: return attention + std::to_string(id.head) + "." + kind.name;
    case MatrixPart::ffn: return layer + "ffn." + kind.name;
    case MatrixPart::block: return layer + kind.name;
    case MatrixPart::end: return stack + "." + kind.name;
    case MatrixPart::output: break;
  }
  return std::string("output.") + kind.name;
}

std::string symbol(const MatrixId& id) { return kind_of(id.quantity).symbol; }

std::vector<MatrixId> matrices_of(const Trace& trace, Stack stack, Index layer, Index head) {
  std::vector<MatrixId> list;
  const Stack own = stack == Stack::cross ? Stack::self : stack;
  add_attention(trace, list, {layer, stack == own ? head : 0, own}, stack == own);
  if (own == Stack::self && trace.has(Stack::cross))
    add_attention(trace, list, {layer, stack == Stack::cross ? head : 0, Stack::cross}, stack == Stack::cross);
  add_ffn(trace, list, {layer, 0, own});
  return list;
}

std::vector<MatrixId> matrices_of_embedding(const Trace& trace, Stack stack) {
  std::vector<MatrixId> list;
  add_range(trace, list, {.stack = stack}, Q::token_lookup, Q::embedding);
  return list;
}

}  // namespace headlight
