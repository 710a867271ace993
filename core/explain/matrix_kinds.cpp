#include "explain/matrix_kinds.h"

#include <iterator>

#include "base/names.h"
#include "explain/matrix_source.h"

namespace headlight {
namespace {

using Q = Quantity;
using P = MatrixPart;
using A = Axis;

using R = MatrixRole;

const Linear* embedding_projection(const MatrixSource& source) {
  return source.stack ? &source.stack->embeddings.projection : nullptr;
}
const Linear* transform_layer(const MatrixSource& source) {
  return source.model.output ? &source.model.output->transform : nullptr;
}
const Linear* vocabulary_layer(const MatrixSource& source) {
  return source.model.output ? source.model.output->weight.get() : nullptr;
}
template <Linear AttentionWeights::*kLayer>
const Linear* of_attention(const MatrixSource& source) {
  return source.attention ? &(source.attention->*kLayer) : nullptr;
}
template <Linear BlockWeights::*kLayer>
const Linear* of_block(const MatrixSource& source) {
  return source.block ? &(source.block->*kLayer) : nullptr;
}

const NormWeights* pointer(const std::optional<NormWeights>& norm) { return norm ? &*norm : nullptr; }
const NormWeights* embedding_norm(const MatrixSource& source) {
  return source.bare || !source.stack ? nullptr : pointer(source.stack->embeddings.norm);
}
const Linear* router_layer(const MatrixSource& source) {
  return source.block && source.block->experts ? &source.block->experts->router : nullptr;
}
/// The norm; null where the model has none there, which an identity represents.
const NormWeights* present(const NormWeights& norm) { return norm.is_identity() ? nullptr : &norm; }
const NormWeights* attention_norm(const MatrixSource& source) {
  if (source.bare || source.off.norm || !source.attention) return nullptr;
  return present(source.attention == &source.block->self ? source.block->attention_norm : source.block->cross_norm);
}
template <std::optional<NormWeights> AttentionWeights::*kNorm>
const NormWeights* norm_of_head(const MatrixSource& source) {
  return source.attention ? pointer(source.attention->*kNorm) : nullptr;
}
const NormWeights* ffn_norm(const MatrixSource& source) {
  return source.has_ffn() && !source.off.norm ? present(source.block->ffn_norm) : nullptr;
}
const NormWeights* attention_after_norm(const MatrixSource& source) {
  const bool own = !source.bare && !source.off.norm && source.attention && source.attention == &source.block->self;
  return own ? pointer(source.block->attention_after_norm) : nullptr;
}
const NormWeights* ffn_after_norm(const MatrixSource& source) {
  return source.has_ffn() && !source.off.norm ? pointer(source.block->ffn_after_norm) : nullptr;
}
const NormWeights* final_norm(const MatrixSource& source) {
  return source.bare || !source.stack ? nullptr : pointer(source.stack->final_norm);
}
const NormWeights* transform_norm(const MatrixSource& source) {
  return source.model.output ? pointer(source.model.output->transform_norm) : nullptr;
}

/// In the order of Quantity.
constexpr Kind kKinds[] = {
    {Q::token_lookup, P::embedding, "lookup", "E", A::queries, A::embedding, R::given},
    {Q::token_vectors, P::embedding, "tokens", "token", A::queries, A::embedding},
    {Q::position_vectors, P::embedding, "positions", "position", A::queries, A::embedding},
    {Q::type_vectors, P::embedding, "types", "type", A::queries, A::embedding, R::given},
    {Q::embedding_sum, P::embedding, "sum", "sum", A::queries, A::embedding},
    {Q::embedding_norm_scale, P::embedding, "norm.scale", "γ", A::one, A::embedding, R::scale, nullptr, embedding_norm},
    {Q::embedding_norm_shift, P::embedding, "norm.shift", "β", A::one, A::embedding, R::shift, nullptr, embedding_norm},
    {Q::embedding_normed, P::embedding, "normed", "norm(sum)", A::queries, A::embedding, R::computed, nullptr,
     embedding_norm},
    {Q::embedding_projection_weight, P::embedding, "projection.weight", "W_E", A::d_model, A::embedding, R::weight,
     embedding_projection},
    {Q::embedding_projection_bias, P::embedding, "projection.bias", "b_E", A::one, A::d_model, R::bias,
     embedding_projection},
    {Q::embedding, P::embedding, "output", "x", A::queries, A::d_model, R::computed, nullptr, embedding_norm},
    {Q::given_query, P::attention, "given.query", "query", A::queries, A::d_model, R::given},
    {Q::given_key, P::attention, "given.key", "key", A::keys, A::d_model, R::given},
    {Q::given_value, P::attention, "given.value", "value", A::keys, A::d_model, R::given},
    {Q::attention_norm_scale, P::attention, "norm.scale", "γ", A::one, A::d_model, R::scale, nullptr, attention_norm},
    {Q::attention_norm_shift, P::attention, "norm.shift", "β", A::one, A::d_model, R::shift, nullptr, attention_norm},
    {Q::attention_input, P::attention, "input", "norm(x)", A::queries, A::d_model, R::computed, nullptr,
     attention_norm},
    {Q::query_weight, P::head, "query.weight", "W_Q", A::d_k, A::d_model, R::weight,
     of_attention<&AttentionWeights::query>},
    {Q::query_bias, P::head, "query.bias", "b_Q", A::one, A::d_k, R::bias, of_attention<&AttentionWeights::query>},
    {Q::query_projected, P::head, "query.projected", "q (projected)", A::queries, A::d_k},
    {Q::query_norm_scale, P::attention, "query.norm.scale", "γ_Q", A::one, A::d_k, R::scale, nullptr,
     norm_of_head<&AttentionWeights::query_norm>},
    {Q::query_norm_shift, P::attention, "query.norm.shift", "β_Q", A::one, A::d_k, R::shift, nullptr,
     norm_of_head<&AttentionWeights::query_norm>},
    {Q::query_normed, P::head, "query.normed", "q (normed)", A::queries, A::d_k, R::computed, nullptr,
     norm_of_head<&AttentionWeights::query_norm>},
    {Q::query, P::head, "query", "q", A::queries, A::d_k, R::computed, nullptr,
     norm_of_head<&AttentionWeights::query_norm>},
    {Q::key_weight, P::head, "key.weight", "W_K", A::d_k, A::d_model, R::weight, of_attention<&AttentionWeights::key>},
    {Q::key_bias, P::head, "key.bias", "b_K", A::one, A::d_k, R::bias, of_attention<&AttentionWeights::key>},
    {Q::key_projected, P::head, "key.projected", "k (projected)", A::keys, A::d_k},
    {Q::key_norm_scale, P::attention, "key.norm.scale", "γ_K", A::one, A::d_k, R::scale, nullptr,
     norm_of_head<&AttentionWeights::key_norm>},
    {Q::key_norm_shift, P::attention, "key.norm.shift", "β_K", A::one, A::d_k, R::shift, nullptr,
     norm_of_head<&AttentionWeights::key_norm>},
    {Q::key_normed, P::head, "key.normed", "k (normed)", A::keys, A::d_k, R::computed, nullptr,
     norm_of_head<&AttentionWeights::key_norm>},
    {Q::key, P::head, "key", "k", A::keys, A::d_k, R::computed, nullptr, norm_of_head<&AttentionWeights::key_norm>},
    {Q::value_weight, P::head, "value.weight", "W_V", A::d_v, A::d_model, R::weight,
     of_attention<&AttentionWeights::value>},
    {Q::value_bias, P::head, "value.bias", "b_V", A::one, A::d_v, R::bias, of_attention<&AttentionWeights::value>},
    {Q::value, P::head, "value", "v", A::keys, A::d_v},
    {Q::given_weights, P::head, "given.weights", "given weights", A::queries, A::keys, R::given},
    {Q::log_weights, P::head, "given.logarithms", "log", A::queries, A::keys},
    {Q::dot, P::head, "dot", "q·kᵀ", A::queries, A::keys},
    {Q::scaled, P::head, "scaled", "q·kᵀ·scale", A::queries, A::keys},
    {Q::capped, P::head, "capped", "cap·tanh(·/cap)", A::queries, A::keys},
    {Q::distance_keys, P::head, "distance.keys", "k(distance)·scale", A::distances, A::d_k, R::given},
    {Q::distance_queries, P::head, "distance.queries", "q(distance)·scale", A::distances, A::d_k, R::given},
    {Q::content_to_position, P::head, "content_to_position", "q·k(distance)·scale", A::queries, A::keys},
    {Q::position_to_content, P::head, "position_to_content", "k·q(distance)·scale", A::queries, A::keys},
    {Q::relative_bias, P::head, "relative_bias", "distance", A::queries, A::keys, R::given},
    {Q::mask, P::attention, "mask", "mask", A::queries, A::keys, R::given},
    {Q::head_mask, P::head, "mask", "mask", A::queries, A::keys, R::given},
    {Q::scores, P::head, "scores", "scores", A::queries, A::keys},
    {Q::sink, P::head, "sink", "sink", A::one, A::one, R::given},
    {Q::exponentials, P::head, "exponentials", "exp", A::queries, A::keys},
    {Q::softmax, P::head, "softmax", "softmax", A::queries, A::keys},
    {Q::dropped, P::head, "dropped", "dropout", A::queries, A::keys},
    {Q::weights, P::head, "weights", "A", A::queries, A::keys},
    {Q::head_output, P::head, "output", "A·v", A::queries, A::d_v},
    {Q::z, P::head, "z", "z", A::queries, A::d_v},
    {Q::contribution, P::head, "contribution", "z·W_Oᵀ", A::queries, A::d_model},
    {Q::concat, P::attention, "concat", "concat(z)", A::queries, A::heads_d_v},
    {Q::output_weight, P::attention, "output.weight", "W_O", A::d_model, A::heads_d_v, R::weight,
     of_attention<&AttentionWeights::output>},
    {Q::output_bias, P::attention, "output.bias", "b_O", A::one, A::d_model, R::bias,
     of_attention<&AttentionWeights::output>},
    {Q::attention_output, P::attention, "output", "attention", A::queries, A::d_model},
    {Q::attention_after_norm_scale, P::attention, "after_norm.scale", "γ", A::one, A::d_model, R::scale, nullptr,
     attention_after_norm},
    {Q::attention_after_norm_shift, P::attention, "after_norm.shift", "β", A::one, A::d_model, R::shift, nullptr,
     attention_after_norm},
    {Q::attention_after_normed, P::attention, "after_norm", "norm(attention)", A::queries, A::d_model, R::computed,
     nullptr, attention_after_norm},
    {Q::attention_sum, P::attention, "sum", "x + attention", A::queries, A::d_model},
    {Q::after_attention, P::attention, "after", "x", A::queries, A::d_model, R::computed, nullptr, attention_norm},
    {Q::ffn_norm_scale, P::ffn, "norm.scale", "γ", A::one, A::d_model, R::scale, nullptr, ffn_norm},
    {Q::ffn_norm_shift, P::ffn, "norm.shift", "β", A::one, A::d_model, R::shift, nullptr, ffn_norm},
    {Q::ffn_input, P::ffn, "input", "norm(x)", A::queries, A::d_model, R::computed, nullptr, ffn_norm},
    {Q::router_weight, P::ffn, "router.weight", "W_router", A::experts, A::d_model, R::weight, router_layer},
    {Q::router_scores, P::ffn, "router.scores", "router", A::queries, A::experts},
    {Q::routing, P::ffn, "routing", "routing", A::queries, A::experts},
    {Q::shared_output, P::ffn, "shared", "shared expert", A::queries, A::d_model},
    {Q::gate_weight, P::ffn, "gate.weight", "W_gate", A::ffn, A::d_model, R::weight, of_block<&BlockWeights::gate>},
    {Q::gate_bias, P::ffn, "gate.bias", "b_gate", A::one, A::ffn, R::bias, of_block<&BlockWeights::gate>},
    {Q::gate, P::ffn, "gate", "gate", A::queries, A::ffn},
    {Q::activated_gate, P::ffn, "gate.activated", "activation(gate)", A::queries, A::ffn},
    {Q::up_weight, P::ffn, "up.weight", "W_up", A::ffn, A::d_model, R::weight, of_block<&BlockWeights::up>},
    {Q::up_bias, P::ffn, "up.bias", "b_up", A::one, A::ffn, R::bias, of_block<&BlockWeights::up>},
    {Q::up, P::ffn, "up", "up", A::queries, A::ffn},
    {Q::hidden, P::ffn, "hidden", "hidden", A::queries, A::ffn},
    {Q::down_weight, P::ffn, "down.weight", "W_down", A::d_model, A::ffn, R::weight, of_block<&BlockWeights::down>},
    {Q::down_bias, P::ffn, "down.bias", "b_down", A::one, A::d_model, R::bias, of_block<&BlockWeights::down>},
    {Q::ffn_output, P::ffn, "output", "ffn", A::queries, A::d_model},
    {Q::ffn_after_norm_scale, P::ffn, "after_norm.scale", "γ", A::one, A::d_model, R::scale, nullptr, ffn_after_norm},
    {Q::ffn_after_norm_shift, P::ffn, "after_norm.shift", "β", A::one, A::d_model, R::shift, nullptr, ffn_after_norm},
    {Q::ffn_after_normed, P::ffn, "after_norm", "norm(ffn)", A::queries, A::d_model, R::computed, nullptr,
     ffn_after_norm},
    {Q::ffn_sum, P::ffn, "sum", "x + ffn", A::queries, A::d_model},
    {Q::block_output, P::block, "output", "x", A::queries, A::d_model, R::computed, nullptr, ffn_norm},
    {Q::final_norm_scale, P::end, "final_norm.scale", "γ", A::one, A::d_model, R::scale, nullptr, final_norm},
    {Q::final_norm_shift, P::end, "final_norm.shift", "β", A::one, A::d_model, R::shift, nullptr, final_norm},
    {Q::last_hidden_state, P::end, "last_hidden_state", "h", A::queries, A::d_model, R::computed, nullptr, final_norm},
    {Q::transform_weight, P::output, "transform.weight", "W_T", A::embedding, A::d_model, R::weight, transform_layer},
    {Q::transform_bias, P::output, "transform.bias", "b_T", A::one, A::embedding, R::bias, transform_layer},
    {Q::transform, P::output, "transform", "transform", A::queries, A::embedding},
    {Q::activated_transform, P::output, "transform.activated", "activation(transform)", A::queries, A::embedding},
    {Q::transform_norm_scale, P::output, "transform.norm.scale", "γ_T", A::one, A::embedding, R::scale, nullptr,
     transform_norm},
    {Q::transform_norm_shift, P::output, "transform.norm.shift", "β_T", A::one, A::embedding, R::shift, nullptr,
     transform_norm},
    {Q::transformed, P::output, "transformed", "norm(transform)", A::queries, A::embedding, R::computed, nullptr,
     transform_norm},
    {Q::vocabulary_weight, P::output, "weight", "W_vocab", A::vocabulary, A::embedding, R::weight, vocabulary_layer},
    {Q::vocabulary_bias, P::output, "bias", "b_vocab", A::one, A::vocabulary, R::given},
    {Q::unscaled_logits, P::output, "unscaled", "h·W_vocabᵀ", A::queries, A::vocabulary},
    {Q::uncapped_logits, P::output, "uncapped", "logits (uncapped)", A::queries, A::vocabulary},
    {Q::logits, P::output, "logits", "logits", A::queries, A::vocabulary},
    {Q::logit_exponentials, P::output, "exponentials", "exp", A::queries, A::vocabulary},
    {Q::probabilities, P::output, "probabilities", "p", A::queries, A::vocabulary},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kKinds); ++i)
    if (static_cast<std::size_t>(kKinds[i].quantity) != i) return false;
  return std::size(kKinds) == static_cast<std::size_t>(Quantity::probabilities) + 1;
}
static_assert(in_order());

constexpr std::string_view kParts[] = {"embedding", "attention", "head", "ffn", "block", "end", "output"};

}  // namespace

const Kind& kind_of(Quantity quantity) { return kKinds[static_cast<std::size_t>(quantity)]; }

std::string_view part_name(MatrixPart part) { return name_in(kParts, part); }

std::string matrix_name(Quantity quantity) {
  const Kind& kind = kind_of(quantity);
  return std::string(part_name(kind.part)) + "." + kind.name;
}

std::optional<Quantity> parse_matrix_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
    if (matrix_name(static_cast<Quantity>(i)) == name) return static_cast<Quantity>(i);
  return std::nullopt;
}

}  // namespace headlight
