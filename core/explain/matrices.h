// Every matrix of the computation by name: whether a model has it, its shape and axes, its values, its symbol.
// How a matrix is computed is defined in recipe.h alone; values come from the Trace or from the functions of math/.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// A kind of matrix, in the order of the computation. Weights are (out, in); biases and norm weights have one row.
enum class Quantity {
  // A stack's beginning.
  token_lookup,      // (T, e) the tokens' vectors before they are scaled; e: d_model, or the width that is projected
  token_vectors,     // (T, e)
  position_vectors,  // (T, e)
  type_vectors,      // (T, e)
  embedding_sum,     // (T, e) before the norm or the projection of the embeddings, where the model has one of them
  embedding_norm_scale,
  embedding_norm_shift,  // (1, e)
  embedding_normed,      // (T, e) between norm and projection, where the model has both
  embedding_projection_weight,
  embedding_projection_bias,  // (d_model, e), (1, d_model)
  embedding,                  // (T, d_model) hidden state 0
  // An attention. Of Stack::cross the decoder's over the encoder's output.
  given_query,
  given_key,
  given_value,  // (T or S, d) the inputs that a tensors file holds
  attention_norm_scale,
  attention_norm_shift,  // (1, d_model)
  attention_input,       // (T, d_model) what the query is projected from; in self-attention key and value as well
  // One head of it.
  query_weight,     // (d_k, d) W_Q
  query_bias,       // (1, d_k)
  query_projected,  // (T, d_k) before the head's norm and rotation, where the model has one of them
  query_norm_scale,
  query_norm_shift,  // (1, d_k) shared by all heads, or (1, H·d_k) of a norm over all of them
  query_normed,      // (T, d_k) between norm and rotation, where the model has both
  query,             // (T, d_k) as used
  key_weight,
  key_bias,
  key_projected,
  key_norm_scale,
  key_norm_shift,
  key_normed,
  key,            // (S, d_k) as used; heads of a group share it
  value_weight,   // (d_v, d)
  value_bias,     // (1, d_v)
  value,          // (S, d_v)
  given_weights,  // (T, S) that another program computed, where a mask changes them …
  log_weights,    // (T, S) … and their logarithms, used as the unknown scores
  dot,            // (T, S) q·kᵀ
  scaled,         // (T, S) times the scale
  capped,         // (T, S) softcap·tanh(scaled / softcap), where the model caps
  distance_keys,
  distance_queries,     // (R, d_k) vectors of distances times the scale, where the model has them …
  content_to_position,  // (T, S) … q times the distance's key
  position_to_content,  // (T, S) … k times the distance's query
  relative_bias,        // (T, S) the bias of each distance, where the model has one
  mask,                 // (T, S) the mask that is added: 0, -inf, or a given number …
  head_mask,            // (T, S) … of a head, where each has another one
  scores,               // (T, S) scaled or capped + what the distance adds + mask
  sink,                 // (1, 1) the learned logit that joins the softmax of each row, where the model has sinks
  exponentials,         // (T, S) exp(score - the row's largest, or the sink where that is larger)
  softmax,              // (T, S) each divided by the row's sum, of which the sink's exponential is a part
  dropped,              // (T, S) after dropout, where there is any
  weights,              // (T, S) as used: after dropout and weights set by hand
  head_output,          // (T, d_v) weights·v of a head that is switched off
  z,                    // (T, d_v) the output of the head: weights·v, or its replacement where the head is off
  contribution,         // (T, d_model) the head's part of the attention output: z·W_Oᵀ over its columns of W_O
  // All heads together.
  concat,            // (T, H·d_v)
  output_weight,     // (d_model, H·d_v) W_O
  output_bias,       // (1, d_model)
  attention_output,  // (T, d_model)
  attention_after_norm_scale,
  attention_after_norm_shift,  // (1, d_model) of a norm before the residual sum
  attention_after_normed,      // (T, d_model)
  attention_sum,               // (T, d_model) residual stream + attention output, before the norm of a post-norm model
  after_attention,             // (T, d_model)
  // The feed-forward.
  ffn_norm_scale,
  ffn_norm_shift,  // (1, d_model)
  ffn_input,       // (T, d_model)
  router_weight,   // (E, d_model) of a mixture of experts
  router_scores,   // (T, E)
  routing,         // (T, E) the weight of each expert for each token; most are 0
  shared_output,   // (T, d_model) of the expert of all tokens, weighted
  gate_weight,
  gate_bias,       // (ffn, d_model), (1, ffn) of gated models
  gate,            // (T, ffn)
  activated_gate,  // (T, ffn)
  up_weight,
  up_bias,  // (ffn, d_model), (1, ffn)
  up,       // (T, ffn)
  hidden,   // (T, ffn) activation(up), or activation(gate)·up
  down_weight,
  down_bias,   // (d_model, ffn), (1, d_model)
  ffn_output,  // (T, d_model)
  ffn_after_norm_scale,
  ffn_after_norm_shift,  // (1, d_model) of a norm before the residual sum
  ffn_after_normed,      // (T, d_model)
  ffn_sum,               // (T, d_model) before the norm of a post-norm model
  block_output,          // (T, d_model)
  // A stack's end, and the words.
  final_norm_scale,
  final_norm_shift,   // (1, d_model)
  last_hidden_state,  // (T, d_model)
  transform_weight,
  transform_bias,       // (e, d_model), (1, e) of an output layer that transforms first
  transform,            // (T, e)
  activated_transform,  // (T, e)
  transform_norm_scale,
  transform_norm_shift,  // (1, e)
  transformed,           // (T, e) what the vocabulary's weight reads
  vocabulary_weight,     // (V, e)
  vocabulary_bias,       // (1, V)
  unscaled_logits,       // (T, V) where the output layer scales them
  uncapped_logits,       // (T, V) where the output layer caps them
  logits,                // (T, V)
  logit_exponentials,    // (T, V) exp(logit - the row's largest)
  probabilities,         // (T, V)
};

/// One matrix of a Trace. `layer` and `head` are 0 for a matrix that belongs to none (see matrix_id). `head` is the
/// query's head: its key and value are those of its group.
struct MatrixId {
  Quantity quantity = Quantity::embedding;
  Stack stack = Stack::self;
  Index layer = 0, head = 0;

  friend auto operator<=>(const MatrixId&, const MatrixId&) = default;
};

/// The matrix of that kind that this head reads or computes: without the head, the layer or the cross-attention where
/// the kind has none.
MatrixId matrix_id(Quantity quantity, const HeadRef& head = {});

/// One for each head, rather than for the whole attention.
bool is_per_head(Quantity quantity);
inline bool is_mask(Quantity quantity) { return quantity == Quantity::mask || quantity == Quantity::head_mask; }

/// Learned, looked up or given: not computed from other matrices.
bool is_learned(Quantity quantity);

struct Shape {
  Index rows = 0, cols = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// What the rows or the columns of a matrix are. `one`: a vector's single row; `embedding`: the width of the tables
/// where it is not d_model.
enum class Axis { queries, keys, d_model, d_k, d_v, heads_d_v, ffn, vocabulary, one, embedding, experts, distances };

struct Axes {
  Axis rows = Axis::queries, cols = Axis::d_model;
};

/// Whether this answer has the matrix: no gate in an ungated model, only weights where another program computed the
/// pattern. A matrix that equals another one (the attention input of a post-norm model) exists; origin() names the
/// matrix that has its values.
bool exists(const Trace& trace, const MatrixId& id);

/// The matrix itself, or the matrix that it equals.
MatrixId origin(const Trace& trace, MatrixId id);

Shape shape(const Trace& trace, const MatrixId& id);
Axes axes(const Trace& trace, const MatrixId& id);

/// The tokens along an axis of queries or keys; of any other axis null.
const Tokens* tokens_along(const Trace& trace, const MatrixId& id, Axis axis);

/// Rows [first, first + count), from the Trace where it stores them, else computed from what it stores. The same cell
/// is the same float whatever rows are asked for with it.
Matrix rows_of(const Trace& trace, const MatrixId& id, Index first, Index count);
Matrix whole(const Trace& trace, const MatrixId& id);

/// A stable name: encoder.0.self.3.query, decoder.1.cross.0.weights, decoder.0.ffn.hidden, decoder.embedding.sum,
/// output.logits; of a tensors file with one attention attention.0.self.3.query.
std::string path(const Trace& trace, const MatrixId& id);

/// For display: W_Q, q, q·kᵀ, z, W_O.
std::string symbol(const MatrixId& id);

/// One line: x·W_Qᵀ + b_Q.
std::string formula(const Trace& trace, const MatrixId& id);

/// The matrices of the block that holds this head, in the order of the computation; those that equal another are left
/// out; of one head where they are per head. Of a decoder over an encoder both attentions are there, per head only
/// the one asked for.
std::vector<MatrixId> matrices_of(const Trace& trace, Stack stack, Index layer, Index head);

/// The same for what comes before a stack's first block.
std::vector<MatrixId> matrices_of_embedding(const Trace& trace, Stack stack);

}  // namespace headlight
