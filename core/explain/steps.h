// The computation of one attention weight, from the two tokens' vectors to the output, step by step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/cell.h"

namespace headlight {

/// `from` in the words of the steps ("q[3]", "weight[2]"); where it is one side of a product, `times` is the other and
/// `factor` its value (none where it is a whole vector: "v of key 2").
struct StepTerm {
  std::string from;
  float value = 0;
  std::string times = {};
  std::optional<float> factor = {};
};

/// One step. `value` is what of the matrix concerns this weight: a number (1, 1), a row, or a weight matrix.
struct Step {
  /// x_query, W_Q, b_Q, q_projected, q_normed, q, x_key, W_K, …, k, products, dot, scaled, given, logarithm, mask,
  /// scores, exponentials, sum, softmax, dropped, weight, gradient, gradient_unscaled or gradient_scaled, x_value, W_V,
  /// b_V, v, share, head_output, z, concat, W_O, b_O, contribution, output
  std::string name;
  std::string title;  // "The query of this head"
  std::string formula;
  Shape shape;  // of the whole matrix
  Matrix value;
  bool number = false;  // `value` is the one cell of this weight, not a row that happens to have one column
  /// The terms of the number; of a row, those of each of its numbers, the products of a projection summed.
  std::vector<StepTerm> terms;
  MatrixId id;             // where to look on
  Index row = 0, col = 0;  // value(r, c) is cell (row + r, col + c) of `id` …
  bool addends = false;    // … or an addend: of products and sum of cell (row, col), of share of (row, col + c); or a
                           // measure of its row: the gradients
};

/// Steps that this attention does not have are left out: of a pattern computed elsewhere there is the weight alone.
std::vector<Step> steps_of(const Trace& trace, const HeadRef& head, const CellRef& cell);

}  // namespace headlight
