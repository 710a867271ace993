// Positions: sinusoids added to the token vectors, rotation of queries and keys, a bias of the scores
// (math/reference.h, step 7).
#pragma once

#include <vector>

#include "base/matrix.h"
#include "model/weights.h"

namespace headlight {

/// (T, d_model): sin(pos / 10000^(2i/d)) and its cosine (Vaswani et al. 2017, section 3.5): in columns 2i and 2i + 1,
/// or, with `halves`, in columns i and ⌈d/2⌉ + i.
Matrix sinusoidal_positions(Index tokens, Index d_model, bool halves = false);

/// Rotates the pairs of each of `heads` parts of x (T, heads·d_k) by the angle position·frequency (Su et al. 2021,
/// equation 34). The first row has position `first_position`.
Matrix rotated(const ConstMatrixRef& x, const Rotary& rotary, Index heads, Index first_position = 0);

/// The angle by which a pair of a token's columns is rotated.
float rotary_angle(const Rotary& rotary, Index position, Index pair);

/// What ALiBi (Press et al. 2022, section 3) multiplies the distance by in each head: 2^(−most / heads), its square, …;
/// where the heads are no power of two, those of the next lower one, then every other one of twice as many.
std::vector<double> alibi_slopes(Index heads, double most = 8);

/// The row of the bias table for a key `offset` positions after its query (negative: before it).
Index relative_bucket(const RelativeBias& bias, Index offset);

/// The bias of the scores of one head, rows [first, first + count) of a pattern with `keys` columns.
Matrix relative_bias_rows(const RelativeBias& bias, Index head, Index first, Index count, Index keys);

}  // namespace headlight
