// What the tests hold the engine against: the formulas written out once more, as plain loops over doubles, and the
// little that several tests need to ask the engine a question.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "math/forward.h"

namespace headlight::reference {

using Row = std::vector<double>;
using Grid = std::vector<Row>;  // a row a token

inline constexpr double kBlocked = -std::numeric_limits<double>::infinity();

inline Grid grid(const Matrix& matrix) {
  Grid result(static_cast<std::size_t>(matrix.rows()), Row(static_cast<std::size_t>(matrix.cols())));
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      result[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = static_cast<double>(matrix(i, j));
  return result;
}

/// The largest |a − b| over all cells, divided by the largest |b| where that is above 1; infinite for other shapes.
inline double difference(const Matrix& a, const Grid& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (a.rows() != static_cast<Index>(b.size()) || (a.rows() > 0 && a.cols() != static_cast<Index>(b[0].size())))
    return kNever;
  double largest = 0, magnitude = 1;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      const double expected = b[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const double apart = std::abs(static_cast<double>(a(i, j)) - expected);
      if (std::isnan(apart)) return kNever;
      largest = std::max(largest, apart);
      magnitude = std::max(magnitude, std::abs(expected));
    }
  }
  return largest / magnitude;
}

inline Grid linear(const Grid& x, const Linear& weights) {
  Grid y = x;
  for (std::size_t t = 0; t < x.size(); ++t) {
    if (weights.weight.size() > 0) {
      y[t].assign(static_cast<std::size_t>(weights.weight.rows()), 0.0);
      for (Index out = 0; out < weights.weight.rows(); ++out)
        for (Index in = 0; in < weights.weight.cols(); ++in)
          y[t][static_cast<std::size_t>(out)] +=
              x[t][static_cast<std::size_t>(in)] * static_cast<double>(weights.weight(out, in));
    }
    for (Index out = 0; out < weights.bias.size(); ++out)
      y[t][static_cast<std::size_t>(out)] += static_cast<double>(weights.bias(out));
  }
  return y;
}

inline Grid layer_norm(const Grid& x, const NormWeights& weights) {
  Grid y = x;
  for (Row& row : y) {
    double mean = 0, variance = 0;
    for (const double v : row) mean += v / static_cast<double>(row.size());
    for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
    const double deviation = std::sqrt(variance + static_cast<double>(weights.epsilon));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto column = static_cast<Index>(i);
      row[i] = (row[i] - mean) / deviation * static_cast<double>(weights.scale(column)) +
               static_cast<double>(weights.shift(column));
    }
  }
  return y;
}

inline double activated(double v, Activation activation) {
  return activation == Activation::relu ? (v > 0 ? v : 0.0) : 0.5 * v * std::erfc(-v / std::sqrt(2.0));
}

inline Grid sum(const Grid& a, const Grid& b) {
  Grid c = a;
  for (std::size_t t = 0; t < a.size(); ++t)
    for (std::size_t i = 0; i < a[t].size(); ++i) c[t][i] += b[t][i];
  return c;
}

/// What a mask adds to a score, by the words of model/mask.h: painted over causal over padding over given.
inline double added(const MaskSpec& spec, const Tokens& keys, Index query, Index key) {
  for (const auto& cell : spec.painted)
    if (cell.query == query && cell.key == key) return cell.allowed ? 0.0 : kBlocked;
  if (spec.causal && key > query) return kBlocked;
  if (spec.padding && keys.tokens[static_cast<std::size_t>(key)].pad) return kBlocked;
  if (!spec.given) return 0.0;
  return static_cast<double>((*spec.given)(spec.given->rows() == 1 ? 0 : query, spec.given->cols() == 1 ? 0 : key));
}

struct Layer {
  std::vector<Grid> weights;  // one a head, (T, S)
  Grid z, attention_output, output;
};

inline Layer attention(const AttentionWeights& weights, const Request& request, const Tokens& keys, Index num_heads,
                       const Grid& query_input, const Grid& key_input, const Grid& value_input) {
  const Grid q = linear(query_input, weights.query), k = linear(key_input, weights.key);
  const Grid v = linear(value_input, weights.value);
  const auto heads = static_cast<std::size_t>(num_heads);
  const std::size_t d_k = q[0].size() / heads, d_v = v[0].size() / heads;
  const double scale = request.edits.scale ? static_cast<double>(*request.edits.scale)
                                           : 1.0 / std::sqrt(static_cast<double>(d_k));
  Layer layer;
  layer.z.assign(q.size(), Row(v[0].size(), 0.0));
  for (std::size_t head = 0; head < heads; ++head) {
    Grid pattern(q.size(), Row(k.size(), 0.0));
    for (std::size_t i = 0; i < q.size(); ++i) {
      Row& row = pattern[i];
      double largest = kBlocked, total = 0;
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t c = head * d_k; c < (head + 1) * d_k; ++c) row[j] += q[i][c] * k[j][c];
        row[j] = row[j] * scale + added(request.mask, keys, static_cast<Index>(i), static_cast<Index>(j));
        largest = std::max(largest, row[j]);
      }
      for (double& cell : row) total += cell = largest == kBlocked ? 0.0 : std::exp(cell - largest);
      for (double& cell : row) cell = total == 0 ? 0.0 : cell / total;
      for (std::size_t j = 0; j < k.size(); ++j)
        for (std::size_t c = head * d_v; c < (head + 1) * d_v; ++c) layer.z[i][c] += row[j] * v[j][c];
    }
    layer.weights.push_back(std::move(pattern));
  }
  layer.output = layer.attention_output = linear(layer.z, weights.output);
  return layer;
}

inline Layer block(const BlockWeights& weights, const Config& config, const Request& request, const Grid& x) {
  const bool pre = config.norm == Norm::pre;
  const Grid input = pre ? layer_norm(x, weights.attention_norm) : x;
  Layer layer = attention(weights.self, request, request.tokens, config.num_heads, input, input, input);
  Grid stream = sum(x, layer.attention_output);
  if (!pre) stream = layer_norm(stream, weights.attention_norm);
  if (config.ffn > 0) {
    Grid hidden = linear(pre ? layer_norm(stream, weights.ffn_norm) : stream, weights.up);
    for (Row& row : hidden)
      for (double& v : row) v = activated(v, config.activation);
    stream = sum(stream, linear(hidden, weights.down));
    if (!pre) stream = layer_norm(stream, weights.ffn_norm);
  }
  layer.output = stream;
  return layer;
}

struct Answer {
  Grid embedding;
  std::vector<Layer> layers;
  Grid last;
};

inline Answer answer(const Request& request, const Model& model) {
  Answer result;
  if (model.given) {
    result.embedding = grid(model.given->query);
    result.layers.push_back(attention(model.blocks[0].self, request, model.given->key_tokens, model.config.num_heads,
                                      result.embedding, grid(model.given->key), grid(model.given->value)));
    result.last = result.layers[0].output;
    return result;
  }
  const Config& config = model.config;
  for (std::size_t t = 0; t < request.tokens.size(); ++t) {
    const Vector vector = random_embedding(config, request.tokens.tokens[t].text);
    Row row(static_cast<std::size_t>(config.d_model));
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = static_cast<double>(vector(static_cast<Index>(c)));
      if (config.position == Position::none) continue;
      const double exponent = 2.0 * static_cast<double>(c / 2) / static_cast<double>(config.d_model);
      const double angle = static_cast<double>(t) / std::pow(10000.0, exponent);
      row[c] += c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
    result.embedding.push_back(std::move(row));
  }
  const Grid* x = &result.embedding;
  result.layers.reserve(model.blocks.size());
  for (const auto& weights : model.blocks) {
    result.layers.push_back(block(weights, config, request, *x));
    x = &result.layers.back().output;
  }
  result.last = model.final_norm ? layer_norm(*x, *model.final_norm) : *x;
  return result;
}

/// Tokens of the given words, one space between them.
inline Tokens sentence(const std::vector<std::string>& words) {
  Tokens tokens;
  for (const auto& word : words) {
    if (!tokens.text.empty()) tokens.text += ' ';
    const std::size_t begin = tokens.text.size();
    tokens.text += word;
    tokens.tokens.push_back({.id = hashed_id(word), .text = word, .raw = word, .begin = begin,
                             .end = tokens.text.size()});
  }
  return tokens;
}

/// `count` different words: w0 w1 w2 …
inline Tokens counted(Index count) {
  std::vector<std::string> words;
  for (Index i = 0; i < count; ++i) words.push_back("w" + std::to_string(i));
  return sentence(words);
}

inline Matrix random_matrix(Random& random, Index rows, Index cols, float limit = 1.0f) {
  Matrix matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.symmetric(limit);
  return matrix;
}

/// Uniform in [least, most].
inline Index draw(Random& random, Index least, Index most) {
  return least + static_cast<Index>(random.next() % static_cast<std::uint64_t>(most - least + 1));
}

/// The answer to a request that must have one.
inline std::shared_ptr<const Trace> ask(const Request& request, const Trace* previous = nullptr, int threads = 0) {
  Progress progress;
  auto result = forward(request, progress, previous, threads);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return nullptr;
  }
  EXPECT_TRUE(*result);
  return *result;
}

/// The line with which a request is refused; empty where it is not.
inline std::string refusal(const Request& request) {
  const auto result = forward(request);
  return result ? std::string{} : result.error().message;
}

/// A tensors file of T queries over S keys; the projections are the identity until the caller says otherwise.
inline std::shared_ptr<Model> given_model(Matrix query, Matrix key, Matrix value, Index num_heads) {
  auto model = std::make_shared<Model>();
  model->config.d_model = query.cols();
  model->config.num_heads = num_heads;
  model->config.num_layers = 1;
  model->config.ffn = 0;
  model->config.position = Position::none;
  model->blocks.resize(1);
  GivenInputs given;
  given.query_tokens = counted(query.rows());
  given.key_tokens = counted(key.rows());
  given.query = std::move(query);
  given.key = std::move(key);
  given.value = std::move(value);
  model->given = std::move(given);
  return model;
}

inline Request request_for(std::shared_ptr<const Model> model, MaskSpec mask = {}) {
  Request request;
  request.config = model->config;
  request.model = std::move(model);
  request.mask = std::move(mask);
  return request;
}

}  // namespace headlight::reference
