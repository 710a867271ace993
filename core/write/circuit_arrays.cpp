#include "write/circuit_arrays.h"

#include <algorithm>
#include <string>

#include "heads/circuits.h"

namespace headlight {
namespace {

constexpr Index kCircuitRows = 1024;  // in a piece

/// (layers, heads, rows, rows); `piece_of` makes rows [first, first + count) of a head's.
template <class PieceOf>
ArrayStream circuit_array(const Trace& trace, Stack stack, std::string name, Index rows, std::string_view axis,
                          const PieceOf& piece_of) {
  const Index heads = trace.num_heads(stack), blocks = (rows + kCircuitRows - 1) / kCircuitRows;
  ArrayStream array;
  array.name = std::move(name);
  array.shape = {trace.num_layers(stack), heads, rows, rows};
  array.axes = {"layer", "head", axis, axis};
  array.pieces = trace.num_layers(stack) * heads * blocks;
  array.piece = [=](Index piece) {
    const Index head = piece / blocks, first = piece % blocks * kCircuitRows;
    return Matrix(piece_of(head / heads, head % heads, first, std::min(kCircuitRows, rows - first)));
  };
  return array;
}

}  // namespace

bool is_circuit(std::string_view name) { return name == "qk" || name == "ov"; }

Status add_circuits(const Trace& trace, std::string_view name, const ExportOptions& options,
                    std::vector<ArrayStream>& arrays) {
  const Model& model = *trace.model;
  const bool qk = name == "qk";
  const std::string option = "--with " + std::string(name);
  if (model.given) return bad_input(option, "", "a model with weights", "attention alone");
  for (const StackNames& names : stacks_of(trace, options)) {
    const Stack stack = names.stack;
    if (qk) TRY(check_qk(model, stack, option));
    const auto of_stream = [&model, stack, qk](Index layer, Index head, Index first, Index count) {
      const CircuitFactors factors = circuit_factors(model, stack, layer);
      const auto left = qk ? factors.query_of(head) : factors.output_of(head);
      return Matrix(left.middleCols(first, count).transpose() * (qk ? factors.key_of(head) : factors.value_of(head)));
    };
    const std::string label = std::string(names.prefix) + std::string(name);
    const Index d_model = trace.embedding.cols();
    arrays.push_back(only_heads(circuit_array(trace, stack, label, d_model, "dimension", of_stream), options.only));
    if (stack != Stack::self || !check_words(model, option)) continue;
    const Index words = model.output->weight->outputs();
    if (words > kMostCircuitWords) continue;
    const auto of_words = [&model, qk, words](Index layer, Index head, Index first, Index count) {
      const CircuitFactors factors = *word_factors(model, layer);
      const Matrix right =
          read_vectors(model, 0, words) * (qk ? factors.key_of(head) : factors.value_of(head)).transpose();
      if (qk) return Matrix(read_vectors(model, first, count) * factors.query_of(head).transpose() * right.transpose());
      return Matrix(output_vectors(model, first, count) * factors.output_of(head).transpose() * right.transpose());
    };
    arrays.push_back(only_heads(circuit_array(trace, stack, label + "_words", words, "word", of_words), options.only));
  }
  return Done{};
}

}  // namespace headlight
