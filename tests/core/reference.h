// What the tests hold the engine against: the formulas written out once more, as plain loops over doubles.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "asking.h"
#include "explain/matrices.h"
#include "math/attention.h"

namespace headlight::reference {

using Row = std::vector<double>;
using Grid = std::vector<Row>;  // a row a token

inline constexpr double kBlocked = -std::numeric_limits<double>::infinity();

inline std::size_t at(Index index) { return static_cast<std::size_t>(index); }

inline Grid grid(const Matrix& matrix) {
  Grid result(at(matrix.rows()), Row(at(matrix.cols())));
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) result[at(i)][at(j)] = static_cast<double>(matrix(i, j));
  return result;
}

/// The largest |a − b| over all cells, divided by the largest |b| where that is above 1; infinite for other shapes.
inline double difference(const Matrix& a, const Grid& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (at(a.rows()) != b.size() || (a.rows() > 0 && at(a.cols()) != b[0].size())) return kNever;
  double largest = 0, magnitude = 1;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      const double expected = b[at(i)][at(j)];
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
  const Matrix weight = weights.is_identity() ? Matrix{} : weight_rows(weights, 0, weights.outputs());
  for (std::size_t t = 0; t < x.size(); ++t) {
    if (weight.size() > 0) {
      y[t].assign(at(weight.rows()), 0.0);
      for (Index out = 0; out < weight.rows(); ++out)
        for (Index in = 0; in < weight.cols(); ++in)
          y[t][at(out)] += x[t][at(in)] * static_cast<double>(weight(out, in));
    }
    for (Index out = 0; out < weights.bias.size(); ++out) y[t][at(out)] += static_cast<double>(weights.bias(out));
  }
  return y;
}

/// Each of `parts` equal parts of a row on its own.
inline Grid norm(const Grid& x, const NormWeights& weights, std::size_t parts = 1) {
  Grid y = x;
  for (Row& row : y) {
    const std::size_t d = row.size() / parts;
    for (std::size_t begin = 0; begin < row.size(); begin += d) {
      double mean = 0, square = 0;
      if (weights.kind == NormKind::layer_norm)
        for (std::size_t i = 0; i < d; ++i) mean += row[begin + i] / static_cast<double>(d);
      for (std::size_t i = 0; i < d; ++i)
        square += (row[begin + i] - mean) * (row[begin + i] - mean) / static_cast<double>(d);
      const double root = std::sqrt(square + static_cast<double>(weights.epsilon));
      for (std::size_t i = 0; i < d; ++i) {
        const auto column = static_cast<Index>(i);
        row[begin + i] = (row[begin + i] - mean) / root * static_cast<double>(weights.scale(column)) +
                         (weights.shift.size() > 0 ? static_cast<double>(weights.shift(column)) : 0.0);
      }
    }
  }
  return y;
}

inline double activated(double v, Activation activation) {
  switch (activation) {
    case Activation::relu: return v > 0 ? v : 0.0;
    case Activation::gelu: return 0.5 * v * std::erfc(-v / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
    case Activation::silu: break;
  }
  return v / (1.0 + std::exp(-v));
}

inline Grid sum(const Grid& a, const Grid& b) {
  Grid c = a;
  for (std::size_t t = 0; t < a.size(); ++t)
    for (std::size_t i = 0; i < a[t].size(); ++i) c[t][i] += b[t][i];
  return c;
}

/// Pairs of columns as plane vectors, turned by place·frequency.
inline Grid rotated(const Grid& x, const Rotary& rotary, std::size_t heads) {
  Grid y = x;
  const std::size_t d_k = x[0].size() / heads, pairs = at(rotary.frequencies.size());
  for (std::size_t place = 0; place < x.size(); ++place) {
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const double angle = static_cast<double>(place) * double(rotary.frequencies(static_cast<Index>(i)));
        const std::size_t a = head * d_k + (rotary.interleaved ? 2 * i : i);
        const std::size_t b = head * d_k + (rotary.interleaved ? 2 * i + 1 : pairs + i);
        y[place][a] = std::cos(angle) * x[place][a] - std::sin(angle) * x[place][b];
        y[place][b] = std::sin(angle) * x[place][a] + std::cos(angle) * x[place][b];
      }
    }
  }
  return y;
}

/// What a mask adds to a score, by the words of model/mask.h: painted over causal over padding over given.
inline double added(const MaskSpec& spec, const Tokens& keys, Index query, Index key) {
  for (const auto& cell : spec.painted)
    if (cell.query == query && cell.key == key) return cell.allowed ? 0.0 : kBlocked;
  if (spec.causal && key > query) return kBlocked;
  if (spec.padding && keys.tokens[at(key)].pad) return kBlocked;
  if (!spec.given) return 0.0;
  return static_cast<double>((*spec.given)(spec.given->rows() == 1 ? 0 : query, spec.given->cols() == 1 ? 0 : key));
}

struct Attention {
  std::vector<Grid> weights;  // one a head, (T, S)
  Grid z, output;
};

/// Softmax of one row in place; a row of −inf becomes zeros.
inline void softmax(Row& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double total = 0;
  for (double& cell : row) total += cell = largest == kBlocked ? 0.0 : std::exp(cell - largest);
  for (double& cell : row) cell = total == 0 ? 0.0 : cell / total;
}

/// Dropout, then what was set by hand: model/edits.h.
inline void edit(Row& row, const Edits& edits, const HeadRef& head, Index query) {
  for (std::size_t key = 0; key < row.size(); ++key)
    row[key] *= static_cast<double>(dropout_factor(edits, head, query, static_cast<Index>(key)));
  std::vector<const WeightEdit*> own(row.size(), nullptr);
  bool any = false;
  for (const WeightEdit& edit : edits.weights) {
    if (edit.head != head || edit.cell.query != query || at(edit.cell.key) >= row.size()) continue;
    own[at(edit.cell.key)] = &edit;
    any = true;
  }
  if (!any) return;
  double set = 0, rest = 0;
  for (std::size_t key = 0; key < row.size(); ++key) (own[key] ? set : rest) += own[key] ? own[key]->weight : row[key];
  for (std::size_t key = 0; key < row.size(); ++key) {
    if (own[key]) row[key] = static_cast<double>(own[key]->weight);
    else if (rest > 0) row[key] *= std::max(0.0, 1.0 - set) / rest;
  }
}

inline Attention attention(const AttentionWeights& weights, const Request& request, Stack stack, Index layer,
                           const std::optional<Rotary>& rotary, const Grid& query_input, const Grid& key_input,
                           const Grid& value_input) {
  const std::size_t heads = at(weights.num_heads), kv_heads = at(weights.num_kv_heads);
  Grid q = linear(query_input, weights.query), k = linear(key_input, weights.key);
  const Grid v = linear(value_input, weights.value);
  if (weights.query_norm) q = norm(q, *weights.query_norm, heads);
  if (weights.key_norm) k = norm(k, *weights.key_norm, kv_heads);
  if (rotary && stack != Stack::cross) q = rotated(q, *rotary, heads), k = rotated(k, *rotary, kv_heads);
  const std::size_t d_k = q[0].size() / heads, d_v = v[0].size() / kv_heads;

  const Edits& edits = request.edits;
  double scale = edits.scale ? static_cast<double>(*edits.scale) : 1.0 / std::sqrt(static_cast<double>(d_k));
  const MaskSpec* mask = stack == Stack::encoder ? &request.encoder_mask
                         : stack == Stack::cross ? &request.cross_mask
                                                 : &request.mask;
  for (const LayerEdit& own : edits.layers) {
    if (own.stack != stack || own.layer != layer) continue;
    if (own.scale) scale = static_cast<double>(*own.scale);
    if (own.mask) mask = &*own.mask;
  }
  const Tokens& keys = key_tokens(request, stack);
  Attention result;
  result.z.assign(q.size(), Row(heads * d_v, 0.0));
  for (std::size_t head = 0; head < heads; ++head) {
    const HeadRef ref{layer, static_cast<Index>(head), stack};
    const std::size_t shared = head / (heads / kv_heads);  // which head of keys and values
    Grid pattern(q.size(), Row(k.size(), 0.0));
    for (std::size_t i = 0; i < q.size(); ++i) {
      Row& row = pattern[i];
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t c = 0; c < d_k; ++c) row[j] += q[i][head * d_k + c] * k[j][shared * d_k + c];
        row[j] = row[j] * scale + added(*mask, keys, static_cast<Index>(i), static_cast<Index>(j));
      }
      softmax(row);
      edit(row, edits, ref, static_cast<Index>(i));
      for (std::size_t j = 0; j < k.size(); ++j)
        for (std::size_t c = 0; c < d_v; ++c) result.z[i][head * d_v + c] += row[j] * v[j][shared * d_v + c];
    }
    if (std::find(edits.off.begin(), edits.off.end(), ref) != edits.off.end()) {
      for (std::size_t c = head * d_v; c < (head + 1) * d_v; ++c) {
        double mean = 0;
        for (const Row& row : result.z) mean += row[c] / static_cast<double>(result.z.size());
        for (Row& row : result.z) row[c] = edits.off_as == OffAs::zero ? 0.0 : mean;
      }
    }
    result.weights.push_back(std::move(pattern));
  }
  result.output = linear(result.z, weights.output);
  return result;
}

struct Block {
  Attention self;
  std::optional<Attention> cross;
  Grid output;
};

inline Block block(const BlockWeights& weights, const StackWeights& own, const Config& config, const Request& request,
                   Stack stack, Index layer, const Grid& x, const Grid* memory) {
  const bool pre = config.norm == Norm::pre;
  const auto before = [&](const Grid& stream, const NormWeights& n) { return pre ? norm(stream, n) : stream; };
  const auto after = [&](const Grid& stream, const Grid& added, const NormWeights& n) {
    return pre ? sum(stream, added) : norm(sum(stream, added), n);
  };
  Block result;
  const Grid input = before(x, weights.attention_norm);
  result.self = attention(weights.self, request, stack, layer, own.rotary, input, input, input);
  result.output = after(x, result.self.output, weights.attention_norm);
  if (weights.cross) {
    result.cross = attention(*weights.cross, request, Stack::cross, layer, own.rotary,
                             before(result.output, weights.cross_norm), *memory, *memory);
    result.output = after(result.output, result.cross->output, weights.cross_norm);
  }
  if (!weights.has_ffn()) return result;
  const Grid read = before(result.output, weights.ffn_norm);
  const bool gated = !weights.ungated();
  const Grid up = linear(read, weights.up);
  Grid hidden = gated ? linear(read, weights.gate) : up;
  for (std::size_t t = 0; t < hidden.size(); ++t)
    for (std::size_t i = 0; i < hidden[t].size(); ++i)
      hidden[t][i] = activated(hidden[t][i], config.activation) * (gated ? up[t][i] : 1.0);
  result.output = after(result.output, linear(hidden, weights.down), weights.ffn_norm);
  return result;
}

/// What a place adds to column `column` of a token's vector.
inline double position(const Config& config, const Embeddings& embeddings, std::size_t place, std::size_t column) {
  const auto d = static_cast<double>(config.d_model), t = static_cast<double>(place);
  const auto c = static_cast<Index>(column);
  switch (config.position) {
    case Position::sinusoidal: {
      const double angle = t / std::pow(10000.0, static_cast<double>(column - column % 2) / d);
      return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
    case Position::sinusoidal_halves: {
      const std::size_t sines = (at(config.d_model) + 1) / 2;
      const double pair = static_cast<double>(column < sines ? column : column - sines);
      const double angle = t / std::pow(10000.0, 2.0 * pair / d);
      return column < sines ? std::sin(angle) : std::cos(angle);
    }
    case Position::learned:
      if (embeddings.positions.size() == 0) return double(random_position(config, static_cast<Index>(place))(c));
      return double(embeddings.positions(static_cast<Index>(place) + embeddings.first_position, c));
    case Position::none:
    case Position::rotary: break;
  }
  return 0;
}

struct StackAnswer {
  Grid embedding;
  std::vector<Block> blocks;
  Grid last;
};

inline StackAnswer stack_answer(const Model& model, const StackWeights& own, const Request& request, Stack stack,
                                const Grid* memory) {
  StackAnswer result;
  const Config& config = model.config;
  const Embeddings& embeddings = own.embeddings;
  const Tokens& tokens = query_tokens(request, stack);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const Token& token = tokens.tokens[t];
    const Vector vector =
        embeddings.tokens ? Vector(weight_rows(*embeddings.tokens, token.id, 1)) : random_embedding(config, token.text);
    Row row(at(config.d_model));
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto column = static_cast<Index>(c);
      row[c] = double(vector(column)) * double(embeddings.scale) + position(config, embeddings, t, c);
      if (embeddings.token_types.size() > 0) row[c] += double(embeddings.token_types(token.type, column));
    }
    result.embedding.push_back(std::move(row));
  }
  if (embeddings.norm) result.embedding = norm(result.embedding, *embeddings.norm);
  result.last = result.embedding;
  for (const auto& weights : own.blocks) {
    const auto layer = static_cast<Index>(result.blocks.size());
    result.blocks.push_back(block(weights, own, config, request, stack, layer, result.last, memory));
    result.last = result.blocks.back().output;
  }
  if (own.final_norm) result.last = norm(result.last, *own.final_norm);
  return result;
}

struct Answer : StackAnswer {
  std::optional<StackAnswer> encoder;
  Grid logits;  // (T, V)
};

inline Answer answer(const Request& request, const Model& model) {
  Answer result;
  if (model.given) {
    const ExternalStack& given = model.given->stacks.at(Stack::self);
    result.embedding = grid(given.query);
    result.blocks.push_back({.self = attention(model.blocks[0].self, request, Stack::self, 0, model.rotary,
                                               result.embedding, grid(given.key), grid(given.value)),
                             .cross = {},
                             .output = {}});
    result.last = result.blocks[0].output = result.blocks[0].self.output;
    return result;
  }
  if (model.encoder) result.encoder = stack_answer(model, *model.encoder, request, Stack::encoder, nullptr);
  static_cast<StackAnswer&>(result) =
      stack_answer(model, model, request, Stack::self, result.encoder ? &result.encoder->last : nullptr);
  if (!model.output) return result;
  result.logits = linear(result.last, *model.output->weight);
  for (Row& row : result.logits)
    for (std::size_t word = 0; word < row.size(); ++word)
      row[word] = row[word] * double(model.output->scale) +
                  (model.output->bias.size() > 0 ? double(model.output->bias(static_cast<Index>(word))) : 0.0);
  return result;
}

/// The largest differences between an answer and the formulas.
struct Apart {
  double weights = 0, states = 0, logits = 0;
};

inline void compare(const Trace& trace, Stack stack, Index layer, const Attention& expected, Apart& apart) {
  const AttentionTrace& ours = trace.attention(stack, layer);
  for (Index head = 0; head < ours.num_heads(); ++head) {
    const Matrix weights = attention_rows(trace, {layer, head, stack}, 0, trace.queries(stack));
    apart.weights = std::max(apart.weights, difference(weights, expected.weights[at(head)]));
  }
  apart.states =
      std::max({apart.states, difference(ours.z, expected.z),
                difference(whole(trace, matrix_id(Quantity::attention_output, {layer, 0, stack})), expected.output)});
}

inline void compare(const Trace& trace, const StackTrace& ours, Stack stack, const StackAnswer& expected,
                    Apart& apart) {
  ASSERT_EQ(ours.blocks.size(), expected.blocks.size());
  apart.states = std::max({apart.states, difference(ours.embedding, expected.embedding),
                           difference(ours.last_hidden_state(), expected.last)});
  for (std::size_t layer = 0; layer < expected.blocks.size(); ++layer) {
    const auto index = static_cast<Index>(layer);
    const Block& block = expected.blocks[layer];
    compare(trace, stack, index, block.self, apart);
    ASSERT_EQ(ours.blocks[layer].cross.has_value(), block.cross.has_value());
    if (block.cross) compare(trace, Stack::cross, index, *block.cross, apart);
    apart.states = std::max(apart.states, difference(ours.blocks[layer].output, block.output));
  }
}

inline Apart compare(const Trace& trace) {
  const Answer expected = answer(trace.request, *trace.model);
  Apart apart;
  compare(trace, trace, Stack::self, expected, apart);
  EXPECT_EQ(trace.encoder != nullptr, expected.encoder.has_value());
  if (trace.encoder && expected.encoder) compare(trace, *trace.encoder, Stack::encoder, *expected.encoder, apart);
  EXPECT_EQ(trace.logits.size() > 0, !expected.logits.empty());
  if (trace.logits.size() > 0) apart.logits = difference(trace.logits, {expected.logits[at(trace.answering)]});
  return apart;
}

}  // namespace headlight::reference
