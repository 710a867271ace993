#include "explain/matrices.h"

#include <algorithm>
#include <cassert>

#include "explain/matrix_kinds.h"
#include "explain/matrix_source.h"
#include "explain/recipe.h"

namespace headlight {
namespace {

using Q = Quantity;

bool has_weight(const MatrixSource& way, Q quantity) {
  const Linear* linear = linear_of(way, quantity);
  return linear && !linear->is_identity();
}

bool has_bias(const MatrixSource& way, Q quantity) {
  const Linear* linear = linear_of(way, quantity);
  return linear && linear->bias.size() > 0;
}

bool has_shift(const MatrixSource& way, Q quantity) {
  const NormWeights* norm = norm_of(way, quantity);
  return norm && norm->shift.size() > 0;
}

/// Rotated after the projection: everywhere but in cross-attention.
bool is_turned(const MatrixSource& way, const MatrixId& id) {
  return id.stack != Stack::cross && way.stack->rotary.has_value();
}

/// What a pattern that another program computed has: no query, no key, no value.
bool exists_in_pattern(const MatrixSource& way, const MatrixId& id) {
  switch (id.quantity) {
    case Q::given_weights:
    case Q::log_weights:
    case Q::mask:
    case Q::scores:
    case Q::exponentials: return !way.attention_trace->mask->is_open();
    case Q::softmax:
    case Q::weights: return true;
    case Q::dropped: return has_dropout(way.trace);
    default: return false;
  }
}

bool exists_in_head(const MatrixSource& way, const MatrixId& id) {
  switch (id.quantity) {
    case Q::query_weight:
    case Q::key_weight:
    case Q::value_weight: return has_weight(way, id.quantity);
    case Q::query_bias:
    case Q::key_bias:
    case Q::value_bias: return has_bias(way, id.quantity);
    case Q::query_projected: return norm_of(way, Q::query) || is_turned(way, id);
    case Q::key_projected: return norm_of(way, Q::key) || is_turned(way, id);
    case Q::query_normed: return norm_of(way, Q::query) && is_turned(way, id);
    case Q::key_normed: return norm_of(way, Q::key) && is_turned(way, id);
    case Q::given_weights:
    case Q::log_weights: return false;
    case Q::relative_bias: return way.attention_trace->relative_bias != nullptr;
    case Q::dropped: return has_dropout(way.trace);
    case Q::head_output: return is_off(way.trace.request.edits, head_ref(id));
    default: return true;
  }
}

bool exists_in_attention(const MatrixSource& way, const MatrixId& id) {
  switch (id.quantity) {
    case Q::given_query:
    case Q::given_key:
    case Q::given_value: return way.bare;
    case Q::attention_norm_scale:
    case Q::query_norm_scale:
    case Q::key_norm_scale: return norm_of(way, id.quantity) != nullptr;
    case Q::attention_norm_shift:
    case Q::query_norm_shift:
    case Q::key_norm_shift: return has_shift(way, id.quantity);
    case Q::output_weight: return has_weight(way, id.quantity);
    case Q::output_bias: return has_bias(way, id.quantity);
    case Q::attention_sum: return !way.bare && !way.pre;
    default: return true;
  }
}

bool exists_in_ffn(const MatrixSource& way, Q quantity) {
  if (!way.block || !way.block->has_ffn()) return false;
  const bool gated = !way.block->ungated();
  switch (quantity) {
    case Q::ffn_norm_shift: return has_shift(way, quantity);
    case Q::gate_weight:
    case Q::gate:
    case Q::activated_gate: return gated;
    case Q::gate_bias: return gated && has_bias(way, quantity);
    case Q::up_bias:
    case Q::down_bias: return has_bias(way, quantity);
    case Q::ffn_sum: return !way.pre;
    default: return true;
  }
}

bool exists_in_embedding(const MatrixSource& way, Q quantity) {
  if (way.bare) return quantity == Q::embedding;
  const Embeddings& embeddings = way.stack->embeddings;
  switch (quantity) {
    case Q::token_lookup: return embeddings.scale != 1.0f;
    case Q::position_vectors:
      return way.model.config.position != Position::none && way.model.config.position != Position::rotary;
    case Q::type_vectors: return embeddings.token_types.size() > 0;
    case Q::embedding_sum: return embeddings.norm.has_value() || has_weight(way, Q::embedding_projection_weight);
    case Q::embedding_norm_scale: return embeddings.norm.has_value();
    case Q::embedding_norm_shift: return has_shift(way, quantity);
    case Q::embedding_normed: return embeddings.norm.has_value() && has_weight(way, Q::embedding_projection_weight);
    case Q::embedding_projection_weight: return has_weight(way, quantity);
    case Q::embedding_projection_bias: return has_bias(way, quantity);
    default: return true;
  }
}

bool exists_at_end(const MatrixSource& way, Q quantity) {
  switch (quantity) {
    case Q::final_norm_scale:
    case Q::transform_norm_scale:
    case Q::transformed: return norm_of(way, quantity) != nullptr;
    case Q::final_norm_shift:
    case Q::transform_norm_shift: return has_shift(way, quantity);
    case Q::transform_weight:
    case Q::transform:
    case Q::activated_transform: return has_weight(way, Q::transform_weight);
    case Q::transform_bias: return has_bias(way, quantity);
    case Q::vocabulary_bias: return way.model.output && way.model.output->bias.size() > 0;
    case Q::unscaled_logits: return way.model.output && way.model.output->scale != 1.0f;
    case Q::last_hidden_state: return true;
    default: return way.model.output.has_value();
  }
}

/// The stack whose token sequence a matrix's rows are.
Index tokens_of(const MatrixSource& way, const MatrixId& id, Axis side) {
  const Tokens& tokens = side == Axis::keys ? way.trace.key_tokens(id.stack) : way.trace.query_tokens(id.stack);
  return static_cast<Index>(tokens.size());
}

Index d_model(const MatrixSource& way) { return way.bare ? way.given->query.cols() : way.model.config.d_model; }

/// The width of the tables of embeddings, and of what the vocabulary's weight reads.
Index table_width(const MatrixSource& way, const MatrixId& id) {
  if (kind_of(id.quantity).part == MatrixPart::output) return way.model.output->weight->inputs();
  const Linear& projection = way.stack->embeddings.projection;
  return projection.is_identity() ? d_model(way) : projection.inputs();
}

/// The width of what an attention gives.
Index output_width(const AttentionWeights& weights, const AttentionTrace& trace) {
  return weights.output.is_identity() ? trace.z.cols() : weights.output.outputs();
}

/// The width of what a projection of this head reads.
Index input_width(const MatrixSource& way, Q quantity) {
  switch (quantity) {
    case Q::given_query: return way.given->query.cols();
    case Q::given_key: return way.given->key.cols();
    case Q::given_value: return way.given->value.cols();
    default: return linear_of(way, quantity)->inputs();
  }
}

Index length(const MatrixSource& way, const MatrixId& id, Axis axis) {
  switch (axis) {
    case Axis::queries:
    case Axis::keys: return tokens_of(way, id, axis);
    case Axis::d_k: return way.d_k();
    case Axis::d_v: return way.d_v();
    case Axis::heads_d_v: return way.d_v() * way.attention_trace->num_heads();
    case Axis::ffn: return way.block->up.outputs();
    case Axis::embedding: return table_width(way, id);
    case Axis::vocabulary: return way.model.output->weight->outputs();
    case Axis::one: return 1;
    case Axis::d_model: break;
  }
  switch (id.quantity) {
    case Q::output_weight:
    case Q::output_bias:
    case Q::attention_output:
    case Q::contribution: return output_width(*way.attention, *way.attention_trace);
    case Q::after_attention:
    case Q::block_output:
    case Q::last_hidden_state: return way.bare ? way.trace.last_hidden_state().cols() : d_model(way);
    case Q::query_weight:
    case Q::key_weight:
    case Q::value_weight:
    case Q::given_query:
    case Q::given_key:
    case Q::given_value: return input_width(way, id.quantity);
    default: return d_model(way);
  }
}

std::string stack_name(const Trace& trace, Stack stack) {
  if (trace.model->given && trace.model->given->stacks.size() == 1) return "attention";
  if (trace.model->given) return stack == Stack::encoder ? "encoder" : "decoder";
  return stack == Stack::encoder || trace.model->config.arch == Arch::encoder ? "encoder" : "decoder";
}

/// Adds what has numbers of its own.
void add(const Trace& trace, std::vector<MatrixId>& list, const MatrixId& id) {
  if (!exists(trace, id) || origin(trace, id) != id) return;
  // Where nothing comes between softmax and weights they are the same: the weights are listed.
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
bool is_learned(Quantity quantity) { return kind_of(quantity).learned; }

bool exists(const Trace& trace, const MatrixId& id) {
  const MatrixSource way(trace, id);
  const MatrixPart part = kind_of(id.quantity).part;
  if (!way.stack_trace) return false;
  if (part == MatrixPart::head || part == MatrixPart::attention)
    if (!way.attention_trace || id.head < 0 || id.head >= way.attention_trace->num_heads()) return false;
  if (way.pattern) return (part == MatrixPart::head || part == MatrixPart::attention) && exists_in_pattern(way, id);
  switch (part) {
    case MatrixPart::head: return exists_in_head(way, id);
    case MatrixPart::attention: return exists_in_attention(way, id);
    case MatrixPart::ffn: return exists_in_ffn(way, id.quantity);
    case MatrixPart::block: return way.block_trace != nullptr;
    case MatrixPart::embedding: return exists_in_embedding(way, id.quantity);
    case MatrixPart::end:
    case MatrixPart::output: break;
  }
  return exists_at_end(way, id.quantity);
}

Axes axes(const Trace& trace, const MatrixId& id) {
  const Kind& kind = kind_of(id.quantity);
  const MatrixSource way(trace, id);
  const auto as_it_is = [&](Axis axis) {
    return axis == Axis::embedding && table_width(way, id) == d_model(way) ? Axis::d_model : axis;
  };
  return {as_it_is(kind.rows), as_it_is(kind.cols)};
}

Shape shape(const Trace& trace, const MatrixId& id) {
  assert(exists(trace, id));
  const MatrixSource way(trace, id);
  const Kind& kind = kind_of(id.quantity);
  return {length(way, id, kind.rows), length(way, id, kind.cols)};
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

std::vector<MatrixId> matrices_of_output(const Trace& trace, Stack stack) {
  std::vector<MatrixId> list;
  add_range(trace, list, {.stack = stack}, Q::final_norm_scale, Q::last_hidden_state);
  if (stack != Stack::encoder) add_range(trace, list, {}, Q::transform_weight, Q::probabilities);
  return list;
}

}  // namespace headlight
