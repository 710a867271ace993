#include "math/ops.h"

#include <cmath>

namespace headlight {

Matrix linear(const ConstMatrixRef& x, const Linear& weights) {
  Matrix y;
  if (weights.weight.size() == 0) y = x;
  else y.noalias() = x * weights.weight.transpose();
  if (weights.bias.size() > 0) y.rowwise() += weights.bias;
  return y;
}

Matrix layer_norm(const ConstMatrixRef& x, const NormWeights& weights) {
  Matrix y(x.rows(), x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    const float mean = x.row(t).mean();
    y.row(t) = x.row(t).array() - mean;
    const float variance = y.row(t).squaredNorm() / static_cast<float>(x.cols());
    y.row(t) *= 1.0f / std::sqrt(variance + weights.epsilon);
    y.row(t) = y.row(t).cwiseProduct(weights.scale) + weights.shift;
  }
  return y;
}

void relu(MatrixRef x) { x = x.cwiseMax(0.0f); }

void gelu(MatrixRef x) {
  x = x.unaryExpr([](float v) { return 0.5f * v * (1.0f + std::erf(v * 0.70710678f)); });
}

}  // namespace headlight
