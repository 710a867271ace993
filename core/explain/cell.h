// One number and the numbers it was computed from, each with the cell that holds it: a chain of clicks that ends at
// learned weights.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/recipe.h"

namespace headlight {

/// A cell of a matrix and its value.
struct CellValue {
  MatrixId id;
  Index row = 0, col = 0;
  float value = 0;
};

/// The origin of a number: an addend (from · factor) of sums and products; else an operand, with a factor of 1.
struct Term {
  CellValue from;
  std::optional<CellValue> times = {};  // the other side of a product: then `factor` is its value
  float factor = 1;                     // or a number that is in no matrix: the scale, a cosine
  float contribution = 0;               // from.value · factor
};

/// A number that is in no matrix: "scale", "mean", "variance", "epsilon", "largest", "sum", "position", "frequency",
/// "distance" and "bucket" of a relative bias, "sink" for its exponential.
struct Constant {
  std::string name;
  double value = 0;
};

/// `terms`, by operation: given, sine, cosine, zero_off and set_by_hand have none.
/// sum, scale, distance, mixture, projection, columns, dot_product, mask, dropout, weighted_sum, mean_off,
/// concatenation, rotation, copy, product: the addends, whose contributions sum up to the value. exponential: the
/// score, then the row's largest or the sink. softmax: the whole row of exponentials, then the sink, whose exponential
/// is a constant.
/// share_of_rest: this weight before, those of the others that were not set, then those that were set (of the same
/// matrix). layer_norm, rms_norm: the row, then the norm's scale and shift at this column. activation, logarithm,
/// soft_cap: the input. routing: the row of scores. shared_expert: the row of its input.
struct Cell {
  MatrixId id;
  Index row = 0, col = 0;
  float value = 0;
  Operation operation = Operation::given;
  Activation activation = Activation::relu;  // of Operation::activation
  std::vector<Term> terms = {};
  std::vector<Constant> constants = {};
};

/// The terms of one number. The cell must be inside a matrix that exists.
Cell explain_cell(const Trace& trace, const MatrixId& id, Index row, Index col);

/// Whether the value is the sum of the contributions of the terms.
bool is_sum_of_terms(Operation operation);

/// The constant of that name, if the cell has it.
std::optional<double> constant(const Cell& cell, std::string_view name);

}  // namespace headlight
