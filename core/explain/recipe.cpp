#include "explain/recipe.h"

#include <algorithm>
#include <cassert>

#include "base/formatted.h"
#include "explain/matrix_kinds.h"
#include "explain/matrix_source.h"

namespace headlight {
namespace {

using Q = Quantity;
using Op = Operation;

/// The residual stream after the previous sublayer.
MatrixId stream_before_attention(const MatrixId& id) {
  if (id.stack == Stack::cross) return matrix_id(Q::after_attention, {id.layer, 0, Stack::self});
  if (id.layer > 0) return matrix_id(Q::block_output, {id.layer - 1, 0, id.stack});
  return matrix_id(Q::embedding, {.stack = id.stack});
}

MatrixId stream_before_ffn(const MatrixSource& source, const MatrixId& id) {
  const Stack last = source.block->cross ? Stack::cross : id.stack;
  return matrix_id(Q::after_attention, {id.layer, 0, last});
}

/// What the feed-forward norms: the stream as the attention found it where the two stand side by side.
MatrixId stream_read_by_ffn(const MatrixSource& source, const MatrixId& id) {
  return source.block->parallel ? stream_before_attention(id) : stream_before_ffn(source, id);
}

/// The output of a sublayer: where its residual sum is off, the block passes on only this.
MatrixId attention_result(const MatrixSource& source, const MatrixId& id) {
  const bool normed = norm_of(source, Q::attention_after_normed);
  return beside(id, normed ? Q::attention_after_normed : Q::attention_output);
}
MatrixId ffn_result(const MatrixSource& source, const MatrixId& id) {
  return beside(id, norm_of(source, Q::ffn_after_normed) ? Q::ffn_after_normed : Q::ffn_output);
}

/// Side by side with the attention, the feed-forward is added to what that gives.
bool adds_ffn(const MatrixSource& source) { return !source.off.residual || source.block->parallel; }

std::optional<MatrixId> equal_matrix(const Trace& trace, const MatrixId& id) {
  const MatrixSource source(trace, id);
  switch (id.quantity) {
    case Q::embedding: {
      if (source.bare) return beside(id, Q::given_query);
      const bool alone = !exists(trace, beside(id, Q::embedding_sum)) &&
                         !exists(trace, beside(id, Q::position_vectors)) && !exists(trace, beside(id, Q::type_vectors));
      return alone ? std::optional(beside(id, Q::token_vectors)) : std::nullopt;
    }
    case Q::attention_input:
      if (source.bare) return beside(id, Q::given_query);
      return norm_of(source, id.quantity) && source.pre ? std::nullopt : std::optional(stream_before_attention(id));
    case Q::attention_sum: return source.off.residual ? std::optional(attention_result(source, id)) : std::nullopt;
    case Q::after_attention: {
      const bool alone = source.bare || (source.pre && source.off.residual);
      return alone ? std::optional(attention_result(source, id)) : std::nullopt;
    }
    case Q::ffn_input:
      return norm_of(source, id.quantity) && source.pre ? std::nullopt : std::optional(stream_read_by_ffn(source, id));
    case Q::block_output:
      if (!source.has_ffn()) return stream_before_ffn(source, id);
      if (source.pre && !adds_ffn(source)) return ffn_result(source, id);
      return std::nullopt;
    case Q::ffn_sum: return adds_ffn(source) ? std::nullopt : std::optional(ffn_result(source, id));
    case Q::last_hidden_state:
      if (norm_of(source, id.quantity)) return std::nullopt;
      return matrix_id(Q::block_output, {trace.num_layers(id.stack) - 1, 0, id.stack});
    default: return std::nullopt;
  }
}

/// A matrix that follows from these, as far as the model has them; of norms and projections x, then the layer's parts.
struct PlainRecipe {
  Q made;
  Op operation;
  std::initializer_list<Q> operands;
};
constexpr PlainRecipe kPlainRecipes[] = {
    {Q::embedding_sum, Op::sum, {Q::token_vectors, Q::position_vectors, Q::type_vectors}},
    {Q::embedding_normed, Op::layer_norm, {Q::embedding_sum, Q::embedding_norm_scale, Q::embedding_norm_shift}},
    {Q::query_normed, Op::layer_norm, {Q::query_projected, Q::query_norm_scale, Q::query_norm_shift}},
    {Q::key_normed, Op::layer_norm, {Q::key_projected, Q::key_norm_scale, Q::key_norm_shift}},
    {Q::log_weights, Op::logarithm, {Q::given_weights}},
    {Q::dot, Op::dot_product, {Q::query, Q::key}},
    {Q::content_to_position, Op::distance, {Q::query, Q::distance_keys}},
    {Q::position_to_content, Op::distance, {Q::key, Q::distance_queries}},
    {Q::exponentials, Op::exponential, {Q::scores, Q::sink}},
    {Q::dropped, Op::dropout, {Q::softmax}},
    {Q::head_output, Op::weighted_sum, {Q::weights, Q::value}},
    {Q::attention_output, Op::projection, {Q::concat, Q::output_weight, Q::output_bias}},
    {Q::attention_after_normed,
     Op::layer_norm,
     {Q::attention_output, Q::attention_after_norm_scale, Q::attention_after_norm_shift}},
    {Q::routing, Op::routing, {Q::router_scores}},
    {Q::shared_output, Op::shared_expert, {Q::ffn_input}},
    {Q::gate, Op::projection, {Q::ffn_input, Q::gate_weight, Q::gate_bias}},
    {Q::activated_gate, Op::activation, {Q::gate}},
    {Q::up, Op::projection, {Q::ffn_input, Q::up_weight, Q::up_bias}},
    {Q::ffn_after_normed, Op::layer_norm, {Q::ffn_output, Q::ffn_after_norm_scale, Q::ffn_after_norm_shift}},
    {Q::transform, Op::projection, {Q::last_hidden_state, Q::transform_weight, Q::transform_bias}},
    {Q::activated_transform, Op::activation, {Q::transform}},
    {Q::logit_exponentials, Op::exponential, {Q::logits}},
    {Q::probabilities, Op::softmax, {Q::logit_exponentials}},
};

/// Builds the recipe of one matrix.
class RecipeBuilder {
 public:
  RecipeBuilder(const Trace& trace, const MatrixId& id) : trace_(trace), source_(trace, id), id_(id) {}

  Recipe make() const;

 private:
  MatrixId at(Q quantity) const { return origin(trace_, beside(id_, quantity)); }
  bool has(Q quantity) const { return exists(trace_, beside(id_, quantity)); }
  std::vector<MatrixId> present(std::initializer_list<Q> quantities) const {
    std::vector<MatrixId> list;
    for (const Q quantity : quantities)
      if (has(quantity)) list.push_back(at(quantity));
    return list;
  }

  Recipe simple(Op operation, std::initializer_list<Q> operands) const { return {operation, present(operands)}; }
  Recipe plain(const PlainRecipe& row) const {
    const Q* const of = row.operands.begin();
    if (row.operation == Op::layer_norm) return normed(at(of[0]), of[1], of[2]);
    if (row.operation != Op::projection) return simple(row.operation, row.operands);
    return projected(at(of[0]), of[1], of[2]);
  }

  /// x·Wᵀ + b, or, where there is no W, the columns of x from `offset` on.
  Recipe projected(const MatrixId& x, Q weight, Q bias, Index offset = 0) const {
    Recipe recipe{has(weight) ? Op::projection : Op::columns, {x}};
    for (const MatrixId& operand : present({weight, bias})) recipe.operands.push_back(operand);
    if (recipe.operation == Op::columns) recipe.offset = offset;
    return recipe;
  }

  Recipe normed(const MatrixId& x, Q scale, Q shift) const {
    const bool layer = norm_of(source_, id_.quantity)->kind == NormKind::layer_norm;
    Recipe recipe{layer ? Op::layer_norm : Op::rms_norm, {x}};
    for (const MatrixId& operand : present({scale, shift})) recipe.operands.push_back(operand);
    return recipe;
  }

  Recipe embedding_sum() const { return simple(Op::sum, {Q::token_vectors, Q::position_vectors, Q::type_vectors}); }
  Recipe query_projection() const {
    const MatrixId x = source_.bare ? at(Q::given_query) : at(Q::attention_input);
    return projected(x, Q::query_weight, Q::query_bias, id_.head * source_.d_k());
  }
  MatrixId key_side(Q given) const {
    if (source_.bare) return at(given);
    if (id_.stack == Stack::cross) return origin(trace_, matrix_id(Q::last_hidden_state, {.stack = Stack::encoder}));
    return at(Q::attention_input);
  }
  Index kv_offset(Index width) const { return source_.attention_trace->kv_head(id_.head) * width; }
  Recipe key_projection() const {
    return projected(key_side(Q::given_key), Q::key_weight, Q::key_bias, kv_offset(source_.d_k()));
  }
  /// q or k as used: the last of projection, norm and rotation that the model has.
  Recipe as_used(Q before_all, Q normed_only, Q scale, Q shift, Recipe projection) const {
    if (!has(before_all)) return projection;
    if (!source_.rotary()) return normed(at(before_all), scale, shift);
    return {Op::rotation, {has(normed_only) ? at(normed_only) : at(before_all)}};
  }
  /// Weights from another program are given, not computed.
  Recipe softmax() const {
    if (!has(Q::exponentials)) return {};
    return simple(Op::softmax, {Q::exponentials, Q::sink});
  }
  Recipe weights() const {
    if (is_set_by_hand(trace_, head_ref(id_)))
      return {Op::set_by_hand, {has(Q::dropped) ? at(Q::dropped) : at(Q::softmax)}};
    return has(Q::dropped) ? simple(Op::dropout, {Q::softmax}) : softmax();
  }
  Recipe z() const {
    if (!has(Q::head_output)) return simple(Op::weighted_sum, {Q::weights, Q::value});
    const bool zero = trace_.request.edits.off_as == OffAs::zero;
    return simple(zero ? Op::zero_off : Op::mean_off, {Q::head_output});
  }
  Recipe contribution() const {
    const Index first = id_.head * source_.d_v();
    if (!has(Q::output_weight)) return {Op::columns, {at(Q::z)}, 1.0f, -first};
    return {Op::projection, {at(Q::z), at(Q::output_weight)}, 1.0f, first};
  }
  Recipe concat() const {
    Recipe recipe{Op::concatenation, {}};
    for (Index head = 0; head < source_.attention_trace->num_heads(); ++head)
      recipe.operands.push_back(matrix_id(Q::z, {id_.layer, head, id_.stack}));
    return recipe;
  }
  Recipe residual(const MatrixId& stream, const MatrixId& sublayer) const {
    return {Op::sum, {origin(trace_, stream), origin(trace_, sublayer)}};
  }
  Recipe embedding() const {
    if (!has(Q::embedding_sum)) return embedding_sum();
    if (!has(Q::embedding_projection_weight))
      return normed(at(Q::embedding_sum), Q::embedding_norm_scale, Q::embedding_norm_shift);
    return projected(at(has(Q::embedding_normed) ? Q::embedding_normed : Q::embedding_sum),
                     Q::embedding_projection_weight, Q::embedding_projection_bias);
  }
  MatrixId before_transform_norm() const {
    return at(has(Q::activated_transform) ? Q::activated_transform : Q::last_hidden_state);
  }
  /// The input of the vocabulary layer.
  MatrixId output_input() const { return has(Q::transformed) ? at(Q::transformed) : before_transform_norm(); }
  Recipe logits() const {
    if (!has(Q::unscaled_logits)) return projected(output_input(), Q::vocabulary_weight, Q::vocabulary_bias);
    return {Op::scale, present({Q::unscaled_logits, Q::vocabulary_bias}), source_.model.output->scale};
  }

  const Trace& trace_;
  const MatrixSource source_;
  const MatrixId id_;
};

Recipe RecipeBuilder::make() const {
  for (const PlainRecipe& row : kPlainRecipes)
    if (row.made == id_.quantity) return plain(row);
  switch (id_.quantity) {
    case Q::token_vectors:
      if (!has(Q::token_lookup)) return {};
      return {Op::scale, {at(Q::token_lookup)}, source_.stack->embeddings.scale};
    case Q::position_vectors: return {source_.model.config.position == Position::learned ? Op::given : Op::sine, {}};
    case Q::embedding: return embedding();
    case Q::attention_input:
      return normed(origin(trace_, stream_before_attention(id_)), Q::attention_norm_scale, Q::attention_norm_shift);
    case Q::query_projected: return query_projection();
    case Q::query:
      return as_used(Q::query_projected, Q::query_normed, Q::query_norm_scale, Q::query_norm_shift, query_projection());
    case Q::key_projected: return key_projection();
    case Q::key:
      return as_used(Q::key_projected, Q::key_normed, Q::key_norm_scale, Q::key_norm_shift, key_projection());
    case Q::value: return projected(key_side(Q::given_value), Q::value_weight, Q::value_bias, kv_offset(source_.d_v()));
    case Q::scaled: return {Op::scale, {at(Q::dot)}, source_.attention_trace->scale};
    case Q::capped: return {Op::soft_cap, {at(Q::scaled)}, source_.attention_trace->softcap};
    case Q::scores:
      return simple(Op::mask,
                    {source_.pattern  ? Q::log_weights
                     : has(Q::capped) ? Q::capped
                                      : Q::scaled,
                     Q::content_to_position, Q::position_to_content, Q::relative_bias, Q::mask, Q::head_mask});
    case Q::softmax: return softmax();
    case Q::weights: return weights();
    case Q::z: return z();
    case Q::contribution: return contribution();
    case Q::concat: return concat();
    case Q::attention_sum: return residual(stream_before_attention(id_), attention_result(source_, id_));
    case Q::after_attention:
      if (source_.pre) return residual(stream_before_attention(id_), attention_result(source_, id_));
      return normed(at(Q::attention_sum), Q::attention_norm_scale, Q::attention_norm_shift);
    case Q::ffn_input:
      return normed(origin(trace_, stream_read_by_ffn(source_, id_)), Q::ffn_norm_scale, Q::ffn_norm_shift);
    case Q::router_scores: return {Op::projection, {at(Q::ffn_input), at(Q::router_weight)}};
    case Q::hidden:
      return has(Q::gate) ? simple(Op::product, {Q::activated_gate, Q::up}) : simple(Op::activation, {Q::up});
    case Q::ffn_output:
      if (has(Q::routing)) return simple(Op::mixture, {Q::ffn_input, Q::routing, Q::shared_output});
      return projected(at(Q::hidden), Q::down_weight, Q::down_bias);
    case Q::ffn_sum: return residual(stream_before_ffn(source_, id_), ffn_result(source_, id_));
    case Q::block_output:
      if (source_.pre) return residual(stream_before_ffn(source_, id_), ffn_result(source_, id_));
      return normed(at(Q::ffn_sum), Q::ffn_norm_scale, Q::ffn_norm_shift);
    case Q::last_hidden_state:
      return normed(origin(trace_, matrix_id(Q::block_output, {trace_.num_layers(id_.stack) - 1, 0, id_.stack})),
                    Q::final_norm_scale, Q::final_norm_shift);
    case Q::transformed: return normed(before_transform_norm(), Q::transform_norm_scale, Q::transform_norm_shift);
    case Q::unscaled_logits: return {Op::projection, {output_input(), at(Q::vocabulary_weight)}};
    case Q::uncapped_logits: return logits();
    case Q::logits:
      if (!has(Q::uncapped_logits)) return logits();
      return {Op::soft_cap, {at(Q::uncapped_logits)}, source_.model.output->softcap};
    default: return {};
  }
}

std::string norm_formula(const Recipe& recipe) {
  const std::string x = symbol(recipe.operands[0]), scale = symbol(recipe.operands[1]);
  const std::string shift = recipe.operands.size() > 2 ? " + " + symbol(recipe.operands[2]) : "";
  if (recipe.operation == Op::layer_norm) return "(" + x + " - mean) / √(variance + ε) · " + scale + shift;
  return x + " / √(mean square + ε) · " + scale + shift;
}

/// The operands' symbols with `between` between them.
std::string joined(const Recipe& recipe, const std::string& between) {
  return joined_texts(recipe.operands, between, symbol);
}

}  // namespace

MatrixId origin(const Trace& trace, MatrixId id) {
  while (const auto before = equal_matrix(trace, id)) id = *before;
  return id;
}

Recipe recipe(const Trace& trace, const MatrixId& id) {
  assert(exists(trace, id));
  if (const MatrixId first = origin(trace, id); first != id) return {Op::copy, {first}};
  return is_learned(id.quantity) ? Recipe{} : RecipeBuilder(trace, id).make();
}

std::string formula(const Trace& trace, const MatrixId& id) {
  const Recipe made = recipe(trace, id);
  const auto operand = [&](std::size_t i) { return symbol(made.operands[i]); };
  switch (made.operation) {
    case Op::given: return is_learned(id.quantity) && kind_of(id.quantity).rows != Axis::queries ? "learned" : "given";
    case Op::sine:
    case Op::cosine: return "sin and cos of position / 10000^(2i/d_model)";
    case Op::copy: return operand(0);
    case Op::sum:
    case Op::mask: return joined(made, " + ");
    case Op::scale: {
      const std::string scaled = operand(0) + " · " + (id.quantity == Q::scaled ? "scale" : "factor");
      return made.operands.size() > 1 ? scaled + " + " + operand(1) : scaled;
    }
    case Op::soft_cap: return "cap · tanh(" + operand(0) + " / cap)";
    case Op::distance: return operand(0) + "·" + operand(1) + " of the distance";
    case Op::routing: return "softmax of " + operand(0) + ", of the largest";
    case Op::mixture:
      return "Σ " + operand(1) + " · expert(" + operand(0) + ")" +
             (made.operands.size() > 2 ? " + " + operand(2) : std::string());
    case Op::shared_expert: return "the expert of all tokens of " + operand(0);
    case Op::projection: {
      const std::string product = operand(0) + "·" + operand(1) + "ᵀ";
      return made.operands.size() > 2 ? product + " + " + operand(2) : product;
    }
    case Op::columns: return joined(made, " + ");
    case Op::dot_product: return operand(0) + "·" + operand(1) + "ᵀ";
    case Op::logarithm: return "ln of " + operand(0);
    case Op::exponential:
      return "exp(" + operand(0) + " - largest of the row" +
             (made.operands.size() > 1 ? " and the " + operand(1) : "") + ")";
    case Op::softmax:
      return operand(0) + (made.operands.size() > 1 ? " / sum of the row and the " + operand(1) : " / sum of the row");
    case Op::dropout: return operand(0) + " · (0 or 1 / (1 - p))";
    case Op::set_by_hand: return operand(0) + ", some set by hand, the rest of their rows rescaled";
    case Op::share_of_rest: return operand(0) + " rescaled";
    case Op::weighted_sum: return operand(0) + "·" + operand(1);
    case Op::zero_off: return "0: the head is switched off";
    case Op::mean_off: return "mean over the queries: the head is switched off";
    case Op::concatenation: return "[z of head 0, …, z of head " + std::to_string(made.operands.size() - 1) + "]";
    case Op::layer_norm:
    case Op::rms_norm: return norm_formula(made);
    case Op::rotation: return operand(0) + ", pairs turned by position · frequency";
    case Op::activation:
      return std::string(name(activation_of(MatrixSource(trace, id), id.quantity))) + "(" + operand(0) + ")";
    case Op::product: break;
  }
  return joined(made, " · ");
}

}  // namespace headlight
