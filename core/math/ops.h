// The small operations that a block is made of. x holds one token a row.
#pragma once

#include "base/matrix.h"
#include "model/weights.h"

namespace headlight {

/// x·Wᵀ + b, (T, in) → (T, out), an empty bias zero; on up to `threads` threads (0: one for each processor), which change
/// no bit of the result. A row of it does not depend on the other rows.
Matrix times(const ConstMatrixRef& x, const Matrix& weight, const Vector& bias = {}, int threads = 1);

/// The same; an empty weight is the identity. A weight in half precision is widened part by part.
Matrix linear(const ConstMatrixRef& x, const Linear& weights, int threads = 1);

/// The norm that the weights name. layer_norm: each row to mean 0 and variance 1 (Ba, Kiros & Hinton 2016); rms_norm:
/// each row divided by the root of its mean square (Zhang & Sennrich 2019). Then scaled and shifted.
Matrix norm(const ConstMatrixRef& x, const NormWeights& weights);

/// The same for each of `heads` parts of a row on its own, with weights of one part.
Matrix norm_heads(const ConstMatrixRef& x, const NormWeights& weights, Index heads);

/// The activation of one number. gelu: x·Φ(x) with the exact Gaussian distribution function, gelu_tanh: its
/// approximation by tanh (Hendrycks & Gimpel 2016); silu: x / (1 + e^-x) (Elfwing, Uchibe & Doya 2018).
float activate(float x, Activation activation);
void activate(MatrixRef x, Activation activation, int threads = 1);

}  // namespace headlight
