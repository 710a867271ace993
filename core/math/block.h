// One layer: attention and feed-forward, each with its residual sum and norm.
#pragma once

#include "math/forward.h"

namespace headlight {

/// Attention of `query_input` (T, d) over `key_input`, `value_input` (S, d): projections, all heads, W_O.
/// `share` of the whole work is added to the progress on the way. False when stopped.
bool run_attention(const AttentionWeights& weights, const Trace& trace, const ConstMatrixRef& query_input,
                   const ConstMatrixRef& key_input, const ConstMatrixRef& value_input, const Matrix& blocked,
                   int threads, AttentionTrace& attention, Progress& progress, float share);

/// One block over the residual stream `x` (T, d_model). Post-norm: x ← norm(x + f(x)); pre-norm: x ← x + f(norm(x))
/// (Xiong et al. 2020 compares the two). False when stopped.
bool run_block(const BlockWeights& weights, const Trace& trace, const Matrix& x, const Matrix& blocked, int threads,
               BlockTrace& block, Progress& progress, float share);

}  // namespace headlight
