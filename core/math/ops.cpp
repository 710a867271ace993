#include "math/ops.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace headlight {
namespace {

/// Rows of a weight in half precision that are widened at a time: a few hundred kilobytes for each thread. The parts
/// are the same whatever the number of threads, and so are the sums within them.
constexpr Index kRowsWidened = 64;

Matrix times_half(const ConstMatrixRef& x, const HalfMatrix& half, int threads) {
  Matrix y(x.rows(), half.rows);
  parallel_for((half.rows + kRowsWidened - 1) / kRowsWidened, threads, [&](Index part) {
    const Index first = part * kRowsWidened, count = std::min(kRowsWidened, half.rows - first);
    y.middleCols(first, count).noalias() = x * widened(half, first, count).transpose();
  });
  return y;
}

}  // namespace

Matrix linear(const ConstMatrixRef& x, const Linear& weights, int threads) {
  Matrix y;
  if (weights.half) y = times_half(x, *weights.half, threads);
  else if (weights.weight.size() == 0) y = x;
  else y.noalias() = x * weights.weight.transpose();
  if (weights.bias.size() > 0) y.rowwise() += weights.bias;
  return y;
}

Matrix norm(const ConstMatrixRef& x, const NormWeights& weights) {
  Matrix y(x.rows(), x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    if (weights.kind == NormKind::layer_norm) y.row(t) = x.row(t).array() - x.row(t).mean();
    else y.row(t) = x.row(t);
    const float variance = y.row(t).squaredNorm() / static_cast<float>(x.cols());
    y.row(t) *= 1.0f / std::sqrt(variance + weights.epsilon);
    y.row(t) = y.row(t).cwiseProduct(weights.scale);
    if (weights.shift.size() > 0) y.row(t) += weights.shift;
  }
  return y;
}

Matrix norm_heads(const ConstMatrixRef& x, const NormWeights& weights, Index heads) {
  Matrix y(x.rows(), x.cols());
  const Index d = x.cols() / heads;
  for (Index head = 0; head < heads; ++head) y.middleCols(head * d, d) = norm(x.middleCols(head * d, d), weights);
  return y;
}

float activate(float x, Activation activation) {
  switch (activation) {
    case Activation::relu: return x < 0.0f ? 0.0f : x;
    case Activation::gelu: return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
    case Activation::gelu_tanh: return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case Activation::silu: break;
  }
  return x / (1.0f + std::exp(-x));
}

void activate(MatrixRef x, Activation activation) {
  if (activation == Activation::relu) x = x.cwiseMax(0.0f);
  else x = x.unaryExpr([activation](float v) { return activate(v, activation); });
}

}  // namespace headlight
