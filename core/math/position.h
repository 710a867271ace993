// Where a token stands in the sentence: added to what it is, or turned into its query and key.
#pragma once

#include "base/matrix.h"
#include "model/weights.h"

namespace headlight {

/// (T, d_model): sin(pos / 10000^(2i/d)) and its cosine (Vaswani et al. 2017, section 3.5): in columns 2i and 2i + 1,
/// or, with `halves`, in columns i and ⌈d/2⌉ + i.
Matrix sinusoidal_positions(Index tokens, Index d_model, bool halves = false);

/// Turns the pairs of each of `heads` parts of x (T, heads·d_k) by the angle place·frequency (Su et al. 2021,
/// equation 34). The first row stands at `first_place`.
Matrix rotated(const ConstMatrixRef& x, const Rotary& rotary, Index heads, Index first_place = 0);

/// The row of the bias' table for a key `offset` places after its query (before it: negative).
Index relative_bucket(const RelativeBias& bias, Index offset);

/// What is added to the scores of one head, rows [first, first + count) of a pattern with `keys` columns.
Matrix relative_bias_rows(const RelativeBias& bias, Index head, Index first, Index count, Index keys);

}  // namespace headlight
