// What some families do to the scores between q·k·scale and the mask (math/reference.h, step 3): a soft cap, and terms
// of the distance between query and key.
#pragma once

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// x ← cap·tanh(x / cap): scores stay within ±cap (Bello et al. 2017; Gemma Team 2024, section 2). One cell does not
/// depend on another.
void soft_cap(MatrixRef x, float cap);

/// Of the softmax of some rows, with the row's largest score and sum of exponentials: what it is where a sink's logit
/// stands beside the scores and is dropped afterwards (Xiao et al. 2023, section 3.3; OpenAI 2025, section 2.3). Rows
/// then sum to less than 1. A row that may attend to nothing stays 0.
void join_sink(float sink, MatrixRef weights, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum);

/// The row of DistanceVectors for a query that stands `distance` tokens after its key (negative: before it): near
/// distances have a row each, farther ones share rows by their logarithm (He et al. 2021, equation 3; He, Gao & Chen
/// 2023).
Index distance_row(const DistanceVectors& vectors, Index distance);

/// What the rows of one head share: its part of the distances' vectors.
struct DistanceTerms {
  Linear keys;     // (R, d_k); empty: no term content to position
  Matrix of_keys;  // (K, R) k·queries·scale; empty: no term position to content
};
/// For the first `keys` keys of a head of an attention with distances.
DistanceTerms distance_terms(const AttentionTrace& attention, Index head, Index keys);

/// q_i·keys[distance]·scale for rows [first, first + count), (count, K).
Matrix content_to_position(const AttentionTrace& attention, const DistanceTerms& terms, Index head, Index first,
                           Index count, Index keys);
/// k_j·queries[distance]·scale, the same shape.
Matrix position_to_content(const AttentionTrace& attention, const DistanceTerms& terms, Index first, Index count,
                           Index keys);

}  // namespace headlight
