// How a number that is read from the logits changes with every activation of an answer: one pass back through the
// layers of the forward pass (math/forward.h), from which it takes queries, keys, values and z.
#pragma once

#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "base/result.h"
#include "model/trace.h"

namespace headlight {

/// Of the numbers as AttentionTrace has them: after norm and rotation.
struct AttentionGradients {
  Matrix query, key, value, z;
};

struct BlockGradients {
  AttentionGradients self;
  std::optional<AttentionGradients> cross;
  Matrix ffn;     // (T, d_model) of what the feed-forward gives, before its norm and the sum; empty: it is off, or none
  Matrix output;  // (T, d_model)
};

struct Gradients {
  std::vector<BlockGradients> blocks;   // of the main stack
  std::vector<BlockGradients> encoder;  // of an encoder-decoder

  const BlockGradients& block(Stack stack, Index layer) const {
    return (stack == Stack::encoder ? encoder : blocks)[static_cast<std::size_t>(layer)];
  }
  const AttentionGradients& attention(Stack stack, Index layer) const {
    return stack == Stack::cross ? *block(stack, layer).cross : block(stack, layer).self;
  }
};

/// Of a number whose gradient by the logits of `query` is `of_logits` (V). Nothing when stopped. Errors: what has no
/// gradient here: experts, vectors of distances, dropout, weights set by hand, sentences whose z is not kept.
Result<std::optional<Gradients>> gradients_of(const Trace& trace, Index query, const Vector& of_logits,
                                              Progress& progress, int threads = 0);

}  // namespace headlight
