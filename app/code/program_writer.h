// Writes a program from the recipes of its matrices: one statement or a few for each operation, in its dialect.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "code/program.h"
#include "explain/matrix_source.h"
#include "explain/recipe.h"

namespace headlight {

/// Whether nn.MultiheadAttention can compute this attention; an Error states what it does not have.
Status check_module(const Trace& trace, const HeadRef& head);

/// A tensor of the program.
struct Tensor {
  std::string name;
  std::vector<Index> shape;
  std::string axes;
};

/// A row that may attend to nothing.
struct EmptyRow {
  Index sentence = 0, query = 0, head = 0;
};

class ProgramWriter {
 public:
  /// The program's arrays keep the sentences.
  ProgramWriter(std::vector<std::shared_ptr<const Trace>> sentences, const ProgramOptions& options);

  Program write();

 private:
  using Sentences = std::vector<std::shared_ptr<const Trace>>;

  bool torch() const { return options_.dialect != Dialect::numpy; }
  bool tokens_first() const { return options_.dialect == Dialect::einsum; }
  bool keeps_heads() const { return options_.dialect != Dialect::module; }
  Index batch() const { return static_cast<Index>(sentences_.size()); }
  MatrixId at(Quantity quantity) const { return matrix_id(quantity, head_); }
  bool has(Quantity quantity) const { return exists(trace_, at(quantity)); }
  Index queries() const;
  Index keys() const;

  // Statements (program_writer.cpp).
  void say(std::string text);
  Tensor& make(const MatrixId& id, const std::string& name, const std::string& expression, std::vector<Index> shape,
               std::string axes);
  void again(const Tensor& tensor, const std::string& expression, const MatrixId& shows);
  void change(const std::string& text, const Tensor& tensor, const MatrixId& shows);
  std::string base_name(const MatrixId& id) const;

  // Inputs (program_inputs.cpp).
  const Tensor& tensor(const MatrixId& id);
  void add_array(const Tensor& tensor, std::optional<MatrixId> shows, std::vector<std::string_view> axes, Index pieces,
                 std::function<Matrix(Index)> piece, bool minus_infinity = false);
  const Tensor& add_input(const MatrixId& id, Tensor tensor, std::vector<std::string_view> axes, Index pieces,
                          std::function<Matrix(Index)> piece, bool minus_infinity = false);
  const Tensor& stream_input(const MatrixId& id);
  const Tensor& learned_input(const MatrixId& id);
  const Tensor& mask_input();
  const Tensor& per_head_input(const std::string& name, const std::function<Matrix(Index)>& of_head, Index rows,
                               Index cols, const MatrixId& shows);
  const Tensor& per_head_input(const std::string& name, Quantity quantity, Index rows, Index cols);
  const Tensor& rotary_input(const char* name, bool sine);
  void add_expected(const MatrixId& id);
  void add_expected_weights();
  MatrixId mask_id() const { return at(has(Quantity::head_mask) ? Quantity::head_mask : Quantity::mask); }
  Index masks() const;  // 1, or as many as heads where each has its own
  const Mask& mask_of(const Trace& trace, Index head) const;
  bool mask_is_open() const;
  void say_given_mask();
  bool mask_is_boolean() const;
  bool mask_differs() const;
  std::optional<EmptyRow> empty_row() const;  // the first

  // One operation each (program_operations.cpp).
  void emit(Quantity quantity);
  std::string linear(const std::string& x, const Recipe& recipe);
  void emit_linear(const MatrixId& id, const Recipe& recipe);
  void emit_head_vectors(const MatrixId& id, const Recipe& recipe);
  void emit_norm(const MatrixId& id, const Recipe& recipe);
  void emit_rotation(const MatrixId& id, const Recipe& recipe);
  void emit_activation(const MatrixId& id, const Recipe& recipe);
  void share_among_groups(Quantity used);
  void emit_scores();
  void emit_softmax();
  void emit_edits();
  void emit_values();

  // Parts (program_parts.cpp).
  void emit_attention(const HeadRef& head);
  void emit_attention_steps();
  void emit_module();
  void emit_module_weights(const std::string& module, Index key_width, Index value_width);
  void repeat_groups(std::array<std::string, 3>& weights, std::array<std::string, 3>& biases);
  std::string module_mask();
  std::string module_prefix() const { return options_.block && head_.stack == Stack::cross ? "cross_" : ""; }
  bool module_is_biased() const {
    return has(Quantity::query_bias) || has(Quantity::key_bias) || has(Quantity::value_bias) ||
           has(Quantity::output_bias);
  }
  void emit_ffn();
  void emit_header(std::vector<ProgramLine> body);
  void emit_comparison();
  void emit_empty_rows();
  std::vector<Index> tokens_shape(Index tokens, Index width) const;
  std::vector<Index> heads_shape(Index heads, Index tokens, Index width) const;
  std::vector<Index> pattern_shape() const;
  std::string tokens_axes(const char* tokens, const char* width) const;
  std::string heads_axes(const char* tokens) const;
  std::string pattern_axes() const;

  const std::shared_ptr<const Sentences> all_;
  const Sentences& sentences_;  // *all_
  const Trace& trace_;          // of the first
  const ProgramOptions& options_;
  HeadRef head_;  // of the attention that is being written
  std::map<MatrixId, Tensor> tensors_;
  std::map<std::string, Tensor> named_;  // inputs that are no matrix of the explanation: cosine, sine, dropout
  std::vector<ProgramLine> lines_;
  std::vector<ProgramLine> input_lines_;
  std::vector<ArrayStream> inputs_;
  std::string weights_name_, scaled_name_;  // of the chosen attention
  std::string result_;
};

/// `(1, 10, 4, 16)` without the parentheses.
std::string joined_sizes(const std::vector<Index>& shape);

}  // namespace headlight
