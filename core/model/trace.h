// The answer to a Request: immutable, and it carries its Request. Attention patterns are not stored: a pattern is a
// function of query, key and mask (math/attention.h), computed for the rows somebody looks at. What `forward` sees
// anyway it keeps: per row the largest score and the sum of exponentials, per head a max-pooled thumbnail.
// So memory grows with T·d_model, not with layers·heads·T².
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/request.h"

namespace headlight {

/// A thumbnail's longer side; a sentence of up to this many tokens has its exact pattern in it.
inline constexpr Index kThumbnail = 128;

struct HeadTrace {
  Vector row_max;    // (T) largest score of the row after scale and mask; -inf where the row may attend to nothing
  Vector row_sum;    // (T) sum of exp(score - row_max); 0 where the row may attend to nothing
  Matrix thumbnail;  // (min(T, kThumbnail), min(S, kThumbnail)) largest weight of each group of cells
};

struct AttentionTrace {
  Matrix query;   // (T, H·d_k), head h in columns h·d_k … (h+1)·d_k
  Matrix key;     // (S, H·d_k)
  Matrix value;   // (S, H·d_k)
  Matrix z;       // (T, H·d_k) weights · value, the heads side by side: the concatenation
  Matrix output;  // (T, d_model) z · W_Oᵀ + b_O
  std::vector<HeadTrace> heads;
};

struct BlockTrace {
  Matrix attention_input;  // (T, d_model) what the projections read: the residual stream, normed where the norm comes first
  AttentionTrace self;
  Matrix after_attention;  // (T, d_model) after residual sum (and norm where it comes last)
  Matrix output;           // (T, d_model) the block's result
};

struct Trace {
  Request request;
  std::shared_ptr<const Model> model;  // the request's, or the fresh one
  Mask mask;
  float scale = 1;                     // multiplies q·k
  Matrix embedding;                    // (T, d_model) token vectors and positions: hidden state 0
  std::vector<BlockTrace> blocks;
  Matrix last_hidden_state;            // (T, d_model) after the final norm where there is one
  float largest_weight = 0;            // of every head: what the colours reach up to
  std::vector<std::string> warnings;

  Index queries() const { return mask.queries(); }
  Index keys() const { return mask.keys(); }
  Index num_layers() const { return static_cast<Index>(blocks.size()); }
  Index num_heads() const { return model->config.num_heads; }
  const Tokens& query_tokens() const { return model->given ? model->given->query_tokens : request.tokens; }
  const Tokens& key_tokens() const { return model->given ? model->given->key_tokens : request.tokens; }
};

/// The columns of head `head` in a matrix with the heads side by side.
inline auto head_columns(const Matrix& side_by_side, Index head, Index num_heads) {
  const Index d_k = side_by_side.cols() / num_heads;
  return side_by_side.middleCols(head * d_k, d_k);
}

}  // namespace headlight
