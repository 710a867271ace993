// The operations of a block: linear, norm, activation (math/reference.h, steps 1, 8 and 9). x has one token a row.
#pragma once

#include "base/matrix.h"
#include "base/parallel.h"
#include "model/weights.h"

namespace headlight {

/// x·Wᵀ + b, (T, in) → (T, out); an empty bias is zero, an empty weight the identity. No bit of the result depends on
/// the number of threads or on how the weight is stored, and a row does not depend on the other rows.
Matrix linear(const ConstMatrixRef& x, const Linear& weights, const Threads& threads = {});

/// The norm of weights.kind. layer_norm: each row to mean 0 and variance 1 (Ba, Kiros & Hinton 2016); rms_norm:
/// each row divided by the root of its mean square (Zhang & Sennrich 2019). Then scaled and shifted.
Matrix norm(const ConstMatrixRef& x, const NormWeights& weights, const Threads& threads = {});

/// The same for each of `heads` parts of a row by itself; the weights have the size of one part.
Matrix norm_heads(const ConstMatrixRef& x, const NormWeights& weights, Index heads, const Threads& threads = {});

/// The activation of one number. gelu: x·Φ(x) with the exact Gaussian distribution function, gelu_tanh: its
/// approximation by tanh (Hendrycks & Gimpel 2016); silu: x / (1 + e^-x) (Elfwing, Uchibe & Doya 2018); quick_gelu:
/// x / (1 + e^(-1.702·x)) (Hendrycks & Gimpel 2016).
float activate(float x, Activation activation);
void activate(MatrixRef x, Activation activation, const Threads& threads = {});

/// Max-pools rows [first, …) of a pattern of `pattern_rows` × `pattern_columns` cells into its shrunk picture. `rows`
/// holds the first columns; the others are 0 and change nothing.
void pool_into(const ConstMatrixRef& rows, Index first, Index pattern_rows, Index pattern_columns, Matrix& picture);
/// Of the largest numbers of groups and the largest of their negatives: the ones farther from 0.
Matrix farther_from_zero(const Matrix& largest, const Matrix& below);

/// Whether all numbers are finite.
bool all_finite(const Matrix& x, const Threads& threads = {});

}  // namespace headlight
