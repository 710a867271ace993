// The loss of a network written down once more, in double precision and without a thought for speed: what gradients
// are held against. Parameters are found by their names alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "train/network/batch.h"
#include "train/network/network.h"

namespace headlight::training {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

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
      const Rows states = hidden(batch, sentence);
      for (std::size_t t = 0; t < states.size(); ++t) {
        const auto at = static_cast<std::size_t>(sentence * batch.input.length) + t;
        if (batch.targets[at] < 0) continue;
        const double weight = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[at]);
        const Row scores = words(states[t]);
        double total = 0, mean = 0;
        for (const double s : scores) total += std::exp(s), mean += s / static_cast<double>(scores.size());
        const double own = scores[static_cast<std::size_t>(batch.targets[at])];
        sum += weight * (std::log(total) - (1 - smoothing) * own - smoothing * mean);
        weights += weight;
      }
    }
    return sum / weights;
  }

 private:
  const Parameter* find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : found->second;
  }
  double at(const Parameter& parameter, std::size_t row, std::size_t col) const {
    return values[static_cast<std::size_t>(parameter.offset) + row * static_cast<std::size_t>(parameter.cols) + col];
  }

  Row words(const Row& state) const {
    const Parameter* untied = find("output.weight");
    const Parameter& table = untied ? *untied : *find("tokens");
    const Parameter* bias = find("output.bias");
    Row scores(static_cast<std::size_t>(table.rows), 0.0);
    for (std::size_t word = 0; word < scores.size(); ++word) {
      for (std::size_t j = 0; j < state.size(); ++j) scores[word] += at(table, word, j) * state[j];
      if (bias) scores[word] += at(*bias, 0, word);
    }
    return scores;
  }

  Rows linear(const std::string& name, const Rows& x) const {
    const Parameter& weight = *find(name + ".weight");
    const Parameter* bias = find(name + ".bias");
    Rows y(x.size(), Row(static_cast<std::size_t>(weight.rows), 0.0));
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < y[t].size(); ++i) {
        for (std::size_t j = 0; j < x[t].size(); ++j) y[t][i] += at(weight, i, j) * x[t][j];
        if (bias) y[t][i] += at(*bias, 0, i);
      }
    return y;
  }

  Rows norm(const std::string& name, Rows x) const {
    const Parameter& scale = *find(name + ".scale");
    const Parameter* shift = find(name + ".shift");
    for (Row& row : x) {
      const double size = static_cast<double>(row.size());
      double mean = 0, variance = 0;
      if (shift)  // a layer norm
        for (const double v : row) mean += v / size;
      for (double& v : row) v -= mean, variance += v * v / size;
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] *= at(scale, 0, j) / std::sqrt(variance + static_cast<double>(network_.epsilon));
        if (shift) row[j] += at(*shift, 0, j);
      }
    }
    return x;
  }

  Rows attention(const std::string& name, const Rows& x, const Rows& memory, bool causal) const {
    const Rows q = linear(name + "query", x), k = linear(name + "key", memory), v = linear(name + "value", memory);
    const auto d_k = static_cast<std::size_t>(network_.config.d_k());
    Rows z(x.size(), Row(q[0].size(), 0.0));
    for (std::size_t from = 0; from < q[0].size(); from += d_k)
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t seen = causal ? i + 1 : memory.size();
        Row weights(seen);
        double total = 0;
        for (std::size_t j = 0; j < seen; ++j) {
          double score = 0;
          for (std::size_t c = from; c < from + d_k; ++c) score += q[i][c] * k[j][c];
          total += weights[j] = std::exp(score / std::sqrt(static_cast<double>(d_k)));
        }
        for (std::size_t j = 0; j < seen; ++j)
          for (std::size_t c = from; c < from + d_k; ++c) z[i][c] += weights[j] / total * v[j][c];
      }
    return linear(name + "output", z);
  }

  Rows feed_forward(const std::string& name, const Rows& x) const {
    Rows h = linear(name + "up", x);
    for (Row& row : h)
      for (double& v : row)
        v = network_.config.activation == Activation::relu ? std::max(v, 0.0)
                                                           : 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    return linear(name + "down", h);
  }

  template <class Sublayer>
  Rows sublayer(const std::string& norm_name, const Rows& x, const Sublayer& f) const {
    const bool pre = network_.config.norm == Norm::pre;
    Rows sum = f(pre ? norm(norm_name, x) : x);
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t j = 0; j < x[t].size(); ++j) sum[t][j] += x[t][j];
    return pre ? sum : norm(norm_name, sum);
  }

  Rows stack(const std::string& prefix, const Sentences& sentences, Index sentence, const Rows* memory,
             bool causal) const {
    const auto d = static_cast<std::size_t>(network_.config.d_model);
    const auto length = static_cast<std::size_t>(sentences.lengths[static_cast<std::size_t>(sentence)]);
    Rows x(length, Row(d, 0.0));
    const Parameter& tokens = *find("tokens");
    const Parameter* learned = find(prefix + "positions");
    for (std::size_t t = 0; t < length; ++t) {
      const auto id =
          static_cast<std::size_t>(sentences.ids[static_cast<std::size_t>(sentence * sentences.length) + t]);
      for (std::size_t j = 0; j < d; ++j) {
        x[t][j] = at(tokens, id, j) * static_cast<double>(network_.embedding_scale);
        const double angle =
            static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(j / 2 * 2) / static_cast<double>(d));
        if (learned) x[t][j] += at(*learned, t, j);
        else if (network_.config.position == Position::sinusoidal)
          x[t][j] += j % 2 == 0 ? std::sin(angle) : std::cos(angle);
      }
    }
    for (int layer = 0; find(prefix + "layer." + std::to_string(layer) + ".query.weight"); ++layer) {
      const std::string name = prefix + "layer." + std::to_string(layer) + ".";
      x = sublayer(name + "attention_norm", x, [&](const Rows& in) { return attention(name, in, in, causal); });
      if (memory)
        x = sublayer(name + "cross_norm", x,
                     [&](const Rows& in) { return attention(name + "cross.", in, *memory, false); });
      if (network_.config.ffn > 0)
        x = sublayer(name + "ffn_norm", x, [&](const Rows& in) { return feed_forward(name, in); });
    }
    return network_.config.norm == Norm::pre ? norm(prefix + "final_norm", x) : x;
  }

  Rows hidden(const Batch& batch, Index sentence) const {
    if (network_.config.arch != Arch::encoder_decoder)
      return stack("", batch.input, sentence, nullptr, network_.config.arch == Arch::decoder);
    const Rows memory = stack("encoder.", batch.source, sentence, nullptr, false);
    return stack("decoder.", batch.input, sentence, &memory, true);
  }

  const Network& network_;
  std::map<std::string, const Parameter*> places_;
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

/// Two targets in three places, of different weights.
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
