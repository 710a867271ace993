// What the tests hold the engine against: the textbook of math/reference.h, asked what a Request asks.
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
#include "math/reference.h"

namespace headlight::reference {

inline constexpr double kBlocked = -std::numeric_limits<double>::infinity();

inline std::size_t at(Index index) { return static_cast<std::size_t>(index); }

inline Grid grid(const Matrix& matrix) { return matrix.cast<double>(); }

/// The largest |a − b| over all cells, divided by the largest |b| where that is above 1; infinite for other shapes.
inline double difference(const Matrix& a, const Grid& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (a.rows() != b.rows() || a.cols() != b.cols()) return kNever;
  double largest = 0, magnitude = 1;
  for (Index i = 0; i < a.size(); ++i) {
    const double expected = b.data()[i], apart = std::abs(static_cast<double>(a.data()[i]) - expected);
    if (std::isnan(apart)) return kNever;
    largest = std::max(largest, apart);
    magnitude = std::max(magnitude, std::abs(expected));
  }
  return largest / magnitude;
}

/// What a mask adds to a score, by the words of model/mask.h: painted over causal over padding over given.
inline double added(const MaskSpec& spec, const Tokens& keys, Index query, Index key, Index own_window = 0,
                    Index head = 0) {
  for (const auto& cell : spec.painted)
    if (cell.query == query && cell.key == key) return cell.allowed ? 0.0 : kBlocked;
  const bool in_prefix = key < spec.prefix;
  if (spec.causal && key > query && !in_prefix) return kBlocked;
  const Index window = spec.window.value_or(own_window);
  if (window > 0 && std::abs(query - key) >= window && !in_prefix) return kBlocked;
  if (spec.chunk > 0 && query / spec.chunk != key / spec.chunk && !in_prefix) return kBlocked;
  if (spec.padding && keys.tokens[at(key)].pad) return kBlocked;
  if (!spec.given) return 0.0;
  const Index rows = spec.given->rows() / spec.heads;
  return static_cast<double>((*spec.given)(head * rows + (rows == 1 ? 0 : query), spec.given->cols() == 1 ? 0 : key));
}

/// Dropout, then what was set by hand: model/edits.h. `row`: the weights of one query.
template <class Row>
inline void edit(Row&& row, const Edits& edits, const HeadRef& head, Index query) {
  for (Index key = 0; key < row.size(); ++key) row(key) *= static_cast<double>(dropout_factor(edits, head, query, key));
  std::vector<const WeightEdit*> own(at(row.size()), nullptr);
  bool any = false;
  for (const WeightEdit& edit : edits.weights) {
    if (edit.head != head || edit.cell.query != query || edit.cell.key >= row.size()) continue;
    own[at(edit.cell.key)] = &edit;
    any = true;
  }
  if (!any) return;
  double set = 0, rest = 0;
  for (Index key = 0; key < row.size(); ++key)
    (own[at(key)] ? set : rest) += own[at(key)] ? static_cast<double>(own[at(key)]->weight) : row(key);
  for (Index key = 0; key < row.size(); ++key) {
    if (own[at(key)]) row(key) = static_cast<double>(own[at(key)]->weight);
    else if (rest > 0) row(key) *= std::max(0.0, 1.0 - set) / rest;
  }
}

/// What a request asks of one attention.
inline AttentionOptions options_of(const Request& request, Stack stack, Index layer, const StackWeights& own_stack,
                                   const AttentionWeights& learned) {
  const Edits& edits = request.edits;
  AttentionOptions options;
  if (stack != Stack::cross && own_stack.rotary) options.rotary = &*own_stack.rotary;
  if (learned.rotary) options.rotary = learned.rotary.get();
  if (learned.scale) options.scale = static_cast<double>(*learned.scale);
  if (edits.scale) options.scale = static_cast<double>(*edits.scale);
  const MaskSpec* mask = stack == Stack::encoder ? &request.encoder_mask
                         : stack == Stack::cross ? &request.cross_mask
                                                 : &request.mask;
  for (const LayerEdit& own : edits.layers) {
    if (own.stack != stack || own.layer != layer) continue;
    if (own.scale) options.scale = static_cast<double>(*own.scale);
    if (own.mask) mask = &*own.mask;
  }
  const Tokens& keys = key_tokens(request, stack);
  const auto queries = static_cast<Index>(query_tokens(request, stack).size());
  options.mask.resize(mask->heads * queries, static_cast<Index>(keys.size()));
  for (Index i = 0; i < options.mask.rows(); ++i)
    for (Index j = 0; j < options.mask.cols(); ++j)
      options.mask(i, j) = added(*mask, keys, i % queries, j, learned.window, i / queries);
  options.edit_weights = [&edits, stack, layer](Index head, Grid& weights) {
    for (Index query = 0; query < weights.rows(); ++query) edit(weights.row(query), edits, {layer, head, stack}, query);
  };
  options.edit_z = [&edits, stack, layer](Index head, Grid& z) {
    if (std::find(edits.off.begin(), edits.off.end(), HeadRef{layer, head, stack}) == edits.off.end()) return;
    const Grid mean = z.colwise().mean();
    for (Index i = 0; i < z.rows(); ++i) z.row(i) = edits.off_as == OffAs::zero ? Grid::Zero(1, z.cols()) : mean;
  };
  return options;
}

/// What a position adds to column `column` of a token's vector.
inline double position(const Config& config, const Embeddings& embeddings, Index place, Index column) {
  switch (config.position) {
    case Position::sinusoidal: return sinusoid(place, column, config.d_model);
    case Position::sinusoidal_halves: {  // all sines, then all cosines
      const Index sines = (config.d_model + 1) / 2;
      return sinusoid(place, column < sines ? 2 * column : 2 * (column - sines) + 1, config.d_model);
    }
    case Position::learned:
      if (embeddings.positions.size() == 0) return double(random_position(config, place)(column));
      return double(embeddings.positions(place + embeddings.first_position, column));
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
  result.embedding.resize(static_cast<Index>(tokens.size()), config.d_model);
  for (Index t = 0; t < result.embedding.rows(); ++t) {
    const Token& token = tokens.tokens[at(t)];
    const Vector vector =
        embeddings.tokens ? Vector(weight_rows(*embeddings.tokens, token.id, 1)) : random_embedding(config, token.text);
    for (Index c = 0; c < config.d_model; ++c) {
      double& number = result.embedding(t, c);
      number = double(vector(c)) * double(embeddings.scale) + position(config, embeddings, t, c);
      if (embeddings.token_types.size() > 0) number += double(embeddings.token_types(token.type, c));
    }
  }
  if (embeddings.norm) result.embedding = norm(result.embedding, layer_of(*embeddings.norm));
  result.last = result.embedding;
  for (const auto& weights : own.blocks) {
    const auto layer = static_cast<Index>(result.blocks.size());
    const AttentionOptions cross =
        weights.cross ? options_of(request, Stack::cross, layer, own, *weights.cross) : AttentionOptions{};
    const LayerEdit* own_edit = layer_edit(request.edits, stack, layer);
    const BlockLayer learned = without(layer_of(weights, config), own_edit ? own_edit->parts : PartsOff{});
    result.blocks.push_back(
        block(learned, result.last, options_of(request, stack, layer, own, weights.self), memory, cross));
    result.last = result.blocks.back().output;
  }
  if (own.final_norm) result.last = norm(result.last, layer_of(*own.final_norm));
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
    result.blocks.push_back(
        {.self = attention(layer_of(model.blocks[0].self), result.embedding, grid(given.key), grid(given.value),
                           options_of(request, Stack::self, 0, model, model.blocks[0].self)),
         .cross = {},
         .output = {}});
    result.last = result.blocks[0].output = result.blocks[0].self.output;
    return result;
  }
  if (model.encoder) result.encoder = stack_answer(model, *model.encoder, request, Stack::encoder, nullptr);
  static_cast<StackAnswer&>(result) =
      stack_answer(model, model, request, Stack::self, result.encoder ? &result.encoder->last : nullptr);
  if (!model.output) return result;
  LinearLayer output = layer_of(*model.output->weight);
  output.weight *= double(model.output->scale);
  output.bias = model.output->bias.cast<double>();
  result.logits = linear(result.last, output);
  const double cap = double(model.output->softcap);
  if (cap > 0) result.logits = cap * (result.logits / cap).array().tanh();
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
  EXPECT_EQ(trace.logits.size() > 0, expected.logits.size() > 0);
  if (trace.logits.size() > 0) apart.logits = difference(trace.logits, expected.logits.row(trace.answering));
  return apart;
}

}  // namespace headlight::reference
