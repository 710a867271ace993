// Attention and a block of the transformer, after Vaswani et al. 2017, "Attention Is All You Need", in doubles and
// plain loops. Read reference.cpp from top to bottom to learn what the other files of this room compute: they compute
// the same in float32, fast. The tests compare them with this file; the diagnosis (tools/diagnose) uses it as well.
//
// Letters, as in the paper. T queries attend to S keys; in self-attention both are the tokens of one sentence, and T =
// S.
//   d_model  columns of a token's vector            h    heads
//   d_k      columns of a query or a key of a head  d_v  columns of a value of a head
// A matrix (T, d) has one token a row and d columns.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/matrix.h"
#include "model/config.h"
#include "model/edits.h"
#include "model/weights.h"

namespace headlight::reference {

using Grid = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Heads = std::vector<Grid>;  // one matrix a head

/// The learned numbers of x·Wᵀ + b.
struct LinearLayer {
  Grid weight;  // (out, in), as torch.nn.Linear stores it; empty: the identity
  Grid bias;    // (1, out); empty: zero
};

/// The learned numbers of a norm.
struct NormLayer {
  Grid scale, shift;  // (1, d); an empty shift is zero
  double epsilon = 1e-5;
  NormKind kind = NormKind::layer_norm;
};

/// The learned numbers of multi-head attention (section 3.2.2).
struct AttentionLayer {
  LinearLayer query, key, value;  // W^Q (h·d_k, d_model), W^K (h_kv·d_k, d_model), W^V (h_kv·d_v, d_model)
  LinearLayer output;             // W^O (d_model, h·d_v)
  Index num_heads = 1;            // h
  Index num_kv_heads = 1;         // h_kv ≤ h: groups of heads share a key and a value (Ainslie et al. 2023)
  std::optional<NormLayer> query_norm = {}, key_norm = {};  // (1, d_k), of each head's query and key, or of all heads
  Eigen::RowVectorXd sinks = {};               // (H) a logit of each head that joins its softmax; empty: none
  double softcap = 0;                          // scores become softcap·tanh(score / softcap); 0: they stay
  const DistanceVectors* distances = nullptr;  // that queries and keys are multiplied with as well; null: none
};

/// The learned numbers of one expert of a feed-forward.
struct ExpertLayer {
  LinearLayer gate, up, down;
};

/// The learned numbers of a block (section 3.1).
struct BlockLayer {
  AttentionLayer self;
  std::optional<AttentionLayer> cross = {};  // of a decoder that reads an encoder's output
  LinearLayer up, gate, down;                // feed-forward; an empty `up`: none, an empty `gate`: not gated
  NormLayer self_norm, cross_norm, ffn_norm;
  Norm norm = Norm::post;
  Activation activation = Activation::relu;
  std::optional<NormLayer> self_after_norm = {}, ffn_after_norm = {};  // of f(x)
  bool parallel = false;                   // the feed-forward reads what the attention reads
  bool residual = true;                    // sublayers add to their input; else they replace it
  LinearLayer router = {};                 // (E, d_model); with experts
  std::vector<ExpertLayer> experts = {};   // instead of up, gate and down
  Index chosen = 0;                        // experts that a token goes through
  bool to_one = true;                      // their weights are divided by their sum
  std::optional<ExpertLayer> shared = {};  // every token goes through it
  LinearLayer shared_gate = {};            // (1, d_model); empty: its weight is 1
};

/// The other inputs of an attention. An empty mask allows everything.
struct AttentionOptions {
  Grid mask = {};  // (T, S), added to the scores: 0 where a query may attend, −∞ where not; or (h·T,
                   // S), that of each head below the one before
  std::optional<double> scale = {};  // multiplies the scores; none: 1/√d_k
  const Rotary* rotary = nullptr;    // rotates queries and keys by their positions; null: none
  std::function<void(Index head, Grid& weights)> edit_weights = {};  // (T, S), after the softmax: model/edits.h
  std::function<void(Index head, Grid& z)> edit_z = {};              // (T, d_v)
};

/// Every step of an attention.
struct Attention {
  Grid q, k, v;           // (T, h·d_k), (S, h_kv·d_k), (S, h_kv·d_v)
  Heads scores, weights;  // (T, S) each
  Grid z;                 // (T, h·d_v)
  Grid output;            // (T, d_model)
};
struct Block {
  Attention self;
  std::optional<Attention> cross;
  Grid output;  // (T, d_model)
};

LinearLayer layer_of(const Linear& weights);
NormLayer layer_of(const NormWeights& weights);
AttentionLayer layer_of(const AttentionWeights& weights);
BlockLayer layer_of(const BlockWeights& weights, const Config& config);
BlockLayer without(BlockLayer layer, const PartsOff& off);

Grid linear(const Grid& x, const LinearLayer& layer);  // (n, in) → (n, out)
Heads split_heads(const Grid& x, Index num_heads);     // (n, h·d) → h matrices (n, d)
Grid concatenated(const Heads& heads);                 // the way back
Grid dot_products(const Grid& q, const Grid& k);       // (T, d_k), (S, d_k) → (T, S)
/// (T, S) → (T, S)
Grid softmax(const Grid& scores, double sink = -std::numeric_limits<double>::infinity());
Grid weighted_sums(const Grid& weights, const Grid& v);  // (T, S), (S, d_v) → (T, d_v)
Attention attention(const AttentionLayer& layer, const Grid& x_query, const Grid& x_key, const Grid& x_value,
                    const AttentionOptions& options);
double sinusoid(Index position, Index column, Index d_model);
Grid rotated(const Grid& x, const Rotary& rotary, Index num_heads, Index first_position = 0);
Grid norm(const Grid& x, const NormLayer& layer, Index parts = 1);  // each of so many parts of a row by itself
double activated(double x, Activation activation);
Grid feed_forward(const Grid& x, const LinearLayer& gate, const LinearLayer& up, const LinearLayer& down,
                  Activation activation);
Grid routing(const Grid& scores, Index chosen, bool to_one);  // (T, E) → (T, E)
Grid experts(const Grid& x, const BlockLayer& layer);
Index distance_row(const DistanceVectors& vectors, Index distance);
/// `memory` (S, d_model): the encoder's output, of a block with cross-attention.
Block block(const BlockLayer& layer, const Grid& x, const AttentionOptions& self, const Grid* memory = nullptr,
            const AttentionOptions& cross = {});

}  // namespace headlight::reference
