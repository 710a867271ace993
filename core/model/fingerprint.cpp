#include "model/fingerprint.h"

#include <type_traits>

#include "base/formatted.h"
#include "base/random.h"
#include "model/weight_tree.h"

namespace headlight {
namespace {

constexpr Index kRowsOfEach = 8;

/// Collects the hashes of rows, and of which they are.
class Rows {
 public:
  void add(const ConstMatrixRef& row) {
    const Matrix own = row;  // without gaps
    hashes_ += std::to_string(hash_text(
                   {reinterpret_cast<const char*>(own.data()), static_cast<std::size_t>(own.size()) * sizeof(float)})) +
               ' ';
  }
  template <class RowOf>
  void add_some(Index rows, const RowOf& row_of) {
    for (Index i = 0; i < std::min(rows, kRowsOfEach); ++i)
      add(row_of(rows <= kRowsOfEach ? i : i * (rows - 1) / (kRowsOfEach - 1)));
  }
  void add_matrix(const Matrix& matrix) {
    add_some(matrix.rows(), [&](Index row) -> Matrix { return matrix.row(row); });
  }
  void add_linear(const Linear& linear) {
    if (!linear.is_identity()) add_some(linear.outputs(), [&](Index row) { return weight_rows(linear, row, 1); });
    if (linear.bias.size() > 0) add(linear.bias);
  }
  void add_norm(const NormWeights& norm) {
    if (norm.scale.size() > 0) add(norm.scale);
    if (norm.shift.size() > 0) add(norm.shift);
  }
  std::string text() const { return formatted("%016llx", static_cast<unsigned long long>(hash_text(hashes_))); }

 private:
  std::string hashes_;
};

void add_stack(const StackWeights& stack, Rows& rows) {
  if (stack.embeddings.tokens) rows.add_linear(*stack.embeddings.tokens);
  rows.add_matrix(stack.embeddings.positions);
  for (const BlockWeights& block : stack.blocks) {
    for (const AttentionWeights* one : {&block.self, block.cross ? &*block.cross : nullptr})
      if (one && one->sinks.size() > 0) rows.add(one->sinks);
    for_each_layer(block, [&](const LayerName&, const auto& layer) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(layer)>, Linear>) rows.add_linear(layer);
      else rows.add_norm(layer);
    });
  }
}

}  // namespace

std::string fingerprint(const Model& model) {
  Rows rows;
  add_stack(model, rows);
  if (model.encoder) add_stack(*model.encoder, rows);
  if (model.output && model.output->weight) rows.add_linear(*model.output->weight);
  if (model.given)
    for (const auto& [stack, given] : model.given->stacks) {
      for (const Matrix* inputs : {&given.query, &given.key, &given.value}) rows.add_matrix(*inputs);
      for (const auto& layer : given.patterns)
        for (const Matrix& weights : layer) rows.add_matrix(weights);
    }
  return rows.text();
}

}  // namespace headlight
