// How many steps a number needs from one word to another, in each kind of layer.
#pragma once

#include <cstdlib>
#include <optional>

#include "model/trace.h"

namespace headlight {

/// Words that a convolution's kernel covers.
inline constexpr Index kKernel = 3;

/// Steps from the key's word to the query's (Vaswani et al. 2017, Table 1, "maximum path length", for these two words
/// instead of the farthest two).
struct PathLength {
  Index recurrent = 0;                    // of a recurrent network, one word a step; in both directions where needed
  std::optional<Index> convolution = {};  // layers of dilated convolutions, kKernel words wide: ⌈log_k n⌉ over the n
                                          // words from one to the other (van den Oord et al. 2016, WaveNet, 2.1)
};

/// Of one self-attention |query − key| steps. Of cross-attention those of a recurrent encoder that hands its last state
/// to a recurrent decoder (Sutskever et al. 2014, 2): to the end of the encoder's `keys` words, over, and on to the
/// query; no convolution. Padding behind the words is none of the `keys`.
inline PathLength path_length(const CellRef& cell, Stack stack, Index keys) {
  if (stack == Stack::cross) return {.recurrent = keys - cell.key + cell.query};
  const Index apart = std::abs(cell.query - cell.key);
  Index layers = 0;
  for (Index reach = 1; reach < apart + 1; reach *= kKernel) ++layers;
  return {.recurrent = apart, .convolution = layers};
}

}  // namespace headlight
