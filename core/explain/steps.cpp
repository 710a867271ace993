#include "explain/steps.h"

#include "explain/matrix_source.h"
#include "explain/softmax_gradient.h"
#include "math/ops.h"

namespace headlight {
namespace {

using Q = Quantity;
using Op = Operation;

std::string at(const std::string& name, Index index) { return name + "[" + std::to_string(index) + "]"; }

/// The name of a matrix in the steps: its symbol, where that is one word of ASCII.
std::string word(Q quantity) {
  switch (quantity) {
    case Q::query_projected: return "q_projected";
    case Q::query_normed: return "q_normed";
    case Q::key_projected: return "k_projected";
    case Q::key_normed: return "k_normed";
    case Q::given_weights: return "given";
    case Q::log_weights: return "logarithm";
    case Q::dot: return "dot";
    case Q::scaled: return "scaled";
    case Q::capped: return "capped";
    case Q::distance_keys: return "k_distance";
    case Q::distance_queries: return "q_distance";
    case Q::content_to_position: return "content_to_position";
    case Q::position_to_content: return "position_to_content";
    case Q::relative_bias: return "relative_bias";
    case Q::exponentials: return "exponentials";
    case Q::dropped: return "dropped";
    case Q::weights: return "weight";
    case Q::head_output: return "head_output";
    case Q::contribution: return "contribution";
    case Q::concat: return "concat";
    default: return symbol(MatrixId{quantity});
  }
}

/// One side of the attention: which matrices lead to its vector.
struct Side {
  Q weight, bias, projected, normed, vector;
  const char* x;  // the name of the step of what is projected
  const char* title;
};

constexpr Side kQuerySide{Q::query_weight, Q::query_bias, Q::query_projected,      Q::query_normed,
                          Q::query,        "x_query",     "The query of this head"};
constexpr Side kKeySide{Q::key_weight, Q::key_bias, Q::key_projected,      Q::key_normed,
                        Q::key,        "x_key",     "The key of this head"};
constexpr Side kValueSide{Q::value_weight, Q::value_bias,           Q::value, Q::value, Q::value,
                          "x_value",       "The value of this head"};

/// Builds the steps of one weight in order.
class StepsBuilder {
 public:
  StepsBuilder(const Trace& trace, const HeadRef& head, const CellRef& cell)
      : trace_(trace), head_(head), cell_(cell) {}

  std::vector<Step> build() {
    const bool computed = has(Q::query);
    if (computed) {
      add_side(kQuerySide, cell_.query);
      add_side(kKeySide, cell_.key);
    }
    if (has(Q::scores)) add_scores();
    add_weights();
    if (computed) {
      add_gradient();
      add_side(kValueSide, cell_.key);
      add_share();
      add_output();
    }
    return std::move(steps_);
  }

 private:
  MatrixId id(Q quantity) const { return matrix_id(quantity, head_); }
  bool has(Q quantity) const { return exists(trace_, id(quantity)); }
  Cell cell_of(Q quantity) const { return explain_cell(trace_, id(quantity), cell_.query, cell_.key); }

  Step& rows(std::string name, std::string title, const MatrixId& matrix, Index first, Index count) {
    steps_.push_back({.name = std::move(name),
                      .title = std::move(title),
                      .formula = formula(trace_, matrix),
                      .shape = shape(trace_, matrix),
                      .value = rows_of(trace_, matrix, first, count),
                      .terms = {},
                      .id = matrix,
                      .row = first});
    return steps_.back();
  }

  Step& whole_of(std::string title, Q quantity) {
    return rows(word(quantity), std::move(title), id(quantity), 0, shape(trace_, id(quantity)).rows);
  }
  /// The cell of this query and key, with its terms unless `terms` is false.
  Step& number(std::string title, Q quantity, bool terms = true) {
    const Cell cell = cell_of(quantity);
    Step& step = rows(word(quantity), std::move(title), id(quantity), cell_.query, 0);
    step.value = Matrix::Constant(1, 1, cell.value);
    step.number = true;
    step.row = cell_.query;
    step.col = cell_.key;
    if (terms)
      for (const Term& term : cell.terms) add_term(step, term);
    return step;
  }

  std::string name_of(const CellValue& cell) const {
    if (cell.id == x_ && !x_name_.empty()) return at(x_name_, cell.col);
    const Axes along = axes(trace_, cell.id);
    const std::string name = word(cell.id.quantity);
    if (along.cols != Axis::keys) return at(name, cell.col);
    return cell.row == cell_.query && cell.col == cell_.key ? name : at(name, cell.col);
  }

  void add_term(Step& step, const Term& term) const {
    StepTerm added{.from = name_of(term.from), .value = term.from.value};
    if (term.times) added.times = name_of(*term.times);
    if (term.times || term.factor != 1.0f) added.factor = term.factor;
    step.terms.push_back(std::move(added));
  }

  /// A row, and what each of its numbers was made of.
  void explained_row(std::string title, Q quantity, Index row) {
    Step& step = rows(word(quantity), std::move(title), id(quantity), row, 1);
    for (Index c = 0; c < step.value.cols(); ++c) {
      const Cell cell = explain_cell(trace_, step.id, row, c);
      const bool norm = cell.operation == Op::layer_norm || cell.operation == Op::rms_norm;
      double products = 0;
      std::string product;
      for (const Term& term : cell.terms) {
        if (!term.times) continue;
        product = (term.from.id == x_ ? x_name_ : word(term.from.id.quantity)) + "·" + word(term.times->id.quantity);
        products += static_cast<double>(term.from.value) * term.factor;
      }
      if (!product.empty()) step.terms.push_back({.from = at(product, c), .value = static_cast<float>(products)});
      for (const Term& term : cell.terms) {
        // Of a norm only this component: the others enter by their mean and variance, which are the same for all.
        const bool another = norm && term.from.id == cell.terms.front().from.id && term.from.col != c;
        if (!term.times && !another) add_term(step, term);
      }
      if (norm && c == 0)
        for (const Constant& one : cell.constants)
          step.terms.push_back({.from = one.name, .value = static_cast<float>(one.value)});
    }
  }

  void add_side(const Side& side, Index row) {
    const bool staged = side.projected != side.vector && has(side.projected);
    x_ = recipe(trace_, id(staged ? side.projected : side.vector)).operands.front();
    x_name_ = side.x;
    rows(side.x, "What it is projected from", x_, row, 1);
    if (has(side.weight)) whole_of("The projection of this head", side.weight);
    if (has(side.bias)) whole_of("The bias of this head", side.bias);
    if (staged) explained_row("Projected", side.projected, row);
    if (staged && has(side.normed)) explained_row("Normed", side.normed, row);
    explained_row(side.title, side.vector, row);
    x_name_.clear();
  }

  /// From query and key to the score; where another program computed the weights, from those.
  void add_scores() {
    if (has(Q::given_weights)) {
      number("The weight as it was given", Q::given_weights);
      number("Its logarithm, in place of the unknown score", Q::log_weights);
    } else {
      const Cell dot = cell_of(Q::dot);
      Step& products = number("Query times key, component by component", Q::dot);
      products.name = "products";
      products.formula = "q[c] · k[c]";
      products.shape = {1, static_cast<Index>(dot.terms.size())};
      products.addends = true;
      products.number = false;
      products.value.resize(1, products.shape.cols);
      std::vector<StepTerm> sum;
      for (Index c = 0; c < products.shape.cols; ++c) {
        products.value(0, c) = dot.terms[static_cast<std::size_t>(c)].contribution;
        sum.push_back({.from = at("products", c), .value = products.value(0, c)});
      }
      number("Their sum", Q::dot, false).terms = std::move(sum);
      number("Times the scale", Q::scaled).terms.front().times = "scale";
      steps_.back().terms.front().factor = trace_.attention(head_.stack, head_.layer).scale;
    }
    if (has(Q::capped)) number("Within the soft cap", Q::capped);
    if (has(Q::content_to_position))
      number("Content to position: the query times the distance", Q::content_to_position);
    if (has(Q::position_to_content)) number("Position to content: the key times the distance", Q::position_to_content);
    if (has(Q::relative_bias)) number("What the distance adds", Q::relative_bias);
    number("What the mask adds", has(Q::mask) ? Q::mask : Q::head_mask);
    number("The score", Q::scores);
  }

  void add_weights() {
    const bool sink = has(Q::exponentials) && has(Q::sink);
    if (sink) whole_of("The sink: a learned logit that joins the softmax and takes a part of it", Q::sink);
    if (has(Q::exponentials)) {
      Step& row = rows("exponentials", "The row's exponentials", id(Q::exponentials), cell_.query, 1);
      const Cell own = cell_of(Q::exponentials);
      const Matrix scores = rows_of(trace_, id(Q::scores), cell_.query, 1);
      for (Index key = 0; key < scores.cols(); ++key)
        row.terms.push_back({.from = at("scores", key), .value = scores(0, key)});
      row.terms.push_back({.from = "largest", .value = own.terms[1].from.value});

      const Cell softmax = cell_of(Q::softmax);
      Step& sum = number("Their sum", Q::softmax, false);
      sum.name = "sum";
      sum.formula = sink ? "Σ exp(scores - largest) + exp(sink - largest)" : "Σ exp(scores - largest of the row)";
      sum.shape.cols = 1;
      sum.addends = true;
      sum.value(0, 0) = static_cast<float>(*constant(softmax, "sum"));
      for (const Term& term : softmax.terms)
        if (term.from.id.quantity != Q::sink)
          sum.terms.push_back({.from = at("exponentials", term.from.col), .value = term.from.value});
      if (sink) sum.terms.push_back({.from = "exp(sink)", .value = static_cast<float>(*constant(softmax, "sink"))});
    }
    const bool changed = recipe(trace_, id(Q::weights)).operands != recipe(trace_, id(Q::softmax)).operands;
    const auto divided = [&](Q quantity) {
      Step& step = number(changed && quantity == Q::softmax ? "The softmax" : "The weight", quantity, false);
      if (!has(Q::exponentials)) return;
      const Cell softmax = cell_of(Q::softmax);
      step.terms = {{.from = at("exponentials", cell_.key),
                     .value = softmax.terms[static_cast<std::size_t>(cell_.key)].from.value},
                    {.from = "sum", .value = static_cast<float>(*constant(softmax, "sum"))}};
    };
    if (!changed) return divided(Q::weights);
    divided(Q::softmax);
    if (has(Q::dropped) && recipe(trace_, id(Q::weights)).operation == Op::set_by_hand)
      number("After dropout", Q::dropped).terms.front().times = "dropout";
    const Cell cell = cell_of(Q::weights);
    Step& weight = number("The weight", Q::weights, cell.operation != Op::share_of_rest);
    if (cell.operation == Op::dropout) weight.terms.front().times = "dropout";
    if (cell.operation == Op::share_of_rest) add_term(weight, cell.terms.front());
    if (cell.operation == Op::share_of_rest || cell.operation == Op::set_by_hand)
      for (const Constant& one : cell.constants)
        weight.terms.push_back({.from = one.name, .value = static_cast<float>(one.value)});
  }

  /// How strongly the row answers to its scores, and how strongly it would with another scale.
  void add_gradient() {
    const ScaleEffect effect = scale_effect(trace_, head_, cell_.query, 1);
    const auto add = [&](const char* name, const char* title, float size, float scale) {
      Step& step = number(title, Q::softmax, false);
      step.name = name;
      step.formula = "|diag(a) - aᵀ·a|";
      step.shape.cols = 1;
      step.addends = true;
      step.value(0, 0) = size;
      step.terms = {{.from = "scale", .value = scale}};
    };
    add("gradient", "How strongly the row answers to its scores: the size of ∂weights/∂scores", effect.gradient(0),
        effect.scale);
    if (effect.other.size() == 0) return;
    const bool unscaled = effect.other_scale == 1;
    add(unscaled ? "gradient_unscaled" : "gradient_scaled",
        unscaled ? "The same, if the scores were not scaled" : "The same, if the scores were scaled by 1/√d_k",
        effect.other(0), effect.other_scale);
  }

  /// The weight's share of z, and z.
  void add_share() {
    const Q summed = has(Q::head_output) ? Q::head_output : Q::z;
    const float weight = rows_of(trace_, id(Q::weights), cell_.query, 1)(0, cell_.key);
    Step& share = rows("share", "This weight's share of z", id(summed), cell_.query, 1);
    share.formula = "weight · v";
    share.addends = true;
    const Matrix v = rows_of(trace_, id(Q::value), cell_.key, 1);
    share.value = weight * v;
    for (Index c = 0; c < v.cols(); ++c)
      share.terms.push_back({.from = "weight", .value = weight, .times = at("v", c), .factor = v(0, c)});

    Step& sum = rows(word(summed), "The sum over all keys", id(summed), cell_.query, 1);
    for (const Term& term : explain_cell(trace_, id(summed), cell_.query, 0).terms)
      sum.terms.push_back({.from = at("weight", term.from.col),
                           .value = term.from.value,
                           .times = "v of key " + std::to_string(term.times->row)});
    if (summed == Q::z) return;
    Step& z = rows("z", "The output of the head: it is switched off", id(Q::z), cell_.query, 1);
    if (recipe(trace_, id(Q::z)).operation != Op::mean_off) return;
    for (Index c = 0; c < z.value.cols(); ++c)
      z.terms.push_back({.from = "mean of " + at("head_output", c), .value = z.value(0, c)});
  }

  void add_output() {
    Step& concat = rows("concat", "z of all heads, side by side", id(Q::concat), cell_.query, 1);
    const Matrix z = rows_of(trace_, id(Q::z), cell_.query, 1);
    const Index d_v = z.cols(), first = head_.head * d_v;
    for (Index c = 0; c < d_v; ++c) concat.terms.push_back({.from = at("z", c), .value = z(0, c)});
    if (has(Q::output_weight)) {
      Step& weight = whole_of("The columns of W_O that read this head", Q::output_weight);
      weight.value = Matrix(weight.value.middleCols(first, d_v));
      weight.col = first;
    }
    if (has(Q::output_bias)) whole_of("The bias of the output", Q::output_bias);
    explained_row("What this head adds to the output", Q::contribution, cell_.query);
    const Matrix own = steps_.back().value;
    Matrix rest = rows_of(trace_, id(Q::concat), cell_.query, 1);
    rest.middleCols(first, d_v).setZero();
    Linear without_bias = MatrixSource(trace_, id(Q::concat)).attention->output;
    without_bias.bias = {};
    const Matrix others = linear(rest, without_bias);
    const Matrix bias = has(Q::output_bias) ? whole(trace_, id(Q::output_bias)) : Matrix();
    Step& output = rows("output", "The output of the attention", id(Q::attention_output), cell_.query, 1);
    for (Index m = 0; m < output.value.cols(); ++m) {
      output.terms.push_back({.from = at("contribution", m), .value = own(0, m)});
      output.terms.push_back({.from = at("other heads", m), .value = others(0, m)});
      if (bias.size() > 0) output.terms.push_back({.from = at("b_O", m), .value = bias(0, m)});
    }
  }

  const Trace& trace_;
  const HeadRef head_;
  const CellRef cell_;
  MatrixId x_;  // what the current side is projected from
  std::string x_name_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> steps_of(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  return StepsBuilder(trace, head, cell).build();
}

}  // namespace headlight
