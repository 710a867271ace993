// The small operations that a block is made of. x holds one token a row.
#pragma once

#include "base/matrix.h"
#include "model/weights.h"

namespace headlight {

/// x·Wᵀ + b, (T, in) → (T, out); an empty weight is the identity, an empty bias zero.
Matrix linear(const ConstMatrixRef& x, const Linear& weights);

/// Each row to mean 0 and variance 1, then scaled and shifted (Ba, Kiros & Hinton 2016).
Matrix layer_norm(const ConstMatrixRef& x, const NormWeights& weights);

/// max(0, x), in place.
void relu(MatrixRef x);

/// x·Φ(x) with the exact Gaussian distribution function (Hendrycks & Gimpel 2016), in place.
void gelu(MatrixRef x);

}  // namespace headlight
