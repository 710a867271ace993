// The loss of a network in doubles, by the textbook of math/reference.h: what gradients are compared with. Parameters
// are found by their names alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "math/reference.h"
#include "train/network/batch.h"
#include "train/network/network.h"

namespace headlight::training {

using reference::Grid;

class Reference {
 public:
  explicit Reference(const Network& network) : values(network.values.begin(), network.values.end()), network_(network) {
    for (const Parameter& parameter : network.parameters) places_[parameter.name] = &parameter;
  }

  std::vector<double> values;

  /// Cross-entropy with label smoothing, averaged over the targets by their weights.
  double loss(const Batch& batch, double smoothing = 0) const {
    double sum = 0, weights = 0;
    for (Index sentence = 0; sentence < batch.input.count; ++sentence) {
      const Grid states = hidden(batch, sentence);
      const Grid scores =
          reference::linear(states, {grid(find("output.weight") ? "output.weight" : "tokens"), grid("output.bias")});
      for (Index t = 0; t < states.rows(); ++t) {
        const auto at = static_cast<std::size_t>(sentence * batch.input.length + t);
        if (batch.targets[at] < 0) continue;
        const double weight = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[at]);
        const double total = scores.row(t).array().exp().sum(), own = scores(t, batch.targets[at]);
        sum += weight * (std::log(total) - (1 - smoothing) * own - smoothing * scores.row(t).mean());
        weights += weight;
      }
    }
    return sum / weights;
  }

  /// The weighted mean of −ln of what heads give where Batch::attention asks them to.
  double attention_loss(const Batch& batch) const {
    double sum = 0, weights = 0;
    for (const AttentionTarget& target : batch.attention) {
      hidden(batch, target.sentence);
      const Grid& given = given_.at({target.layer, target.head});
      sum -= static_cast<double>(target.weight) *
             std::log(given.row(target.query).segment(target.first, target.end - target.first).sum());
      weights += static_cast<double>(target.weight);
    }
    return sum / weights;
  }

 private:
  const Parameter* find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : found->second;
  }
  /// (rows, cols); empty where there is no parameter of this name.
  Grid grid(const std::string& name) const {
    const Parameter* parameter = find(name);
    if (!parameter) return {};
    return Eigen::Map<const Grid>(values.data() + parameter->offset, parameter->rows, parameter->cols);
  }
  reference::LinearLayer linear(const std::string& name) const {
    return {grid(name + ".weight"), grid(name + ".bias")};
  }
  reference::NormLayer norm(const std::string& name) const {
    return {.scale = grid(name + ".scale"),
            .shift = grid(name + ".shift"),
            .epsilon = static_cast<double>(network_.epsilon),
            .kind = network_.config.norm_kind};
  }
  reference::AttentionLayer attention(const std::string& name) const {
    return {.query = linear(name + "query"),
            .key = linear(name + "key"),
            .value = linear(name + "value"),
            .output = linear(name + "output"),
            .num_heads = network_.config.num_heads,
            .num_kv_heads = network_.config.num_heads};
  }

  Grid stack(const std::string& prefix, const Sentences& sentences, Index sentence, const Grid* memory,
             bool causal) const {
    const Config& config = network_.config;
    const Index length = sentences.lengths[static_cast<std::size_t>(sentence)];
    Grid x(length, config.d_model);
    const Grid tokens = grid("tokens"), learned = grid(prefix + "positions");
    for (Index t = 0; t < length; ++t) {
      x.row(t) = tokens.row(sentences.ids[static_cast<std::size_t>(sentence * sentences.length + t)]) *
                 static_cast<double>(network_.embedding_scale);
      if (learned.size() > 0) x.row(t) += learned.row(t);
      else if (config.position == Position::sinusoidal)
        for (Index j = 0; j < config.d_model; ++j) x(t, j) += reference::sinusoid(t, j, config.d_model);
    }
    reference::AttentionOptions self;
    if (causal) self.mask = Grid::Zero(length, length);
    for (Index i = 0; causal && i < length; ++i)
      for (Index j = i + 1; j < length; ++j) self.mask(i, j) = -std::numeric_limits<double>::infinity();
    for (int layer = 0; find(prefix + "layer." + std::to_string(layer) + ".query.weight"); ++layer) {
      const std::string name = prefix + "layer." + std::to_string(layer) + ".";
      reference::BlockLayer block{.self = attention(name),
                                  .up = linear(name + "up"),
                                  .gate = {},
                                  .down = linear(name + "down"),
                                  .self_norm = norm(name + "attention_norm"),
                                  .cross_norm = norm(name + "cross_norm"),
                                  .ffn_norm = norm(name + "ffn_norm"),
                                  .norm = config.norm,
                                  .activation = config.activation};
      if (memory) block.cross = attention(name + "cross.");
      self.edit_weights = [&](Index head, Grid& weights) { given_[{layer, head}] = weights; };
      x = reference::block(block, x, self, memory).output;
    }
    return config.norm == Norm::pre ? reference::norm(x, norm(prefix + "final_norm")) : x;
  }

  Grid hidden(const Batch& batch, Index sentence) const {
    if (network_.config.arch != Arch::encoder_decoder)
      return stack("", batch.input, sentence, nullptr, network_.config.arch == Arch::decoder);
    const Grid memory = stack("encoder.", batch.source, sentence, nullptr, false);
    return stack("decoder.", batch.input, sentence, &memory, true);
  }

  const Network& network_;
  std::map<std::string, const Parameter*> places_;
  mutable std::map<std::pair<Index, Index>, Grid> given_;  // weights of the last sentence, by layer and head
};

/// Sentences of 1 to `length` words.
inline Sentences drawn_sentences(Index count, Index length, Index words, Random& random) {
  Sentences sentences{.count = count, .length = length, .ids = {}, .lengths = {}};
  for (Index i = 0; i < count; ++i) {
    const auto own = static_cast<std::int32_t>(i == 0 ? length : 1 + static_cast<Index>(random.next() % length));
    sentences.lengths.push_back(own);
    for (Index t = 0; t < length; ++t)  // what stands in the padding must never be read
      sentences.ids.push_back(t < own ? static_cast<std::int32_t>(random.next() % words) : 1 << 30);
  }
  return sentences;
}

/// About two of three positions have targets, with different weights.
inline Batch drawn_batch(const Network& network, Index count, Index length, std::uint64_t seed) {
  Random random(seed);
  Batch batch;
  batch.input = drawn_sentences(count, length, network.words, random);
  if (network.config.arch == Arch::encoder_decoder)
    batch.source = drawn_sentences(count, length + 2, network.words, random);
  for (Index i = 0; i < count * length; ++i) {
    const bool wanted = i == 0 || random.next() % 3 != 0;
    batch.targets.push_back(wanted ? static_cast<std::int32_t>(random.next() % network.words) : -1);
    batch.weights.push_back(0.5f + random.uniform());
  }
  return batch;
}

/// Away from the first values, where biases are 0 and norms 1.
inline void shake(Network& network, std::uint64_t seed, float by = 0.3f) {
  Random random(seed);
  for (float& value : network.values) value += random.symmetric(by);
}

}  // namespace headlight::training
