// The answer to a Request: immutable; it holds its Request. Attention patterns are not stored: a pattern is a function
// of query, key and mask (math/attention.h), computed for the rows that are shown. forward() stores what it computes
// anyway: per row the largest score and the sum of exponentials, per head a max-pooled thumbnail. Norms, residual sums
// and the projection of z follow from these row by row and are computed on request (explain/matrices.h). Memory
// therefore grows with T·d_model, five such matrices a layer, not with layers·heads·T².
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "base/matrix.h"
#include "model/request.h"

namespace headlight {

/// A thumbnail's longer side; a sentence of up to this many tokens has its exact pattern in it.
inline constexpr Index kThumbnail = 128;
/// z is not stored for sentences of more tokens.
inline constexpr Index kMostKeptZ = 2048;

struct HeadTrace {
  Vector
      row_max;  // (T) largest score of the row (or sink) after scale and mask; -inf where the row may attend to nothing
  Vector row_sum;     // (T) sum of exp(score - row_max), of a sink as well; 0 where the row may attend to nothing
  Matrix thumbnail;   // (min(T, kThumbnail), min(S, kThumbnail)) largest weight of each group of cells; -1 blocked
  float largest = 0;  // weight of the head
};

struct AttentionTrace {
  Matrix query;  // (T, H·d_k), head h in columns h·d_k … (h+1)·d_k; after norm and rotation where the model has them
  Matrix key;    // (S, H_kv·d_k)
  Matrix value;  // (S, H_kv·d_v)
  Matrix z;  // (T, H·d_v) weights · value, the heads side by side; empty above kMostKeptZ, where z_rows() makes it
  std::vector<HeadTrace> heads;
  std::shared_ptr<const Mask> mask;                        // mask_of() of a head
  float scale = 1;                                         // multiplies q·k
  float softcap = 0;                                       // of what that makes; 0: none
  Vector sinks = {};                                       // (H) logits that join the softmax of each head; empty: none
  std::shared_ptr<const RelativeBias> relative_bias = {};  // added after that; null: none
  std::shared_ptr<const DistanceVectors> distances = {};   // null: none
  Index num_kv_heads = 1;
  /// Weights that another program computed, one a head; then there are no query, key and value.
  const std::vector<Matrix>* patterns = nullptr;
  bool is_signed = false;  // some of these, or of those of another layer, are below 0: they are no shares of anything
  bool has_gaps = false;   // some of these are NaN

  Index num_heads() const { return static_cast<Index>(heads.size()); }
  /// Whether z is stored once the layer has been computed.
  bool keeps_z() const { return mask->queries() <= kMostKeptZ; }
  const Mask& mask_of(Index head) const { return mask->of_head(head); }
  /// The head of key and value that a query head reads.
  Index kv_head(Index head) const { return head * num_kv_heads / num_heads(); }
};

struct BlockTrace {
  AttentionTrace self;
  std::optional<AttentionTrace> cross;
  Matrix output;  // (T, d_model) the block's result
};

struct StackTrace {
  Matrix embedding;  // (T, d_model) token vectors and positions: hidden state 0; empty where q, k, v were given
  std::vector<BlockTrace> blocks;
  Matrix normed;  // (T, d_model) what the final norm makes of the last output; empty where there is none

  /// (T, d_model)
  const Matrix& last_hidden_state() const {
    return normed.size() > 0 ? normed : blocks.empty() ? embedding : blocks.back().output;
  }
};

/// The trace of the main stack, and all that belongs to it.
struct Trace : StackTrace {
  Request request;
  std::shared_ptr<const Model> model;         // the request's, or the fresh one
  std::shared_ptr<const StackTrace> encoder;  // of an encoder-decoder
  Index answering = 0;                        // the query whose hidden state predicts the next (or the masked) word
  Vector logits;             // (V) its scores over the vocabulary; empty where there is no output layer
  float largest_weight = 0;  // of every head: the upper end of the colour scale
  bool is_signed = false;  // of another program's numbers some are below 0: then −inf is blocked, in place of −1, and
                           // the largest is the farthest from 0
  std::vector<Error> warnings;

  /// What maps of weights have in blocked cells.
  float blocked() const { return is_signed ? -std::numeric_limits<float>::infinity() : -1.0f; }
  bool has(Stack stack) const { return has_stack(request, stack); }
  /// The blocks in which this attention happens: of `cross` the decoder's.
  const std::vector<BlockTrace>& blocks_of(Stack stack) const {
    return stack == Stack::encoder ? encoder->blocks : blocks;
  }
  const AttentionTrace& attention(Stack stack, Index layer) const {
    const BlockTrace& block = blocks_of(stack)[static_cast<std::size_t>(layer)];
    return stack == Stack::cross ? *block.cross : block.self;
  }
  const HeadTrace& head(const HeadRef& head) const {
    return attention(head.stack, head.layer).heads[static_cast<std::size_t>(head.head)];
  }
  /// What the heads of an attention have in common, and what one of them attends under.
  const Mask& mask(Stack stack = Stack::self, Index layer = 0) const { return *attention(stack, layer).mask; }
  const Mask& mask_of(const HeadRef& head) const { return attention(head.stack, head.layer).mask_of(head.head); }
  Index queries(Stack stack = Stack::self) const { return mask(stack).queries(); }
  Index keys(Stack stack = Stack::self) const { return mask(stack).keys(); }
  Index num_layers(Stack stack = Stack::self) const { return static_cast<Index>(blocks_of(stack).size()); }
  Index num_heads(Stack stack = Stack::self) const { return attention(stack, 0).num_heads(); }
  const Tokens& query_tokens(Stack stack = Stack::self) const { return headlight::query_tokens(request, stack); }
  const Tokens& key_tokens(Stack stack = Stack::self) const { return headlight::key_tokens(request, stack); }
};

/// The columns of head `head` in a matrix with `num_heads` heads side by side.
inline auto head_columns(const Matrix& side_by_side, Index head, Index num_heads) {
  const Index d_k = side_by_side.cols() / num_heads;
  return side_by_side.middleCols(head * d_k, d_k);
}

}  // namespace headlight
