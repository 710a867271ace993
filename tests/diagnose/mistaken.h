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
  std::size_t tokens = 7, heads = 3, d_k = 4, groups = 3;  // groups: heads of keys and values
  Table x, weight[4], bias[4];                             // query, key, value, output
  Table allowed;                                           // 1 may attend
  Table added;                                             // to the scores; empty: nothing
  // The switches.
  double scale = 0.5;    // 1/sqrt(4)
  int softmax_axis = 2;  // 0 heads, 1 queries, 2 keys
  bool mask_after = false, mask_as_numbers = false, swapped = false, no_softmax = false, twice = false;
  bool logarithm = false, sigmoid = false, averaged = false, weights_transposed = false, in_turn = false;
  double blocked = -kInfinity, bias_factor = 1, weights_factor = 1;
  bool not_transposed[4] = {}, no_bias[4] = {}, left_out[4] = {};
  std::size_t projected_by[3] = {0, 1, 2};
  int split[3] = {};  // 0 blocks, 1 interleaved, 2 reshaped
  int merge = 0;      // the same
  double dropout = 0;
  std::size_t first_head = 0, last_head = 99;  // that have the mistakes, of those that heads can have by themselves
  // The answers.
  std::vector<Table> weights, scores, parts[3];  // parts: queries, keys, values of each head
  Table output;

  explicit Attention(std::uint64_t seed, std::size_t t = 7, std::size_t h = 3, std::size_t d = 4, std::size_t g = 0)
      : tokens(t), heads(h), d_k(d), groups(g == 0 ? h : g), scale(1 / std::sqrt(static_cast<double>(d))) {
    Random random(seed);
    const std::size_t width = heads * d_k;
    x = random_table(random, tokens, width, 1.6f);
    for (int which = 0; which < 4; ++which) weight[which] = random_table(random, side_width(which), width, 0.6f);
    for (int which = 0; which < 4; ++which) bias[which] = random_table(random, 1, side_width(which), 0.8f);
    allowed = Table(tokens, tokens, 1);
  }
  std::size_t side_width(int which) const { return (which == 1 || which == 2 ? groups : heads) * d_k; }

  void causal() {
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = i + 1; j < tokens; ++j) allowed(i, j) = 0;
  }
  void pad(std::size_t count) {
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = tokens - count; j < tokens; ++j) allowed(i, j) = 0;
  }
  void open() { allowed = Table(tokens, tokens, 1); }
  void invert() {
    for (double& cell : allowed.values) cell = 1 - cell;
  }
  /// Every query's last key is moved by so many.
  void shift(int by) {
    const Table before = allowed;
    for (std::size_t i = 0; i < before.rows; ++i)
      for (std::size_t j = 0; j < before.cols; ++j) {
        const int from = static_cast<int>(j) - by;
        if (from < 0) allowed(i, j) = 1;
        else allowed(i, j) = from < static_cast<int>(before.cols) ? before(i, static_cast<std::size_t>(from)) : 0;
      }
  }
  /// A bias of the distance, as ALiBi has it.
  void add_bias() {
    added = Table(tokens, tokens);
    for (std::size_t i = 0; i < tokens; ++i)
      for (std::size_t j = 0; j < tokens; ++j)
        added(i, j) = -0.25 * std::abs(static_cast<double>(i) - static_cast<double>(j));
  }

  Table project(int which, const Table& input) const {
    if (left_out[which]) return input;
    const std::size_t by = which < 3 ? projected_by[which] : 3;
    const Table& w = weight[by];
    Table y(tokens, w.rows);
    for (std::size_t t = 0; t < tokens; ++t)
      for (std::size_t out = 0; out < y.cols; ++out) {
        for (std::size_t in = 0; in < w.cols; ++in)
          y(t, out) += input(t, in) * (not_transposed[which] ? w(in, out) : w(out, in));
        if (!no_bias[which]) y(t, out) += bias[by](0, out);
      }
    return y;
  }

  double of_head(const Table& all, int how, std::size_t head, std::size_t token, std::size_t column) const {
    if (how == 0) return all(token, head * d_k + column);
    if (how == 1) return all(token, column * (all.cols / d_k) + head);
    return all.values[(head * tokens + token) * d_k + column];
  }
  std::size_t group(std::size_t head) const { return in_turn ? head % groups : head * groups / heads; }

  /// Everything; the heads outside of [first_head, last_head] as they are right.
  void run() {
    if (last_head < heads - 1 || first_head > 0) {
      Attention right(*this);
      right.make_right();
      right.compute_weights();
      compute_weights();
      for (std::size_t h = 0; h < heads; ++h)
        if (h < first_head || h > last_head) weights[h] = right.weights[h], scores[h] = right.scores[h];
      compute_output();
      return;
    }
    compute_weights();
    compute_output();
  }
  void make_right() {
    const Attention fresh(1, tokens, heads, d_k, groups);
    scale = fresh.scale, softmax_axis = 2, blocked = -kInfinity, bias_factor = weights_factor = 1, dropout = 0;
    mask_after = mask_as_numbers = swapped = no_softmax = twice = logarithm = sigmoid = averaged = false;
    if (right_allowed.rows > 0) allowed = right_allowed;
  }
  Table right_allowed;  // where only some heads have another mask

  void compute_weights() {
    const Table q = project(0, x), k = project(1, x);
    scores.assign(heads, Table(tokens, tokens));
    for (int side = 0; side < 2; ++side) {
      parts[side].assign(side == 0 ? heads : groups, Table(tokens, d_k));
      for (std::size_t h = 0; h < parts[side].size(); ++h)
        for (std::size_t t = 0; t < tokens; ++t)
          for (std::size_t c = 0; c < d_k; ++c) parts[side][h](t, c) = of_head(side == 0 ? q : k, split[side], h, t, c);
    }
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = 0; j < tokens; ++j) {
          double& score = scores[h](i, j);
          for (std::size_t c = 0; c < d_k; ++c)
            score += parts[0][h](swapped ? j : i, c) * parts[1][group(h)](swapped ? i : j, c) * scale;
          if (added.rows > 0) score += bias_factor * added(i, j);
          if (mask_as_numbers) score += allowed(i, j);
          else if (allowed(i, j) == 0 && !mask_after) score = blocked;
        }
    weights = no_softmax ? scores : softmax(scores);
    if (twice) weights = softmax(weights);
    Random coin(1);
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < weights[h].values.size(); ++i) {
        double& one = weights[h].values[i];
        if (sigmoid) one = 1 / (1 + std::exp(-scores[h].values[i]));
        if (logarithm) one = std::log(one);
        if (mask_after) one *= allowed.values[i];
        one *= weights_factor;
        if (dropout > 0) one *= static_cast<double>(coin.uniform()) < dropout ? 0 : 1 / (1 - dropout);
      }
    if (!averaged) return;
    Table mean(tokens, tokens);
    for (const Table& head : weights)
      for (std::size_t i = 0; i < mean.values.size(); ++i)
        mean.values[i] += head.values[i] / static_cast<double>(heads);
    weights.assign(heads, mean);
  }

  void compute_output() {
    const Table v = project(2, x);
    parts[2].assign(groups, Table(tokens, d_k));
    for (std::size_t h = 0; h < groups; ++h)
      for (std::size_t t = 0; t < tokens; ++t)
        for (std::size_t c = 0; c < d_k; ++c) parts[2][h](t, c) = of_head(v, split[2], h, t, c);
    Table z(tokens, heads * d_k);
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t c = 0; c < d_k; ++c) {
          double& cell = merge == 2   ? z.values[(h * tokens + i) * d_k + c]
                         : merge == 1 ? z(i, c * heads + h)
                                      : z(i, h * d_k + c);
          for (std::size_t j = 0; j < tokens; ++j)
            cell += (weights_transposed ? weights[h](j, i) : weights[h](i, j)) * parts[2][group(h)](j, c);
        }
    output = project(3, z);
  }

  std::vector<Table> softmax(const std::vector<Table>& of) const {
    std::vector<Table> result = of;
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t j = 0; j < tokens; ++j) {
          double sum = 0;
          const std::size_t count = softmax_axis == 0 ? heads : tokens;
          for (std::size_t n = 0; n < count; ++n)
            sum += std::exp(of[softmax_axis == 0 ? n : h](softmax_axis == 1 ? n : i, softmax_axis == 2 ? n : j));
          result[h](i, j) = std::exp(of[h](i, j)) / sum;  // 0/0 where all are blocked, as torch has it
        }
    return result;
  }
};

/// A number of so many bits of mantissa, and of those that float16 holds.
inline double rounded(double value, int bits) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}
inline double as_bfloat16(double value) { return rounded(value, 7); }
inline double as_float16(double value) { return std::nearbyint(rounded(value, 10) * 0x1p24) * 0x1p-24; }

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
inline Array of_heads(const std::vector<Table>& heads) {
  return array_of(
      {1, static_cast<Index>(heads.size()), static_cast<Index>(heads[0].rows), static_cast<Index>(heads[0].cols)},
      heads);
}
inline Array of_table(const Table& table) {
  return array_of({static_cast<Index>(table.rows), static_cast<Index>(table.cols)}, {table});
}

inline ExportFile file_of(std::map<std::string, Array> arrays, std::map<std::string, std::string> metadata = {}) {
  auto file = export_from("f", {.arrays = std::move(arrays), .metadata = std::move(metadata)}, std::nullopt);
  EXPECT_TRUE(file) << file.error().message();
  return file ? *file : ExportFile{};
}

/// Nothing but the weights, and the hidden states that show d_model.
inline ExportFile weights_only(const Attention& a) {
  return file_of({{"attentions", attentions_of(a)},
                  {"hidden_states", array_of({1, static_cast<Index>(a.tokens), static_cast<Index>(a.x.cols)}, {a.x})}});
}

inline ExportFile answers_of(const Attention& a) {
  return file_of({{"attentions", attentions_of(a)}, {"output", of_table(a.output)}});
}

inline std::map<std::string, Array> inputs_of(const Attention& a) {
  std::map<std::string, Array> arrays{{"query", of_table(a.x)}, {"mask", of_table(a.allowed)}};
  arrays["mask"].dtype = Dtype::boolean;
  if (a.added.rows > 0) {
    Table mask = a.added;
    for (std::size_t i = 0; i < mask.values.size(); ++i)
      if (a.allowed.values[i] == 0) mask.values[i] = -kInfinity;
    arrays["mask"] = of_table(mask);
  }
  const char* names[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
  for (int i = 0; i < 4; ++i) {
    arrays[std::string(names[i]) + ".weight"] = of_table(a.weight[i]);
    arrays[std::string(names[i]) + ".bias"] = array_of({static_cast<Index>(a.bias[i].cols)}, {a.bias[i]});
  }
  return arrays;
}

}  // namespace headlight::mistaken
