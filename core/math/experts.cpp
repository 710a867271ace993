#include "math/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headlight {
namespace {

/// Rows that go through a feed-forward together.
constexpr Index kFfnRows = 1024;

/// Adds weight(t)·expert(x_t) to the rows of the tokens that go through the expert.
void add_expert(const Experts::Expert& expert, Activation activation, const ConstMatrixRef& input,
                const Eigen::Ref<const Eigen::VectorXf, 0, Eigen::InnerStride<>>& weights, const Threads& threads,
                Matrix& output) {
  std::vector<Index> tokens;
  for (Index t = 0; t < weights.size(); ++t)
    if (weights(t) != 0.0f) tokens.push_back(t);
  if (tokens.empty()) return;
  Matrix own(static_cast<Index>(tokens.size()), input.cols());
  for (std::size_t i = 0; i < tokens.size(); ++i) own.row(static_cast<Index>(i)) = input.row(tokens[i]);
  const Matrix made = expert_output(expert, activation, own, threads);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    output.row(tokens[i]) += made.row(static_cast<Index>(i)) * weights(tokens[i]);
}

Matrix experts_output(const Experts& experts, Activation activation, const ConstMatrixRef& input,
                      const Threads& threads) {
  const Matrix weights = routing(experts, input, threads);
  Matrix output = Matrix::Zero(input.rows(), input.cols());
  for (std::size_t expert = 0; expert < experts.all.size(); ++expert)
    add_expert(experts.all[expert], activation, input, weights.col(static_cast<Index>(expert)), threads, output);
  if (experts.shared)
    add_expert(*experts.shared, activation, input, shared_weight(experts, input).col(0), threads, output);
  return output;
}

}  // namespace

Matrix ffn_hidden(const Linear& gate, const Linear& up, Activation activation, const ConstMatrixRef& input,
                  const Threads& threads) {
  if (gate.is_identity()) {
    Matrix hidden = linear(input, up, threads);
    activate(hidden, activation, threads);
    return hidden;
  }
  Matrix hidden = linear(input, gate, threads);
  activate(hidden, activation, threads);
  return hidden.cwiseProduct(linear(input, up, threads));
}

Matrix routing(const Experts& experts, const ConstMatrixRef& input, const Threads& threads) {
  const Matrix scores = linear(input, experts.router, threads);
  Matrix weights = Matrix::Zero(scores.rows(), scores.cols());
  const auto chosen = static_cast<std::size_t>(std::min(experts.chosen, scores.cols()));
  std::vector<Index> order(static_cast<std::size_t>(scores.cols()));
  for (Index t = 0; t < scores.rows(); ++t) {
    std::iota(order.begin(), order.end(), Index{0});
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen), order.end(),
        [&](Index a, Index b) { return scores(t, a) != scores(t, b) ? scores(t, a) > scores(t, b) : a < b; });
    const double largest = static_cast<double>(scores(t, order.front()));
    const auto exponential = [&](Index expert) { return std::exp(static_cast<double>(scores(t, expert)) - largest); };
    double all = 0, of_chosen = 0;
    for (Index expert = 0; expert < scores.cols(); ++expert) all += exponential(expert);
    for (std::size_t i = 0; i < chosen; ++i) of_chosen += exponential(order[i]);
    for (std::size_t i = 0; i < chosen; ++i)
      weights(t, order[i]) = static_cast<float>(exponential(order[i]) / (experts.to_one ? of_chosen : all));
  }
  return weights;
}

Matrix shared_weight(const Experts& experts, const ConstMatrixRef& input) {
  if (!experts.shared_gate) return Matrix::Ones(input.rows(), 1);
  Matrix weights = linear(input, *experts.shared_gate);
  for (Index t = 0; t < weights.rows(); ++t)
    weights(t, 0) = static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(weights(t, 0)))));
  return weights;
}

Matrix expert_output(const Experts::Expert& expert, Activation activation, const ConstMatrixRef& input,
                     const Threads& threads) {
  return linear(ffn_hidden(expert.gate, expert.up, activation, input, threads), expert.down, threads);
}

Matrix feed_forward(const BlockWeights& block, Activation activation, const ConstMatrixRef& input,
                    const Threads& threads) {
  Matrix output(input.rows(), input.cols());
  for (Index first = 0; first < input.rows(); first += kFfnRows) {
    const Index rows = std::min(kFfnRows, input.rows() - first);
    const auto part = input.middleRows(first, rows);
    if (threads.stop && *threads.stop) return output;
    output.middleRows(first, rows) =
        block.experts ? experts_output(*block.experts, activation, part, threads)
                      : linear(ffn_hidden(block.gate, block.up, activation, part, threads), block.down, threads);
  }
  return output;
}

}  // namespace headlight
