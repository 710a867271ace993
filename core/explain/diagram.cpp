#include "explain/diagram.h"

#include <algorithm>
#include <map>

#include "explain/recipe.h"

namespace headlight {
namespace {

using Q = Quantity;

/// Draws column after column; a node is known by the matrix it shows.
class DiagramBuilder {
 public:
  explicit DiagramBuilder(const Trace& trace) : trace_(trace) {}

  void draw_stack(Stack stack, Index layer, Index head, Index column) {
    column_ = column;
    const Index layers = trace_.num_layers(stack);
    layer = std::clamp<Index>(layer, 0, layers - 1);
    const bool whole = has(Q::embedding, {.stack = stack}) && !has(Q::given_query, {.stack = stack});
    draw_embedding(stack);
    if (whole) draw_other_layers(stack, 0, layer - 1);
    const auto within = [&](Stack of) { return std::clamp<Index>(head, 0, trace_.num_heads(of) - 1); };
    draw_attention({layer, within(stack), stack});
    if (stack == Stack::self && trace_.has(Stack::cross)) draw_attention({layer, within(Stack::cross), Stack::cross});
    if (!whole) return;
    draw_ffn(stack, layer);
    draw_other_layers(stack, layer + 1, layers - 1);
    draw_end(stack);
  }

  Diagram take() { return std::move(diagram_); }

 private:
  std::size_t add(NodeKind kind, const MatrixId& shows, std::string label, const std::vector<MatrixId>& from) {
    const std::size_t at = diagram_.nodes.size();
    diagram_.nodes.push_back(
        {.id = path(trace_, shows), .shows = shows, .kind = kind, .label = std::move(label), .column = column_});
    node_of_[shows] = at;
    for (const MatrixId& operand : from) connect(operand, at);
    return at;
  }

  void connect(const MatrixId& from, std::size_t to, bool residual = false) {
    const auto at = node_of_.find(from);
    if (at == node_of_.end()) return;
    const bool cross = diagram_.nodes[at->second].column != diagram_.nodes[to].column;
    for (const Edge& edge : diagram_.edges)
      if (edge.from == at->second && edge.to == to) return;
    diagram_.edges.push_back({.from = at->second, .to = to, .residual = residual, .cross = cross});
  }

  /// Adds the matrix and what feeds it, where the answer has it.
  void draw(NodeKind kind, Q quantity, const HeadRef& head, const char* label) {
    if (has(quantity, head)) add(kind, matrix_id(quantity, head), label, feeds(matrix_id(quantity, head)));
  }

  /// What the residual stream and a sublayer come to; nothing where the residual is off.
  void draw_sum(const MatrixId& sum) {
    if (origin(trace_, sum) != sum) return;
    const Recipe made = recipe(trace_, sum);
    connect(made.operands[0], add(NodeKind::add, sum, "Add", {made.operands[1]}), true);
  }

  void draw_embedding(Stack stack) {
    const HeadRef head{.stack = stack};
    draw(NodeKind::embedding, Q::given_query, head, "query");
    draw(NodeKind::embedding, Q::given_key, head, "key");
    draw(NodeKind::embedding, Q::given_value, head, "value");
    if (has(Q::given_query, head) || !has(Q::embedding, head)) return;
    draw(NodeKind::embedding, Q::token_vectors, head, "Token vectors");
    draw(NodeKind::embedding, Q::position_vectors, head, "Positions");
    draw(NodeKind::embedding, Q::type_vectors, head, "Types");
    draw(NodeKind::add, Q::embedding_sum, head, "Add");
    if (has(Q::embedding_projection_weight, head)) {
      draw(NodeKind::norm, Q::embedding_normed, head, "Norm");
      return draw(NodeKind::feed_forward, Q::embedding, head, "Projection");
    }
    const bool normed = has(Q::embedding_sum, head);
    if (is_own(Q::embedding, head))
      draw(normed ? NodeKind::norm : NodeKind::add, Q::embedding, head, normed ? "Norm" : "Add");
  }

  void draw_other_layers(Stack stack, Index first, Index last) {
    if (first > last) return;
    const MatrixId before =
        first == 0 ? own(Q::embedding, {.stack = stack}) : own(Q::block_output, {first - 1, 0, stack});
    std::string label = first == last ? "Layer " + std::to_string(first)
                                      : "Layers " + std::to_string(first) + "–" + std::to_string(last);
    const MatrixId shows = own(Q::block_output, {last, 0, stack});
    const std::size_t node = add(NodeKind::other_layers, shows, std::move(label), {before});
    diagram_.nodes[node].first_layer = first;
    diagram_.nodes[node].last_layer = last;
    if (stack == Stack::self && trace_.has(Stack::cross) && trace_.encoder)
      connect(own(Q::last_hidden_state, {.stack = Stack::encoder}), node);
  }

  void draw_attention(const HeadRef& head) {
    if (is_own(Q::attention_input, head)) draw(NodeKind::norm, Q::attention_input, head, "Norm");
    if (has(Q::query, head)) {
      // The input of a projection is drawn; the stages within a projection (norm of a head, rotation) are part of it.
      const auto projection = [&](Q projected, Q vector, const char* label) {
        const MatrixId first = matrix_id(has(projected, head) ? projected : vector, head);
        add(NodeKind::projection, matrix_id(vector, head), label, {recipe(trace_, first).operands.front()});
      };
      projection(Q::query_projected, Q::query, "Q");
      projection(Q::key_projected, Q::key, "K");
      projection(Q::value, Q::value, "V");
    }
    const MatrixId scores = matrix_id(Q::scores, head), weights = matrix_id(Q::weights, head);
    if (has(Q::query, head) && has(Q::scores, head))
      add(NodeKind::attention, scores, "Scores", {matrix_id(Q::query, head), matrix_id(Q::key, head)});
    if (has(Q::weights, head)) add(NodeKind::attention, weights, "Attention", {scores});
    if (!has(Q::z, head)) return;
    const MatrixId z = matrix_id(Q::z, head), concat = matrix_id(Q::concat, head);
    const MatrixId output = matrix_id(Q::attention_output, head);
    add(NodeKind::attention, z, "z", {weights, matrix_id(Q::value, head)});
    add(NodeKind::concat, concat, "Concat", {z});
    add(NodeKind::output_projection, output, "W_O", {concat});
    if (has(Q::attention_sum, head)) {
      draw_sum(matrix_id(Q::attention_sum, head));
      draw(NodeKind::norm, Q::after_attention, head, "Norm");
    } else {
      draw_sum(matrix_id(Q::after_attention, head));
    }
  }

  void draw_ffn(Stack stack, Index layer) {
    const HeadRef head{layer, 0, stack};
    if (!has(Q::up, head)) return;
    if (is_own(Q::ffn_input, head)) draw(NodeKind::norm, Q::ffn_input, head, "Norm");
    draw(NodeKind::feed_forward, Q::gate, head, "Gate");
    draw(NodeKind::activation, Q::activated_gate, head, "Activation");
    draw(NodeKind::feed_forward, Q::up, head, "Up");
    draw(NodeKind::activation, Q::hidden, head, has(Q::gate, head) ? "Gate · up" : "Activation");
    draw(NodeKind::feed_forward, Q::ffn_output, head, "Down");
    const bool normed = has(Q::ffn_sum, head);
    draw_sum(matrix_id(normed ? Q::ffn_sum : Q::block_output, head));
    if (normed) draw(NodeKind::norm, Q::block_output, head, "Norm");
  }

  void draw_end(Stack stack) {
    const HeadRef head{.stack = stack};
    if (is_own(Q::last_hidden_state, head)) draw(NodeKind::norm, Q::last_hidden_state, head, "Norm");
    if (stack == Stack::encoder || !has(Q::logits, {})) return;
    MatrixId read = own(Q::last_hidden_state, head);  // by the vocabulary's weight
    const auto step = [&](NodeKind kind, Q quantity, const char* label) {
      if (!has(quantity, {})) return;
      read = matrix_id(quantity);
      draw(kind, quantity, {}, label);
    };
    step(NodeKind::feed_forward, Q::transform, "Transform");
    step(NodeKind::activation, Q::activated_transform, "Activation");
    step(NodeKind::norm, Q::transformed, "Norm");
    add(NodeKind::logits, matrix_id(Q::logits), "Logits", {read});
    add(NodeKind::probabilities, matrix_id(Q::probabilities), "Softmax", {matrix_id(Q::logits)});
  }

  MatrixId own(Q quantity, const HeadRef& head) const { return origin(trace_, matrix_id(quantity, head)); }
  bool has(Q quantity, const HeadRef& head) const { return exists(trace_, matrix_id(quantity, head)); }
  /// Whether the matrix exists and equals no other one, and so has a separate node.
  bool is_own(Q quantity, const HeadRef& head) const {
    return has(quantity, head) && own(quantity, head) == matrix_id(quantity, head);
  }
  /// The operands of this matrix that are not learned.
  std::vector<MatrixId> feeds(const MatrixId& id) const {
    std::vector<MatrixId> list;
    for (const MatrixId& operand : recipe(trace_, id).operands)
      if (!is_learned(operand.quantity) || node_of_.contains(operand)) list.push_back(operand);
    return list;
  }

  const Trace& trace_;
  Diagram diagram_;
  std::map<MatrixId, std::size_t> node_of_;
  Index column_ = 0;
};

}  // namespace

Diagram diagram_of(const Trace& trace, Index layer, Index encoder_layer, Index head) {
  DiagramBuilder draughtsman(trace);
  const bool two = trace.has(Stack::encoder);
  if (two) draughtsman.draw_stack(Stack::encoder, encoder_layer, head, 0);
  draughtsman.draw_stack(Stack::self, layer, head, two ? 1 : 0);
  return draughtsman.take();
}

}  // namespace headlight
