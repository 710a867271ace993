#include "math/ops.h"

#include <algorithm>

#include "base/parallel.h"
#include "math/kernels.h"

namespace headlight {
namespace {

/// Below this many multiplications a product is not worth a thread.
constexpr Index kWorthAThread = 1 << 21;
/// Outputs of a part of a product, the same whatever the number of threads.
constexpr Index kOutputsOfPart = 128;
/// Numbers of an activation that are worth a thread.
constexpr Index kActivationsOfPart = 1 << 16;

/// x·Wᵀ + b, where part(first, count) gives rows of W.
template <class Part>
Matrix product_of_parts(const ConstMatrixRef& x, Index outputs, const Vector& bias, int threads, const Part& part) {
  Matrix y(x.rows(), outputs);
  const bool alone = x.rows() * x.cols() * outputs < kWorthAThread;
  parallel_for((outputs + kOutputsOfPart - 1) / kOutputsOfPart, alone ? 1 : threads, [&](Index number) {
    const Index first = number * kOutputsOfPart, count = std::min(kOutputsOfPart, outputs - first);
    const auto& weight = part(first, count);
    math_kernels().dot_products({.m = x.rows(), .n = count, .k = x.cols(), .x = x.data(), .x_row = x.outerStride(),
                                 .w = weight.data(), .w_row = weight.outerStride(), .c = &y(0, first),
                                 .c_row = y.outerStride(), .bias = bias.size() > 0 ? bias.data() + first : nullptr});
  });
  return y;
}

}  // namespace

Matrix times(const ConstMatrixRef& x, const Matrix& weight, const Vector& bias, int threads) {
  return product_of_parts(x, weight.rows(), bias, threads,
                          [&](Index first, Index count) -> ConstMatrixRef { return weight.middleRows(first, count); });
}

Matrix linear(const ConstMatrixRef& x, const Linear& weights, int threads) {
  if (weights.half)
    return product_of_parts(x, weights.half->rows, weights.bias, threads,
                            [&](Index first, Index count) { return widened(*weights.half, first, count); });
  if (weights.weight.size() > 0) return times(x, weights.weight, weights.bias, threads);
  Matrix y = x;
  if (weights.bias.size() > 0) y.rowwise() += weights.bias;
  return y;
}

Matrix norm(const ConstMatrixRef& x, const NormWeights& weights) { return norm_heads(x, weights, 1); }

Matrix norm_heads(const ConstMatrixRef& x, const NormWeights& weights, Index heads) {
  Matrix y(x.rows(), x.cols());
  const RowNorm own{.d = x.cols() / heads, .centred = weights.kind == NormKind::layer_norm,
                    .epsilon = weights.epsilon, .scale = weights.scale.data(),
                    .shift = weights.shift.size() > 0 ? weights.shift.data() : nullptr};
  for (Index t = 0; t < x.rows(); ++t)
    for (Index head = 0; head < heads; ++head)
      math_kernels().norm(own, x.data() + t * x.outerStride() + head * own.d, &y(t, head * own.d));
  return y;
}

float activate(float x, Activation activation) {
  Matrix one = Matrix::Constant(1, 1, x);
  activate(one, activation);
  return one(0, 0);
}

void activate(MatrixRef x, Activation activation, int threads) {
  const MathKernels& kernels = math_kernels();
  const auto function = activation == Activation::relu        ? kernels.relu
                        : activation == Activation::gelu      ? kernels.gelu
                        : activation == Activation::gelu_tanh ? kernels.gelu_tanh
                                                              : kernels.silu;
  const Index rows = std::max<Index>(1, kActivationsOfPart / std::max<Index>(x.cols(), 1));
  parallel_for((x.rows() + rows - 1) / rows, threads, [&](Index part) {
    for (Index t = part * rows; t < std::min(x.rows(), (part + 1) * rows); ++t)
      function(x.data() + t * x.outerStride(), x.cols());
  });
}

}  // namespace headlight
