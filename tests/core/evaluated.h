// What the terms of a cell add up to: the check of every explanation.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "explain/cell.h"
#include "math/ops.h"

namespace headlight::reference {

using Op = Operation;

inline double evaluate_norm(const Cell& cell) {
  // The row is what comes from one kind of matrix; then the weights of the norm at this column.
  const Quantity x = cell.terms.front().from.id.quantity;
  const auto end =
      std::find_if(cell.terms.begin(), cell.terms.end(), [&](const Term& t) { return t.from.id.quantity != x; });
  const double count = static_cast<double>(end - cell.terms.begin());
  double mean = 0, squares = 0;
  if (cell.operation == Op::layer_norm)
    for (auto term = cell.terms.begin(); term != end; ++term) mean += term->from.value / count;
  for (auto term = cell.terms.begin(); term != end; ++term)
    squares += (term->from.value - mean) * (term->from.value - mean) / count;
  const auto column = static_cast<std::size_t>(constant(cell, "column").value_or(static_cast<double>(cell.col)));
  const double own = cell.terms[column].from.value;
  const double normed = (own - mean) / std::sqrt(squares + *constant(cell, "epsilon"));
  const double shift = end + 1 != cell.terms.end() ? (end + 1)->from.value : 0.0;
  return normed * end->from.value + shift;
}

inline double evaluate_share(const Cell& cell) {
  double set = 0, others = 0;
  for (const Term& term : cell.terms) (term.from.id == cell.id ? set : others) += term.from.value;
  const double own = cell.terms.front().from.value;
  return others > 0 ? own * std::max(0.0, 1.0 - set) / others : own;
}

inline double evaluate_softmax(const Cell& cell) {
  const auto sink = constant(cell, "sink");
  double sum = sink.value_or(0);
  for (std::size_t i = 0; i + (sink ? 1 : 0) < cell.terms.size(); ++i) sum += cell.terms[i].from.value;
  return sum > 0 ? cell.terms[static_cast<std::size_t>(cell.col)].from.value / sum : 0.0;
}

inline double evaluate_exponential(const Cell& cell) {
  const double largest = cell.terms[1].from.value;
  // A row that may attend to nothing.
  if (largest == -std::numeric_limits<double>::infinity()) return 0.0;
  return std::exp(cell.terms[0].from.value - largest);
}

/// The value of a cell again, from its terms and constants alone. Of a leaf it is the leaf.
inline float evaluate(const Cell& cell) {
  if (is_sum_of_terms(cell.operation)) {
    double sum = 0;
    for (const Term& term : cell.terms) sum += static_cast<double>(term.from.value) * term.factor;
    return static_cast<float>(sum);
  }
  const auto angle = [&] { return *constant(cell, "position") * *constant(cell, "frequency"); };
  switch (cell.operation) {
    case Op::sine: return static_cast<float>(std::sin(angle()));
    case Op::cosine: return static_cast<float>(std::cos(angle()));
    case Op::exponential: return static_cast<float>(evaluate_exponential(cell));
    case Op::softmax: return static_cast<float>(evaluate_softmax(cell));
    case Op::set_by_hand: return static_cast<float>(*constant(cell, "set"));
    case Op::share_of_rest: return static_cast<float>(evaluate_share(cell));
    case Op::layer_norm:
    case Op::rms_norm: return static_cast<float>(evaluate_norm(cell));
    case Op::activation: return activate(cell.terms.front().from.value, cell.activation);
    case Op::logarithm: return std::log(cell.terms.front().from.value);
    case Op::soft_cap: {
      const double cap = *constant(cell, "cap");
      return static_cast<float>(cap * std::tanh(static_cast<double>(cell.terms.front().from.value) / cap));
    }
    default: return cell.value;
  }
}

}  // namespace headlight::reference
