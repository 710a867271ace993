// The circuits of heads, which are weights alone (Elhage et al. 2021, "A Mathematical Framework for Transformer
// Circuits", "QK and OV circuits"): W_QK = W_Qᵀ W_K, what attends to what, and W_OV = W_O W_V, what is then moved.
// Norms on the way are folded in: their scale, and that a layer norm subtracts the mean. What is left of a norm is one
// positive factor a token. Biases, the scale of the scores and what edits change are not in them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"
#include "model/weights.h"

namespace headlight {

/// The factors of all heads of an attention, one below the other: what reads the stream, and the columns of W_O.
struct CircuitFactors {
  Index heads = 1, kv_heads = 1;
  Matrix query, key, value;  // (H·d_k, d_model), (H_kv·d_k, d_model), (H_kv·d_v, d_model)
  Matrix output;             // (H·d_v, d_model)

  auto query_of(Index head) const { return query.middleRows(head * (query.rows() / heads), query.rows() / heads); }
  auto output_of(Index head) const { return output.middleRows(head * (output.rows() / heads), output.rows() / heads); }
  auto key_of(Index head) const { return of_group(key, head); }
  auto value_of(Index head) const { return of_group(value, head); }

  /// (d_model, d_model): a row for each number of the query's vector, of the key's a column.
  Matrix qk(Index head) const { return query_of(head).transpose() * key_of(head); }
  /// (d_model, d_model): a row for each number that is written, a column for each that is read.
  Matrix ov(Index head) const { return output_of(head).transpose() * value_of(head); }

 private:
  Eigen::Block<const Matrix, Eigen::Dynamic, Eigen::Dynamic, true> of_group(const Matrix& rows, Index head) const {
    const Index width = rows.rows() / kv_heads;
    return rows.middleRows(head * kv_heads / heads * width, width);
  }
};

/// Of a model with weights that has this stack.
CircuitFactors circuit_factors(const Model& model, Stack stack, Index layer);

/// The same from and to the words: what reads is a row of (…, E) beside the vectors of the words, and the output one
/// beside those of the output layer, through all norms of the stream between. Errors: check_words().
Result<CircuitFactors> word_factors(const Model& model, Index layer);
/// The vectors of words [first, first + count) of the output layer, as the model reads them, and of that layer.
Matrix read_vectors(const Model& model, Index first, Index count);
Matrix output_vectors(const Model& model, Index first, Index count);
/// An Error where no linear map leads from words through a head to words: no table of words, no output layer, or one
/// with a layer of its own before it.
Status check_words(const Model& model, const std::string& what);

/// An Error where scores are not those of W_QK alone: relative positions.
Status check_qk(const Model& model, Stack stack, const std::string& what);

/// Σ λ / Σ |λ| of the eigenvalues λ of W_U W_OV W_E, of each head of the layers in order: 1 where each word raises
/// itself, −1 where each lowers itself (Elhage et al. 2021, "copying"). Those of a matrix (words, words) of rank d_v
/// are those of one of (d_v, d_v). None where all are 0. Errors: check_words().
Result<std::vector<std::optional<float>>> copying_scores(const Model& model, int threads);

/// How much of what a head reads another head below it has written, of random matrices about 1/√d_model:
/// ‖W_QKᵀ W_OV‖ / ‖W_QK‖ ‖W_OV‖ of the query, ‖W_QK W_OV‖ / … of the key, ‖W_OV W_OV'‖ / … of the value (Elhage et al.
/// 2021, "composition"), Frobenius norms; of rotary positions at distance 0.
struct Composition {
  std::array<std::optional<float>, 3> most = {};  // query, key, value: the head below with the largest
  std::array<HeadRef, 3> from = {};

  /// Which of the three is the largest; nothing in the lowest layer.
  std::optional<std::size_t> strongest() const;
};

/// Of each head of the stack, layer by layer. Query and key are left out where check_qk() has an Error.
std::vector<Composition> compositions(const Model& model, Stack stack, int threads);

/// Frobenius norms of the difference of a head's W_QK and W_OV in two models of one shape.
struct CircuitChange {
  float qk = 0, ov = 0;
};
/// Of each head of an attention; nothing where shapes differ.
std::vector<CircuitChange> circuit_changes(const CircuitFactors& a, const CircuitFactors& b);

}  // namespace headlight
