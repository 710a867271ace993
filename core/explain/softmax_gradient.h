// How strongly the weights of a row answer to its scores, and what the scale 1/√d_k does to that.
#pragma once

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// The size of ∂A/∂score of each row a of softmax weights, (R): the Frobenius norm of the Jacobian diag(a) − aᵀa
/// (Bridle 1990, "Probabilistic Interpretation of Feedforward Classification Network Outputs"), √(Σ_i a_i²(1 − a_i)² +
/// Σ_i≠j a_i² a_j²). 0 where one key has all of the weight, and of a row of zeros. Large scores lead there, and then
/// nothing is learned through the row: why scores are scaled (Vaswani et al. 2017, 3.2.1).
Vector softmax_gradient(const Matrix& weights);

/// The same rows of one head with the scale that its scores have, and with another.
struct ScaleEffect {
  float scale = 1;        // as it is
  float other_scale = 1;  // 1, so that a score is q·k; 1/√d_k where the scale is 1
  Vector gradient;        // (R)
  Vector other;  // (R) with the other scale; empty where that is the same, or another program computed the weights
};

/// Of the queries [first, first + count), before dropout and weights set by hand.
ScaleEffect scale_effect(const Trace& trace, const HeadRef& head, Index first, Index count);

}  // namespace headlight
