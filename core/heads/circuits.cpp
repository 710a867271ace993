#include "heads/circuits.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "heads/stack_weights.h"
#include "math/ops.h"

namespace headlight {
namespace {

using CircuitSums = Eigen::MatrixXd;

constexpr Index kCircuitWords = 512;

/// Rows that read a norm's result become rows that read what goes into it.
void read_through(const NormWeights& norm, Matrix& rows) {
  if (norm.is_identity()) return;
  rows.array().rowwise() *= norm.scale.array();
  if (norm.kind == NormKind::layer_norm) rows.colwise() -= rows.rowwise().mean().eval();
}

/// Rows that are added to the stream, as they leave the norm.
void write_through(const NormWeights& norm, Matrix& rows) {
  if (norm.is_identity()) return;
  if (norm.kind == NormKind::layer_norm) rows.colwise() -= rows.rowwise().mean().eval();
  rows.array().rowwise() *= norm.scale.array();
}

/// The norm of the queries or keys themselves, of each head or of all together.
void norm_factors(const std::optional<NormWeights>& norm, Index heads, Matrix& rows) {
  if (!norm || norm->is_identity()) return;
  const Index parts = norm->scale.size() == rows.rows() ? 1 : heads, width = rows.rows() / parts;
  for (Index part = 0; part < parts; ++part) {
    auto own = rows.middleRows(part * width, width);
    if (norm->kind == NormKind::layer_norm) own.rowwise() -= own.colwise().mean().eval();
    own.array().colwise() *= norm->scale.transpose().array();
  }
}

Matrix all_rows(const Linear& linear) { return weight_rows(linear, 0, linear.outputs()); }

/// The norms of the stream between the attention of a layer and the next layer.
std::vector<const NormWeights*> norms_behind(const Model& model, Stack stack, Index layer) {
  if (model.config.norm == Norm::pre) return {};
  const BlockWeights& block = block_weights(model, stack, layer);
  std::vector<const NormWeights*> norms{&block.attention_norm};
  if (block.cross) norms.push_back(&block.cross_norm);
  if (block.has_ffn()) norms.push_back(&block.ffn_norm);
  return norms;
}

/// What reads the stream above the attention of layer `below`, as it reads what this attention writes.
void read_below(const Model& model, Stack stack, Index below, Matrix& rows) {
  const auto norms = norms_behind(model, stack, below);
  for (auto norm = norms.rbegin(); norm != norms.rend(); ++norm) read_through(**norm, rows);
}

/// Each head's rows (d, d_model) times the root of S Sᵀ of its `side`: as long, multiplied with anything, as the whole
/// circuit is.
template <class RowsOf, class SideOf>
Matrix weighed(Index heads, const RowsOf& rows_of, const SideOf& side_of) {
  const Index width = rows_of(0).rows();
  Matrix all(heads * width, rows_of(0).cols());
  for (Index head = 0; head < heads; ++head) {
    const CircuitSums side = side_of(head).template cast<double>();
    const Eigen::SelfAdjointEigenSolver<CircuitSums> solver(side * side.transpose());
    const CircuitSums root = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() *
                             solver.eigenvectors().transpose();
    all.middleRows(head * width, width) = (root * rows_of(head).template cast<double>()).template cast<float>();
  }
  return all;
}

/// ‖AᵀB‖ of rows of as many factors.
float frobenius(const CircuitSums& a, const CircuitSums& b) {
  return static_cast<float>(std::sqrt(std::max(0.0, (a * a.transpose()).cwiseProduct(b * b.transpose()).sum())));
}

/// ‖A₁ᵀB₁ − A₂ᵀB₂‖ = ‖(A₁ − A₂)ᵀB₁ + A₂ᵀ(B₁ − B₂)‖: 0 where nothing changed.
float circuit_distance(const CircuitSums& a1, const CircuitSums& b1, const CircuitSums& a2, const CircuitSums& b2) {
  CircuitSums a(2 * a1.rows(), a1.cols()), b(2 * b1.rows(), b1.cols());
  a << a1 - a2, a2;
  b << b1, b1 - b2;
  return frobenius(a, b);
}

/// Takes what the heads of one layer give for those of a layer above into account.
void compose(const Matrix& reads, const Matrix& writes, Index heads, Index layer, Stack stack, std::size_t part,
             Composition* above, int threads) {
  const Matrix both = linear(reads, {.weight = writes, .bias = {}}, Threads(threads));
  const Index rows = reads.rows() / heads, columns = writes.rows() / heads;
  for (Index head = 0; head < heads; ++head)
    for (Index from = 0; from < heads; ++from) {
      const auto norm_of = [](const auto& block) { return block.template cast<double>().norm(); };
      const double of_both = norm_of(both.block(head * rows, from * columns, rows, columns));
      const double apart =
          norm_of(reads.middleRows(head * rows, rows)) * norm_of(writes.middleRows(from * columns, columns));
      const auto ratio = static_cast<float>(of_both / apart);
      Composition& one = above[head];
      if (!std::isfinite(ratio) || (one.most[part] && *one.most[part] >= ratio)) continue;
      one.most[part] = ratio;
      one.from[part] = {layer, from, stack};
    }
}

}  // namespace

CircuitFactors circuit_factors(const Model& model, Stack stack, Index layer) {
  const BlockWeights& block = block_weights(model, stack, layer);
  const bool cross = stack == Stack::cross;
  const AttentionWeights& attention = attention_weights(model, stack, layer);
  CircuitFactors factors{attention.num_heads,     attention.num_kv_heads,    all_rows(attention.query),
                         all_rows(attention.key), all_rows(attention.value), all_rows(attention.output).transpose()};
  norm_factors(attention.query_norm, factors.heads, factors.query);
  norm_factors(attention.key_norm, factors.kv_heads, factors.key);
  if (model.config.norm == Norm::pre) {
    const NormWeights& own = cross ? block.cross_norm : block.attention_norm;
    read_through(own, factors.query);
    if (!cross) read_through(own, factors.key), read_through(own, factors.value);
  }
  if (block.attention_after_norm && !cross) write_through(*block.attention_after_norm, factors.output);
  return factors;
}

Status check_words(const Model& model, const std::string& what) {
  const char* found = model.given || !model.embeddings.tokens  ? "no table of words"
                      : !model.output                          ? "no output layer"
                      : !model.output->transform.is_identity() ? "a layer of the output's own"
                                                               : nullptr;
  if (!found) return Done{};
  return bad_input(what, "", "a model with a linear output layer over the words that it reads", found);
}

Status check_qk(const Model& model, Stack stack, const std::string& what) {
  if (model.given) return bad_input(what, "", "a model", "attention alone");
  for (Index layer = 0; layer < static_cast<Index>(stack_weights(model, stack).blocks.size()); ++layer) {
    const AttentionWeights& attention = attention_weights(model, stack, layer);
    if (attention.relative_bias || attention.distances)
      return bad_input(what, "", "scores of queries and keys alone", "relative positions beside them");
  }
  return Done{};
}

Result<CircuitFactors> word_factors(const Model& model, Index layer) {
  TRY(check_words(model, "words"));
  CircuitFactors factors = circuit_factors(model, Stack::self, layer);
  const Embeddings& embeddings = model.embeddings;
  for (Matrix* rows : {&factors.query, &factors.key, &factors.value}) {
    for (Index below = layer - 1; below >= 0; --below) read_below(model, Stack::self, below, *rows);
    if (!embeddings.projection.is_identity()) *rows = Matrix(*rows * all_rows(embeddings.projection));
    if (embeddings.norm) read_through(*embeddings.norm, *rows);
    *rows *= embeddings.scale;
  }
  for (Index above = layer; above < static_cast<Index>(model.blocks.size()); ++above)
    for (const NormWeights* norm : norms_behind(model, Stack::self, above)) write_through(*norm, factors.output);
  if (model.final_norm) write_through(*model.final_norm, factors.output);
  if (model.output->transform_norm) write_through(*model.output->transform_norm, factors.output);
  factors.output *= model.output->scale;
  return factors;
}

Matrix read_vectors(const Model& model, Index first, Index count) {
  const Linear& table = *model.embeddings.tokens;
  const bool named = model.vocabulary && !model.vocabulary->ids.empty();
  Matrix vectors = Matrix::Zero(count, table.inputs());
  for (Index i = 0; i < count; ++i) {
    const Index id = named ? static_cast<Index>(model.vocabulary->ids[static_cast<std::size_t>(first + i)]) : first + i;
    if (id >= 0 && id < table.outputs()) vectors.row(i) = weight_rows(table, id, 1);
  }
  return vectors;
}

Matrix output_vectors(const Model& model, Index first, Index count) {
  return weight_rows(*model.output->weight, first, count);
}

Result<std::vector<std::optional<float>>> copying_scores(const Model& model, int threads) {
  TRY(check_words(model, "copying"));
  Matrix words = Matrix::Zero(model.output->weight->inputs(), model.embeddings.tokens->inputs());  // W_Uᵀ W_E
  const Index count = model.output->weight->outputs();
  for (Index first = 0; first < count; first += kCircuitWords) {
    const Index some = std::min(kCircuitWords, count - first);
    const Matrix out = output_vectors(model, first, some).transpose(),
                 in = read_vectors(model, first, some).transpose();
    words += linear(out, {.weight = in, .bias = {}}, Threads(threads));
  }
  std::vector<std::optional<float>> scores;
  for (Index layer = 0; layer < static_cast<Index>(model.blocks.size()); ++layer) {
    const auto factors = TRY(word_factors(model, layer));
    const Matrix moved = linear(factors.output, {.weight = words.transpose(), .bias = {}}, Threads(threads));
    const Index d_v = moved.rows() / factors.heads;
    std::vector<std::optional<float>> of_layer(static_cast<std::size_t>(factors.heads));
    parallel_for(factors.heads, threads, [&](Index head) {
      const CircuitSums value = factors.value_of(head).cast<double>();
      const CircuitSums small = moved.middleRows(head * d_v, d_v).cast<double>() * value.transpose();
      const auto eigenvalues = Eigen::EigenSolver<CircuitSums>(small, false).eigenvalues().eval();
      const double all = eigenvalues.cwiseAbs().sum();
      if (all > 0 && std::isfinite(all))
        of_layer[static_cast<std::size_t>(head)] = static_cast<float>(eigenvalues.real().sum() / all);
    });
    scores.insert(scores.end(), of_layer.begin(), of_layer.end());
  }
  return scores;
}

std::optional<std::size_t> Composition::strongest() const {
  const auto best = std::max_element(most.begin(), most.end());
  return *best ? std::optional(static_cast<std::size_t>(best - most.begin())) : std::nullopt;
}

std::vector<Composition> compositions(const Model& model, Stack stack, int threads) {
  const bool with_qk = static_cast<bool>(check_qk(model, stack, ""));
  std::vector<Matrix> written;  // by layer
  std::vector<Composition> all;
  for (Index layer = 0; layer < static_cast<Index>(stack_weights(model, stack).blocks.size()); ++layer) {
    const CircuitFactors own = circuit_factors(model, stack, layer);
    const auto query = [&](Index head) { return own.query_of(head); };
    const auto key = [&](Index head) { return own.key_of(head); };
    const auto value = [&](Index head) { return own.value_of(head); };
    const auto output = [&](Index head) { return own.output_of(head); };
    std::array<Matrix, 3> reads;
    if (with_qk) reads = {weighed(own.heads, query, key), weighed(own.heads, key, query), {}};
    reads[2] = weighed(own.heads, value, output);
    all.resize(all.size() + static_cast<std::size_t>(own.heads));
    for (Index below = layer - 1; below >= 0; --below)
      for (std::size_t part = 0; part < reads.size(); ++part) {
        if (reads[part].size() == 0) continue;
        read_below(model, stack, below, reads[part]);
        compose(reads[part], written[static_cast<std::size_t>(below)], own.heads, below, stack, part,
                &all[all.size() - static_cast<std::size_t>(own.heads)], threads);
      }
    written.push_back(weighed(own.heads, output, value));
  }
  return all;
}

std::vector<CircuitChange> circuit_changes(const CircuitFactors& a, const CircuitFactors& b) {
  const auto shape = [](const CircuitFactors& one) {
    return std::array{one.heads,      one.kv_heads,     one.query.rows(),  one.query.cols(),
                      one.key.rows(), one.value.rows(), one.output.rows(), one.output.cols()};
  };
  if (shape(a) != shape(b)) return {};
  std::vector<CircuitChange> changes;
  const auto doubles = [](const auto& rows) { return CircuitSums(rows.template cast<double>()); };
  for (Index head = 0; head < a.heads; ++head)
    changes.push_back({circuit_distance(doubles(a.query_of(head)), doubles(a.key_of(head)), doubles(b.query_of(head)),
                                        doubles(b.key_of(head))),
                       circuit_distance(doubles(a.output_of(head)), doubles(a.value_of(head)),
                                        doubles(b.output_of(head)), doubles(b.value_of(head)))});
  return changes;
}

}  // namespace headlight
