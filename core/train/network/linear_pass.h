// Helpers that all passes share: memory, sentences without padding, and linear layers there and back.
#pragma once

#include <cstdint>
#include <vector>

#include "train/network/batch.h"
#include "train/network/kernels.h"
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

/// Sets to zero the gradients that are always accumulated.
void clear_added(const Network& network, float* gradients);

}  // namespace headlight
