// An attention written out for the tests of comparing, with a switch for every usual mistake.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "diagnose/export_file.h"

namespace headlight::mistaken {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Table {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;

  Table() = default;
  Table(std::size_t r, std::size_t c, double value = 0) : rows(r), cols(c), values(r * c, value) {}
  double& operator()(std::size_t r, std::size_t c) { return values[r * cols + c]; }
  double operator()(std::size_t r, std::size_t c) const { return values[r * cols + c]; }
};

inline Table random_table(Random& random, std::size_t rows, std::size_t cols, float limit) {
  Table table(rows, cols);
  for (double& value : table.values) value = static_cast<double>(random.symmetric(limit));
  return table;
}

inline Table transposed(const Table& table) {
  Table result(table.cols, table.rows);
  for (std::size_t r = 0; r < table.rows; ++r)
    for (std::size_t c = 0; c < table.cols; ++c) result(c, r) = table(r, c);
  return result;
}

/// Multi-head attention as people write it, with a switch for every mistake.
struct Attention {
  std::size_t tokens = 7, heads = 3, d_k = 4;
  Table x, weight[4], bias[4];  // query, key, value, output
  Table allowed;                // 1 may attend
  // The switches.
  double scale = 0.5;    // 1/sqrt(4)
  int softmax_axis = 2;  // 0 heads, 1 queries, 2 keys
  bool mask_after = false, blocked_zero = false, swapped = false, merge_reshaped = false, no_softmax = false;
  bool not_transposed[4] = {}, no_bias[4] = {}, left_out[4] = {};
  int split[3] = {};  // 0 blocks, 1 interleaved, 2 reshaped
  double dropout = 0;
  // The answers.
  std::vector<Table> weights;
  Table output;

  explicit Attention(std::uint64_t seed) {
    Random random(seed);
    const std::size_t d = heads * d_k;
    x = random_table(random, tokens, d, 1.6f);
    for (Table& w : weight) w = random_table(random, d, d, 0.6f);
    for (Table& b : bias) b = random_table(random, 1, d, 0.8f);
    allowed = Table(tokens, tokens, 1);
  }

  void causal() {
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = i + 1; j < tokens; ++j) allowed(i, j) = 0;
  }
  void pad(std::size_t count) {
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = tokens - count; j < tokens; ++j) allowed(i, j) = 0;
  }

  Table project(int which, const Table& input) const {
    if (left_out[which]) return input;
    Table y(tokens, heads * d_k);
    for (std::size_t t = 0; t < tokens; ++t)
      for (std::size_t out = 0; out < y.cols; ++out) {
        for (std::size_t in = 0; in < y.cols; ++in)
          y(t, out) += input(t, in) * (not_transposed[which] ? weight[which](in, out) : weight[which](out, in));
        if (!no_bias[which]) y(t, out) += bias[which](0, out);
      }
    return y;
  }

  double of_head(const Table& all, int how, std::size_t head, std::size_t token, std::size_t column) const {
    if (how == 0) return all(token, head * d_k + column);
    if (how == 1) return all(token, column * heads + head);
    return all.values[(head * tokens + token) * d_k + column];
  }

  void run() {
    Table q = project(0, x), k = project(1, x);
    const Table v = project(2, x);
    if (swapped) std::swap(q, k);
    std::vector<Table> scores(heads, Table(tokens, tokens));
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = 0; j < tokens; ++j) {
          for (std::size_t c = 0; c < d_k; ++c)
            scores[h](i, j) += of_head(q, split[0], h, i, c) * of_head(k, split[1], h, j, c) * scale;
          if (allowed(i, j) == 0 && !mask_after) scores[h](i, j) = blocked_zero ? 0 : -kInfinity;
        }
    weights = no_softmax ? scores : softmax(scores);
    Random coin(1);
    for (Table& head : weights)
      for (std::size_t i = 0; i < head.values.size(); ++i) {
        if (mask_after) head.values[i] *= allowed.values[i];
        if (dropout > 0) head.values[i] *= static_cast<double>(coin.uniform()) < dropout ? 0 : 1 / (1 - dropout);
      }
    Table z(tokens, heads * d_k);
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t c = 0; c < d_k; ++c) {
          double& cell = merge_reshaped ? z.values[(h * tokens + i) * d_k + c] : z(i, h * d_k + c);
          for (std::size_t j = 0; j < tokens; ++j) cell += weights[h](i, j) * of_head(v, split[2], h, j, c);
        }
    output = project(3, z);
  }

  std::vector<Table> softmax(const std::vector<Table>& scores) const {
    std::vector<Table> result = scores;
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = 0; j < tokens; ++j) {
          double sum = 0;
          const std::size_t count = softmax_axis == 0 ? heads : tokens;
          for (std::size_t n = 0; n < count; ++n)
            sum += std::exp(scores[softmax_axis == 0 ? n : h](softmax_axis == 1 ? n : i, softmax_axis == 2 ? n : j));
          result[h](i, j) = std::exp(scores[h](i, j)) / sum;  // 0/0 where all are blocked, as torch has it
        }
    return result;
  }
};

inline Array array_of(std::vector<Index> shape, const std::vector<Table>& tables) {
  Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
  for (const Table& table : tables)
    for (const double value : table.values) array.values.push_back(static_cast<float>(value));
  return array;
}

inline Array attentions_of(const Attention& a) {
  const auto tokens = static_cast<Index>(a.weights[0].rows);
  return array_of({1, static_cast<Index>(a.weights.size()), tokens, tokens}, a.weights);
}

inline ExportFile file_of(std::map<std::string, Array> arrays, std::map<std::string, std::string> metadata = {}) {
  auto file = export_from("f", {.arrays = std::move(arrays), .metadata = std::move(metadata)}, std::nullopt);
  EXPECT_TRUE(file) << file.error().message();
  return file ? *file : ExportFile{};
}

/// Nothing but the weights, and the hidden states that tell d_model.
inline ExportFile weights_only(const Attention& a) {
  return file_of({{"attentions", attentions_of(a)}, {"hidden_states", array_of({1, 7, 12}, {a.x})}});
}

inline ExportFile answers_of(const Attention& a) {
  return file_of({{"attentions", attentions_of(a)}, {"output", array_of({7, 12}, {a.output})}});
}

inline std::map<std::string, Array> inputs_of(const Attention& a) {
  std::map<std::string, Array> arrays{{"query", array_of({7, 12}, {a.x})}, {"mask", array_of({7, 7}, {a.allowed})}};
  arrays["mask"].dtype = Dtype::boolean;
  const char* names[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
  for (int i = 0; i < 4; ++i) {
    arrays[std::string(names[i]) + ".weight"] = array_of({12, 12}, {a.weight[i]});
    arrays[std::string(names[i]) + ".bias"] = array_of({12}, {a.bias[i]});
  }
  return arrays;
}

}  // namespace headlight::mistaken
