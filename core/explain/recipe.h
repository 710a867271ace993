// How each matrix is computed from others. Values, terms of a cell, formulas and the edges of the diagram are all
// derived from it.
#pragma once

#include <vector>

#include "explain/matrices.h"

namespace headlight {

enum class Operation {
  given,  // {}: learned, looked up, or from a file
  sine,
  cosine,         // {}: of position · frequency
  copy,           // {a}: unchanged
  sum,            // {a, b, …}
  scale,          // {a[, b]}: times `factor`, plus the vector b
  soft_cap,       // {a}: factor·tanh(a / factor)
  distance,       // {q or k, vectors of distances}: their product for the distance of the cell
  routing,        // {router's scores}: their softmax where they are among the largest, else 0
  mixture,        // {input, routing[, shared output]}: the experts' outputs, weighted, and that of all tokens
  shared_expert,  // {input}
  projection,     // {x, W[, b]}: x·Wᵀ + b; x has as many columns as are taken of W, from `offset` on
  columns,        // {x[, b]}: column c + `offset` of x, 0 outside of it, plus b: a projection that is the identity
  dot_product,    // {q, k}: q·kᵀ
  mask,           // {scaled[, relative bias], mask}: their sum
  logarithm,      // {a}
  exponential,    // {scores[, sink]}: exp(score - the row's largest)
  softmax,        // {exponentials[, sink]}: each divided by the sum of its row
  dropout,        // {weights}: times 0 or 1 / (1 - p)
  set_by_hand,    // {weights}: some replaced, the rest of their rows rescaled
  share_of_rest,  // of a cell: what is left of 1, in the old proportion
  weighted_sum,   // {weights, v}: weights·v
  zero_off,       // {z}: a head that is switched off
  mean_off,       // {z}: each row replaced by the mean over the queries
  concatenation,  // {z of head 0, z of head 1, …}: side by side
  layer_norm,
  rms_norm,    // {x, scale[, shift]}
  rotation,    // {x}: pairs of columns rotated by position · frequency
  activation,  // {a}
  product,     // {a, b}: cell by cell
};

struct Recipe {
  Operation operation = Operation::given;
  std::vector<MatrixId> operands;
  float factor = 1;  // of scale and soft_cap
  Index offset = 0;  // of projection and columns
};

/// How the matrix is computed. It must exist.
Recipe recipe(const Trace& trace, const MatrixId& id);

}  // namespace headlight
