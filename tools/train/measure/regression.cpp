#include "train/measure/regression.h"

#include <cmath>
#include <numbers>

namespace headlight {
namespace {

constexpr int kDescents = 100;
constexpr float kRate = 0.05f, kDecay = 0.003f, kBeta1 = 0.9f, kBeta2 = 0.98f;

}  // namespace

Matrix regression(Cases cases, Index classes) {
  Matrix& x = cases.features;
  const Index count = x.rows();
  Vector mean = x.colwise().mean();
  Vector scale = (((x.rowwise() - mean).array().square().colwise().mean() + 1e-6f).rsqrt()).matrix();
  mean(0) = 0, scale(0) = 1;  // the constant
  x = ((x.rowwise() - mean).array().rowwise() * scale.array()).matrix();
  Matrix weights = Matrix::Zero(classes, x.cols()), first = weights, second = weights;
  for (int step = 1; step <= kDescents; ++step) {
    Matrix errors = x * weights.transpose();
    for (Index i = 0; i < count; ++i) {
      errors.row(i).array() -= errors.row(i).maxCoeff();
      errors.row(i) = errors.row(i).array().exp().matrix();
      errors.row(i) /= errors.row(i).sum();
      errors(i, cases.classes[static_cast<std::size_t>(i)]) -= 1;
    }
    const Matrix gradient = errors.transpose() * x / static_cast<float>(count) + kDecay * weights;
    first = kBeta1 * first + (1 - kBeta1) * gradient;
    second = (kBeta2 * second.array() + (1 - kBeta2) * gradient.array().square()).matrix();
    const auto turn = std::numbers::pi_v<float> * static_cast<float>(step) / static_cast<float>(kDescents);
    const float rate = kRate * 0.5f * (1 + std::cos(turn));
    const auto bias = [&](float beta) { return 1 - std::pow(beta, static_cast<float>(step)); };
    weights -= (rate * (first.array() / bias(kBeta1)) / ((second.array() / bias(kBeta2)).sqrt() + 1e-8f)).matrix();
  }
  weights = (weights.array().rowwise() * scale.array()).matrix();
  weights.col(0) -= weights * mean.transpose();
  return weights;
}

Matrix rounded(const Matrix& weights) { return weights.cast<Eigen::half>().cast<float>(); }

}  // namespace headlight
