#include "model/fingerprint.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/formatted.h"
#include "base/parallel.h"
#include "base/random.h"
#include "model/weight_tree.h"

namespace headlight {
namespace {

constexpr Index kRowsOfEach = 8;

std::string_view bytes_of(const Matrix& matrix) {
  return {reinterpret_cast<const char*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * sizeof(float)};
}

/// Collects the hashes of rows, and of which they are.
class Rows {
 public:
  void add(const ConstMatrixRef& row) {
    const Matrix own = row;  // without gaps
    hashes_ += std::to_string(hash_text(bytes_of(own))) + ' ';
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
  std::string text() const { return hash_digits(hashes_); }

 private:
  std::string hashes_;
};

void add_stack(const StackWeights& stack, Rows& rows) {
  if (stack.embeddings.tokens) rows.add_linear(*stack.embeddings.tokens);
  if (const auto& patches = stack.embeddings.patches)
    rows.add_linear(patches->projection), rows.add_matrix(patches->leading);
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

/// Collects the settings of a model and the hashes of all of its numbers.
class Identity {
 public:
  explicit Identity(int threads) : threads_(threads) {}

  template <class... Numbers>
  void add_settings(Numbers... numbers) {
    ((text_ += formatted("%.9g ", static_cast<double>(numbers))), ...);
  }
  void add(const Matrix& matrix) {
    add_settings(matrix.rows(), matrix.cols());
    text_ += std::to_string(hash_bytes(bytes_of(matrix))) + ' ';
  }
  void add(const Vector& vector) { add(Matrix(vector)); }
  void add(const Linear& linear) {
    constexpr Index kRows = 64;
    const Index rows = linear.is_identity() ? 0 : linear.outputs();
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>((rows + kRows - 1) / kRows));
    parallel_for(static_cast<Index>(hashes.size()), threads_, [&](Index block) {
      const Matrix part = weight_rows(linear, block * kRows, std::min(kRows, rows - block * kRows));
      hashes[static_cast<std::size_t>(block)] = hash_bytes(bytes_of(part));
    });
    add_settings(rows, rows > 0 ? linear.inputs() : 0);
    for (const std::uint64_t hash : hashes) text_ += std::to_string(hash) + ' ';
    add(linear.bias);
  }
  void add(const NormWeights& norm) {
    add_settings(norm.epsilon, norm.kind);
    add(norm.scale), add(norm.shift);
  }
  void add(const Rotary& rotary) {
    add_settings(rotary.interleaved, rotary.factor);
    add(rotary.frequencies), add(rotary.places);
  }
  void add(const RelativeBias& bias) {
    add_settings(bias.bidirectional, bias.max_distance, bias.of_keys, bias.of_pairs);
    add(bias.table);
  }
  void add(const DistanceVectors& distances) {
    add_settings(distances.exact, distances.max_distance);
    add(distances.keys), add(distances.queries);
  }
  /// What may be missing: optional, or shared.
  template <class Held>
  void add_held(const Held& held) {
    add_settings(static_cast<bool>(held));
    if (held) add(*held);
  }
  std::string text() const { return hash_digits(text_); }

 private:
  int threads_;
  std::string text_;
};

void add_stack(const StackWeights& stack, Identity& all) {
  const Embeddings& embeddings = stack.embeddings;
  all.add_held(embeddings.tokens);
  if (embeddings.patches) all.add(embeddings.patches->projection), all.add(embeddings.patches->leading);
  all.add_settings(embeddings.scale, embeddings.first_position, embeddings.pad_id.value_or(-1), stack.blocks.size());
  all.add(embeddings.positions), all.add(embeddings.token_types);
  all.add_held(embeddings.norm);
  all.add(embeddings.projection);
  all.add_held(stack.rotary);
  all.add_held(stack.final_norm);
  for (const BlockWeights& block : stack.blocks) {
    all.add_settings(block.parallel, block.cross.has_value());
    for (const AttentionWeights* one : {&block.self, block.cross ? &*block.cross : nullptr}) {
      if (!one) continue;
      all.add_settings(one->num_heads, one->num_kv_heads, one->scale.value_or(0), one->softcap, one->window);
      all.add(one->sinks);
      all.add_held(one->query_norm), all.add_held(one->key_norm);
      all.add_held(one->rotary), all.add_held(one->relative_bias), all.add_held(one->distances);
    }
    if (block.experts) all.add_settings(block.experts->chosen, block.experts->to_one);
    for_each_layer(block, [&](const LayerName&, const auto& layer) { all.add(layer); });
  }
}

template <class Take>
void for_each_given(const Model& model, const Take& take) {
  if (!model.given) return;
  for (const auto& [stack, given] : model.given->stacks) {
    for (const Matrix* inputs : {&given.query, &given.key, &given.value}) take(*inputs);
    for (const auto& layer : given.patterns)
      for (const Matrix& weights : layer) take(weights);
  }
}

}  // namespace

std::string identity(const Model& model, int threads) {
  Identity all(threads);
  all.add_settings(model.config.arch, model.config.position, model.config.norm, model.config.activation,
                   model.config.softcap, model.config.gated, model.encoder.has_value(), model.output.has_value());
  add_stack(model, all);
  if (model.encoder) add_stack(*model.encoder, all);
  if (model.output) {
    const OutputWeights& output = *model.output;
    all.add_held(output.weight);
    all.add(output.bias), all.add(output.transform);
    all.add_held(output.transform_norm);
    all.add_settings(output.scale, output.softcap, output.activation ? static_cast<int>(*output.activation) : -1);
  }
  for_each_given(model, [&](const Matrix& given) { all.add(given); });
  return all.text();
}

std::string fingerprint(const Model& model) {
  Rows rows;
  add_stack(model, rows);
  if (model.encoder) add_stack(*model.encoder, rows);
  if (model.output && model.output->weight) rows.add_linear(*model.output->weight);
  for_each_given(model, [&](const Matrix& given) { rows.add_matrix(given); });
  return rows.text();
}

std::uint64_t hash_bytes(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15;
  std::uint64_t lanes[] = {1, 2, 3, 4}, hash = (bytes.size() + 3) / 4;
  const auto add = [](std::uint64_t& to, std::uint64_t word, int turn) { to = std::rotl((to ^ word) * kPrime, turn); };
  for (std::uint32_t words[4] = {}; !bytes.empty();) {
    const std::size_t part = std::min(bytes.size(), sizeof words);
    if (part < sizeof words) std::fill(words, words + 4, 0);
    std::memcpy(words, bytes.data(), part);
    for (std::size_t i = 0; i < (part + 3) / 4; ++i) add(lanes[i], words[i], 29);
    bytes.remove_prefix(part);
  }
  for (const std::uint64_t lane : lanes) add(hash, lane, 31);
  return hash;
}

}  // namespace headlight
