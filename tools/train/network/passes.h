// Helpers of the passes through a stack: memory, sentences without padding, linear layers and the attention of one head
// over one sentence (Vaswani et al. 2017, equation 1), each forward and backward.
#pragma once

#include <cstdint>
#include <vector>

#include "math/kernels/kernels.h"
#include "train/network/batch.h"
#include "train/network/network.h"

namespace headlight {

/// Memory that is taken piece by piece and given back all at once.
class Arena {
 public:
  /// Not zeroed; begins on a cache line.
  float* take(Index size);
  void reset();

 private:
  std::vector<Floats> blocks_;
  Index used_ = 0;  // of the last block
};

/// Some sentences without their padding, one below the other.
struct Packed {
  std::vector<Index> starts;  // the first row of each sentence, and the end of the last
  std::vector<std::int32_t> ids;
  Index longest = 0;

  Index count() const { return static_cast<Index>(starts.size()) - 1; }
  Index rows() const { return starts.back(); }
  Index length(Index sentence) const { return end(sentence) - start(sentence); }
  Index start(Index sentence) const { return starts[static_cast<std::size_t>(sentence)]; }
  Index end(Index sentence) const { return starts[static_cast<std::size_t>(sentence) + 1]; }
};

Packed packed(const Sentences& sentences, Index first, Index count);

/// Data that all layers share.
struct PassContext {
  const Network& network;
  const float* transposed;  // each weight as (in, out), where it lies in network.values
  const Matrix& sinusoids;  // (positions, d_model), where positions are sinusoidal
  Arena& arena;
  float* gradients = nullptr;  // laid out as network.values; null: no backward pass
  bool first = true;           // true: overwrite gradients of linear layers; false: accumulate
  float dropout = 0;
  std::uint64_t seed = 0;  // of what dropout hides

  const float* values(Index at) const { return network.values.data() + at; }
  const float* values_if(Index at) const { return at < 0 ? nullptr : values(at); }
};

/// y (rows, out) = x·Wᵀ + b, rows of x and y lying x_row and y_row apart; `add`: y += it.
void linear_forward(const PassContext& context, const LinearOffsets& offsets, const float* x, Index x_row, Index rows,
                    float* y, bool add);

/// The gradients of weight and bias, and dx (+)= dy·W unless it is null.
void linear_backward(const PassContext& context, const LinearOffsets& offsets, const float* x, const float* dy,
                     Index rows, float* dx, bool add);

/// Sets to zero the gradients that always accumulate.
void clear_added(const Network& network, float* gradients);

/// One head of one sentence. Rows of queries, keys and values lie `q_row`, `k_row`, `v_row` apart.
struct AttentionPass {
  Index queries = 0, keys = 0, d_k = 0;
  Index weights_row = 0;  // keys, rounded up to a multiple of kWeightsMultiple
  float scale = 1;
  bool causal = false;  // query i sees keys 0 … i
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  Index q_row = 0, k_row = 0, v_row = 0;
  float* weights = nullptr;        // (queries, weights_row) kept; 0 beyond what is seen
  const float* factors = nullptr;  // of dropout, as weights; null: none
  float* dropped = nullptr;        // weights · factors, kept; the weights themselves where there are no factors
  float* z = nullptr;
  Index z_row = 0;
  float* scratch = nullptr;  // (d_k + queries) · weights_row
};
inline constexpr Index kWeightsMultiple = 16;

/// Further inputs of the backward pass. Gradients of q, k, v have the layout of q, k, v; they are overwritten.
struct AttentionPassGradients {
  const float* z = nullptr;  // rows z_row apart
  /// (queries, weights_row) What else is known of the gradients of the scaled scores; null: nothing.
  const float* scores = nullptr;
  float *q = nullptr, *k = nullptr, *v = nullptr;
};

/// weights = softmax(q·kᵀ·scale), z = weights·v
void attention_forward(const AttentionPass& pass);
void attention_backward(const AttentionPass& pass, const AttentionPassGradients& gradients);

}  // namespace headlight
