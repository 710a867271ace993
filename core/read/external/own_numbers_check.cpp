#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/printable.h"
#include "math/reference.h"
#include "read/external/own_numbers.h"

namespace headlight {
namespace {

using Numbers = reference::Grid;

/// Printed numbers have about two decimals.
constexpr double kPrinted = 0.011;

std::string shape_of(const NumberTable& table) { return shape_text({table.numbers.rows(), table.numbers.cols()}); }

std::string rounded(double value) { return formatted("%.2f", value); }

std::string row_text(Index row, const std::vector<std::string>& labels) {
  const auto at = static_cast<std::size_t>(row);
  return "row " + std::to_string(row) + (at < labels.size() ? " (" + printable(labels[at]) + ")" : "");
}

void check_sums(const NumberTable& weights, std::vector<Error>& found) {
  for (Index row = 0; row < weights.numbers.rows(); ++row) {
    const double sum = weights.numbers.row(row).cast<double>().sum();
    if (std::abs(sum - 1) >= 0.005)
      found.emplace_back(ErrorCode::sum_not_one, "weights",
                         row_text(row, weights.row_labels) + " sums to " + rounded(sum) + ", not to 1");
    if (weights.numbers.row(row).minCoeff() < 0)
      found.emplace_back(ErrorCode::weight_below_zero, "weights",
                         row_text(row, weights.row_labels) + " has a weight below 0");
  }
}

double distance(const Numbers& a, const Numbers& b) {
  double largest = 0;
  for (Index i = 0; i < a.size(); ++i)
    if (a.data()[i] != b.data()[i]) largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
  return largest;
}

/// Weights beside their scores: are they its softmax, and if not, the softmax of what?
void check_softmax(const NumberTable& scores, const NumberTable& weights, std::vector<Error>& found) {
  const Numbers given = weights.numbers.cast<double>(), logits = scores.numbers.cast<double>();
  if (given.rows() != logits.rows() || given.cols() != logits.cols()) {
    found.emplace_back(ErrorCode::wrong_columns, "weights", shape_of(weights) + ", the scores " + shape_of(scores));
    return;
  }
  const Numbers right = reference::softmax(logits);
  if (distance(given, right) < kPrinted) return;
  if (logits.rows() > 1 && distance(given, reference::softmax(logits.transpose()).transpose()) < kPrinted) {
    found.emplace_back(ErrorCode::softmax_of_columns, "weights",
                       "the softmax of the columns of the scores, not of their rows");
    return;
  }
  for (Index row = 0; row < given.rows(); ++row) {
    Index at = 0;
    const double far = (given.row(row) - right.row(row)).cwiseAbs().maxCoeff(&at);
    if (far < kPrinted) continue;
    found.emplace_back(ErrorCode::not_softmax, "weights",
                       row_text(row, weights.row_labels) + " is not the softmax of its scores: at column " +
                           std::to_string(at) + " " + rounded(given(row, at)) + ", the softmax is " +
                           rounded(right(row, at)));
  }
}

struct Products {
  Numbers dot;      // q·kᵀ
  double root = 1;  // √d_k
};
/// Of an x that its weights fit, of one head.
Products products_of(const OwnNumbers& numbers) {
  const Numbers x = numbers.x->numbers.cast<double>();
  const auto projected = [&](const std::vector<NumberTable>& weight) -> Numbers {
    return weight.empty() ? x : Numbers(x * side_by_side(weight).cast<double>());
  };
  const Numbers q = projected(numbers.w_q), k = projected(numbers.w_k);
  return {q * k.transpose(), std::sqrt(static_cast<double>(q.cols()))};
}

/// Scores beside x: are they q·kᵀ/√d_k, and if not, which of the known mistakes?
void check_scale(const Products& products, const NumberTable& claimed, std::vector<Error>& found) {
  const auto& [dot, root] = products;
  const Numbers scores = claimed.numbers.cast<double>();
  if (scores.rows() != dot.rows() || scores.cols() != dot.cols()) {
    found.emplace_back(ErrorCode::wrong_columns, "scores",
                       shape_of(claimed) + ", x·W_Q·(x·W_K)ᵀ is " + shape_text({dot.rows(), dot.cols()}));
    return;
  }
  const auto are = [&](const Numbers& expected) {
    for (Index i = 0; i < scores.size(); ++i)
      if (std::isfinite(scores.data()[i]) &&
          !(std::abs(scores.data()[i] - expected.data()[i]) < kPrinted * std::max(1.0, std::abs(expected.data()[i]))))
        return false;
    return true;
  };
  const auto add = [&](ErrorCode code, const std::string& line) { found.emplace_back(code, "scores", line); };
  if (are(dot / root)) return;
  if (are(dot * root)) add(ErrorCode::scores_multiplied, "multiplied by sqrt(d_k), not divided by it");
  else if (are(dot)) add(ErrorCode::scores_not_divided, "not divided by sqrt(d_k)");
  else if (are(dot / (root * root))) add(ErrorCode::scores_divided_twice, "divided by d_k, not by its square root");
  else if (dot.rows() == dot.cols() && are(dot.transpose() / root))
    add(ErrorCode::scores_transposed, "k·qᵀ, the transpose of q·kᵀ");
  else
    add(ErrorCode::scores_not_of_x,
        "not x·W_Q·(x·W_K)ᵀ / sqrt(d_k), by up to " + rounded(distance(scores, dot / root)));
}

/// A square table whose first numbers left of the diagonal alone may be attended to.
void check_future(const NumberTable& scores, std::vector<Error>& found) {
  const Matrix& numbers = scores.numbers;
  if (numbers.rows() != numbers.cols() || numbers.rows() < 2) return;
  for (Index row = 0; row < numbers.rows(); ++row)
    for (Index column = 0; column < numbers.cols(); ++column)
      if (std::isfinite(numbers(row, column)) != (column < row)) return;
  found.emplace_back(ErrorCode::mask_without_self, "scores",
                     "row t sees 1 … t − 1; with a causal mask it sees itself too, 1 … t: here " +
                         row_text(0, scores.row_labels) + " sees nothing");
}

}  // namespace

std::vector<Error> check_numbers(const OwnNumbers& numbers) {
  std::vector<Error> found;
  if (numbers.scores) check_future(*numbers.scores, found);
  if (numbers.weights) check_sums(*numbers.weights, found);
  std::optional<Products> products;
  if (numbers.x && heads_of_numbers(numbers) == 1 && model_of_numbers("numbers", numbers))
    products = products_of(numbers);
  if (numbers.scores && products) check_scale(*products, *numbers.scores, found);
  if (numbers.weights && numbers.scores) check_softmax(*numbers.scores, *numbers.weights, found);
  else if (numbers.weights && products)
    check_softmax(NumberTable{(products->dot / products->root).cast<float>()}, *numbers.weights, found);
  return found;
}

}  // namespace headlight
