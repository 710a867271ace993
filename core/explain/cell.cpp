#include "explain/cell.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "explain/matrix_source.h"
#include "math/attention.h"
#include "math/experts.h"
#include "math/position.h"
#include "math/score_terms.h"

namespace headlight {
namespace {

using Op = Operation;

/// Collects the terms of one cell.
class CellExplainer {
 public:
  CellExplainer(const Trace& trace, const MatrixId& id, Index row, Index col)
      : trace_(trace), recipe_(recipe(trace, id)) {
    cell_ = {.id = id,
             .row = row,
             .col = col,
             .value = rows_of(trace, id, row, 1)(0, col),
             .operation = recipe_.operation,
             .activation = activation_of(MatrixSource(trace, id), id.quantity)};
  }

  Cell explain() {
    switch (cell_.operation) {
      case Op::given: explain_given(); break;
      case Op::zero_off:
      case Op::share_of_rest: break;
      case Op::sine:
      case Op::cosine: explain_position(); break;
      case Op::copy:
      case Op::activation:
      case Op::logarithm: add(0, cell_.row, cell_.col); break;
      case Op::soft_cap:
        add(0, cell_.row, cell_.col);
        note("cap", recipe_.factor);
        break;
      case Op::distance: explain_distance(); break;
      case Op::routing: explain_routing(); break;
      case Op::mixture: explain_mixture(); break;
      case Op::shared_expert:
        for (Index c = 0; c < shape(trace_, recipe_.operands[0]).cols; ++c) add(0, cell_.row, c);
        break;
      case Op::sum:
      case Op::mask:
        for (std::size_t i = 0; i < recipe_.operands.size(); ++i) add(i, cell_.row, cell_.col);
        break;
      case Op::scale:
        add(0, cell_.row, cell_.col, recipe_.factor);
        if (recipe_.operands.size() > 1) add(1, 0, cell_.col);
        note("scale", recipe_.factor);
        break;
      case Op::projection: explain_projection(); break;
      case Op::columns: explain_columns(); break;
      case Op::dot_product: explain_dot_product(); break;
      case Op::exponential: explain_exponential(); break;
      case Op::softmax: explain_softmax(); break;
      case Op::dropout: {
        const float factor = dropout_factor(trace_.request.edits, head_ref(cell_.id), cell_.row, cell_.col);
        add(0, cell_.row, cell_.col, factor);
        note("factor", factor);
        break;
      }
      case Op::set_by_hand: explain_set_by_hand(); break;
      case Op::weighted_sum: explain_weighted_sum(); break;
      case Op::mean_off: {
        const Matrix z = whole(trace_, recipe_.operands[0]);
        const float share = 1.0f / static_cast<float>(z.rows());
        for (Index row = 0; row < z.rows(); ++row) add(recipe_.operands[0], row, cell_.col, z(row, cell_.col), share);
        break;
      }
      case Op::concatenation: explain_concatenation(); break;
      case Op::layer_norm:
      case Op::rms_norm: explain_norm(); break;
      case Op::rotation: explain_rotation(); break;
      case Op::product: {
        const float a = row_of(0, cell_.row)(0, cell_.col), b = row_of(1, cell_.row)(0, cell_.col);
        add_product({recipe_.operands[0], cell_.row, cell_.col, a}, {recipe_.operands[1], cell_.row, cell_.col, b});
        break;
      }
    }
    return std::move(cell_);
  }

 private:
  Matrix row_of(std::size_t operand, Index row) const { return rows_of(trace_, recipe_.operands[operand], row, 1); }
  void add(const MatrixId& from, Index row, Index col, float value, float factor = 1.0f) {
    cell_.terms.push_back({.from = {from, row, col, value}, .factor = factor, .contribution = value * factor});
  }
  void add(std::size_t operand, Index row, Index col, float factor = 1.0f) {
    add(recipe_.operands[operand], row, col, row_of(operand, row)(0, col), factor);
  }
  void add_product(const CellValue& from, const CellValue& times) {
    cell_.terms.push_back(
        {.from = from, .times = times, .factor = times.value, .contribution = from.value * times.value});
  }
  void note(std::string name, double value) { cell_.constants.push_back({std::move(name), value}); }

  void explain_projection() {
    const Matrix x = row_of(0, cell_.row), w = row_of(1, cell_.col);
    for (Index m = 0; m < x.cols(); ++m)
      add_product({recipe_.operands[0], cell_.row, m, x(0, m)},
                  {recipe_.operands[1], cell_.col, m + recipe_.offset, w(0, m + recipe_.offset)});
    if (recipe_.operands.size() > 2) add(2, 0, cell_.col);
  }

  void explain_columns() {
    const Index from = cell_.col + recipe_.offset;
    const Matrix x = row_of(0, cell_.row);
    if (from >= 0 && from < x.cols()) add(recipe_.operands[0], cell_.row, from, x(0, from));
    if (recipe_.operands.size() > 1) add(1, 0, cell_.col);
  }

  void explain_dot_product() {
    const Matrix q = row_of(0, cell_.row), k = row_of(1, cell_.col);
    for (Index c = 0; c < q.cols(); ++c)
      add_product({recipe_.operands[0], cell_.row, c, q(0, c)}, {recipe_.operands[1], cell_.col, c, k(0, c)});
  }

  void explain_weighted_sum() {
    const Matrix w = row_of(0, cell_.row), v = whole(trace_, recipe_.operands[1]);
    for (Index key = 0; key < w.cols(); ++key)
      add_product({recipe_.operands[0], cell_.row, key, w(0, key)},
                  {recipe_.operands[1], key, cell_.col, v(key, cell_.col)});
  }

  void explain_exponential() {
    const Matrix scores = row_of(0, cell_.row);
    Index at = 0;
    float largest = scores.row(0).maxCoeff(&at);
    add(recipe_.operands[0], cell_.row, cell_.col, scores(0, cell_.col));
    const float sink = recipe_.operands.size() > 1 ? row_of(1, 0)(0, 0) : largest;
    if (sink > largest) add(recipe_.operands[1], 0, 0, largest = sink);
    else add(recipe_.operands[0], cell_.row, at, largest);
    note("largest", largest);
  }

  void explain_softmax() {
    const Matrix row = row_of(0, cell_.row);
    for (Index c = 0; c < row.cols(); ++c) add(recipe_.operands[0], cell_.row, c, row(0, c));
    double sum = row.cast<double>().sum();
    if (recipe_.operands.size() > 1) {
      const double sink = row_of(1, 0)(0, 0);
      const MatrixId scores = recipe(trace_, recipe_.operands[0]).operands.front();
      const double largest = rows_of(trace_, scores, cell_.row, 1).maxCoeff();
      add(1, 0, 0);
      note("sink", std::exp(sink - std::max(sink, largest)));
      sum += cell_.constants.back().value;
    }
    note("sum", sum);
  }

  /// The cell was set by hand, or shares the rest of its row, or its row has no cell that was set.
  void explain_set_by_hand() {
    const HeadRef head = head_ref(cell_.id);
    const Edits& edits = trace_.request.edits;
    if (const WeightEdit* edit = edited_weight(edits, head, {cell_.row, cell_.col})) {
      note("set", edit->weight);
      return;
    }
    const Matrix before = row_of(0, cell_.row);
    double set = 0, others = 0;
    std::vector<CellValue> set_cells;
    std::vector<bool> is_set(static_cast<std::size_t>(before.cols()), false);
    for (const WeightEdit& edit : edits.weights) {
      if (edit.head != head || edit.cell.query != cell_.row || edit.cell.key >= before.cols()) continue;
      set_cells.push_back({cell_.id, cell_.row, edit.cell.key, edit.weight});
      is_set[static_cast<std::size_t>(edit.cell.key)] = true;
      set += edit.weight;
    }
    add(recipe_.operands[0], cell_.row, cell_.col, before(0, cell_.col));
    if (set_cells.empty()) {
      cell_.operation = Op::copy;
      return;
    }
    cell_.operation = Op::share_of_rest;
    for (Index key = 0; key < before.cols(); ++key) {
      if (is_set[static_cast<std::size_t>(key)]) continue;
      others += before(0, key);
      if (key != cell_.col) add(recipe_.operands[0], cell_.row, key, before(0, key));
    }
    for (const CellValue& one : set_cells) add(one.id, one.row, one.col, one.value);
    note("left", std::max(0.0, 1.0 - set));
    note("others", others);
  }

  void explain_norm() {
    const MatrixSource source(trace_, cell_.id);
    const NormWeights& weights = *norm_of(source, cell_.id.quantity);
    // A norm over all heads together reads the columns of all of them.
    const bool wide = is_per_head(cell_.id.quantity) && source.is_wide(weights);
    const Index parts = wide ? weights.scale.size() / source.d_k() : 1;
    const Index group = wide ? source.attention_trace->num_heads() / parts : 1;
    Matrix x = row_of(0, cell_.row);
    const Index width = x.cols();
    if (wide) x.resize(1, parts * width);
    for (Index part = 0; part < parts; ++part) {
      MatrixId from = recipe_.operands[0];
      if (wide) from.head = part * group;
      const Matrix columns = rows_of(trace_, from, cell_.row, 1);
      x.middleCols(part * width, width) = columns;
      for (Index c = 0; c < width; ++c) add(from, cell_.row, c, columns(0, c));
    }
    const double mean = cell_.operation == Op::layer_norm ? x.cast<double>().mean() : 0.0;
    const Index column = wide ? cell_.id.head / group * width + cell_.col : cell_.col;
    add(1, 0, column);
    if (recipe_.operands.size() > 2) add(2, 0, column);
    if (wide) note("column", static_cast<double>(column));
    const double squares = (x.cast<double>().array() - mean).square().mean();
    if (cell_.operation == Op::layer_norm) note("mean", mean);
    note(cell_.operation == Op::layer_norm ? "variance" : "mean square", squares);
    note("epsilon", norm_of(MatrixSource(trace_, cell_.id), cell_.id.quantity)->epsilon);
  }

  void explain_rotation() {
    const Rotary& rotary = *MatrixSource(trace_, cell_.id).rotary();
    const Index pairs = rotary.frequencies.size(), col = cell_.col;
    if (col >= 2 * pairs) {
      cell_.operation = Op::copy;
      return add(0, cell_.row, col);
    }
    const Index pair = rotary.interleaved ? col / 2 : col % pairs;
    const bool is_first = rotary.interleaved ? col % 2 == 0 : col < pairs;
    const Index other = rotary.interleaved ? col + (is_first ? 1 : -1) : col + (is_first ? pairs : -pairs);
    const float angle = rotary_angle(rotary, cell_.row, pair);
    const float sine = static_cast<float>(std::sin(static_cast<double>(angle))) * rotary.factor;
    add(0, cell_.row, col, static_cast<float>(std::cos(static_cast<double>(angle))) * rotary.factor);
    add(0, cell_.row, other, is_first ? -sine : sine);
    note("position", rotary.places.size() > 0 ? static_cast<double>(rotary.places(cell_.row, pair))
                                              : static_cast<double>(cell_.row));
    note("frequency", rotary.frequencies(pair));
    note("angle", angle);
    if (rotary.factor != 1.0f) note("factor", rotary.factor);
  }

  /// Sines and cosines (Vaswani et al. 2017, section 3.5), interleaved or in halves.
  void explain_position() {
    const Index d = shape(trace_, cell_.id).cols, sines = (d + 1) / 2;
    const bool halves = trace_.model->config.position == Position::sinusoidal_halves;
    const Index pair = halves ? cell_.col % sines : cell_.col / 2;
    const bool sine = halves ? cell_.col < sines : cell_.col % 2 == 0;
    cell_.operation = sine ? Op::sine : Op::cosine;
    note("position", static_cast<double>(cell_.row));
    note("frequency", std::pow(10000.0, -static_cast<double>(2 * pair) / static_cast<double>(d)));
  }

  /// Looked up; of a bias for a distance it is known where.
  void explain_given() {
    if (cell_.id.quantity != Quantity::relative_bias) return;
    const RelativeBias& bias = *MatrixSource(trace_, cell_.id).attention_trace->relative_bias;
    if (bias.of_keys) return note("position", static_cast<double>(cell_.col));
    if (bias.of_pairs) return;
    note("distance", static_cast<double>(cell_.col - cell_.row));
    note("bucket", static_cast<double>(relative_bucket(bias, cell_.col - cell_.row)));
  }

  void explain_concatenation() {
    const Index width = shape(trace_, recipe_.operands[0]).cols;
    add(static_cast<std::size_t>(cell_.col / width), cell_.row, cell_.col % width);
  }

  /// The row of the distance between this query and this key.
  void explain_distance() {
    const MatrixSource source(trace_, cell_.id);
    const bool of_query = cell_.id.quantity == Quantity::content_to_position;
    const Index distance = cell_.row - cell_.col, at = distance_row(*source.attention_trace->distances, distance);
    const Index token = of_query ? cell_.row : cell_.col;
    const Matrix x = row_of(0, token), of_distance = row_of(1, at);
    for (Index c = 0; c < x.cols(); ++c)
      add_product({recipe_.operands[0], token, c, x(0, c)}, {recipe_.operands[1], at, c, of_distance(0, c)});
    note("distance", static_cast<double>(-distance));
    note("bucket", static_cast<double>(at));
  }

  /// The outputs of the experts that this token goes through.
  void explain_mixture() {
    const MatrixSource source(trace_, cell_.id);
    const Matrix input = row_of(0, cell_.row), weights = row_of(1, cell_.row);
    for (Index expert = 0; expert < weights.cols(); ++expert) {
      if (weights(0, expert) == 0.0f) continue;
      const Matrix made = expert_output(source.block->experts->all[static_cast<std::size_t>(expert)],
                                        trace_.model->config.activation, input);
      add(recipe_.operands[1], cell_.row, expert, weights(0, expert), made(0, cell_.col));
    }
    if (recipe_.operands.size() > 2) add(2, cell_.row, cell_.col);
  }

  void explain_routing() {
    const Matrix scores = row_of(0, cell_.row);
    for (Index expert = 0; expert < scores.cols(); ++expert)
      add(recipe_.operands[0], cell_.row, expert, scores(0, expert));
    note("chosen", static_cast<double>(MatrixSource(trace_, cell_.id).block->experts->chosen));
  }

  const Trace& trace_;
  const Recipe recipe_;
  Cell cell_;
};

}  // namespace

Cell explain_cell(const Trace& trace, const MatrixId& id, Index row, Index col) {
  assert(row >= 0 && row < shape(trace, id).rows && col >= 0 && col < shape(trace, id).cols);
  return CellExplainer(trace, id, row, col).explain();
}

bool is_sum_of_terms(Operation operation) {
  switch (operation) {
    case Op::copy:
    case Op::sum:
    case Op::scale:
    case Op::distance:
    case Op::mixture:
    case Op::projection:
    case Op::columns:
    case Op::dot_product:
    case Op::mask:
    case Op::dropout:
    case Op::weighted_sum:
    case Op::zero_off:
    case Op::mean_off:
    case Op::concatenation:
    case Op::rotation:
    case Op::product: return true;
    default: return false;
  }
}

std::optional<double> constant(const Cell& cell, std::string_view name) {
  for (const Constant& one : cell.constants)
    if (one.name == name) return one.value;
  return std::nullopt;
}

}  // namespace headlight
