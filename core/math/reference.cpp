#include "math/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headlight::reference {
namespace {

constexpr double kBlockedScore = -std::numeric_limits<double>::infinity();

}  // namespace

// 1. A linear layer is what a transformer learns, apart from its tables of vectors and its norms: each output is a
// weighted sum of all inputs of the same token. No token sees another one here.
//   y_t,o = Σ_i x_t,i · W_o,i + b_o
Grid linear(const Grid& x, const LinearLayer& layer) {
  Grid y = x;
  if (layer.weight.size() > 0) {
    y.resize(x.rows(), layer.weight.rows());
    for (Index t = 0; t < x.rows(); ++t)
      for (Index out = 0; out < layer.weight.rows(); ++out) y(t, out) = x.row(t).dot(layer.weight.row(out));
  }
  if (layer.bias.size() > 0)
    for (Index t = 0; t < y.rows(); ++t) y.row(t) += layer.bias;
  return y;
}

// 2. Multi-head: several attentions run side by side, each in a separate space of d_k columns, so that one can follow
// grammar and another the word before (section 3.2.2). The heads lie side by side in one matrix: head 0 has the first d
// columns, head 1 the next d, and so on.
Heads split_heads(const Grid& x, Index num_heads) {
  const Index d = x.cols() / num_heads;
  Heads heads;
  for (Index head = 0; head < num_heads; ++head) heads.push_back(x.middleCols(head * d, d));
  return heads;
}

Grid concatenated(const Heads& heads) {
  const Index d = heads.front().cols();
  Grid x(heads.front().rows(), d * static_cast<Index>(heads.size()));
  for (std::size_t head = 0; head < heads.size(); ++head) x.middleCols(static_cast<Index>(head) * d, d) = heads[head];
  return x;
}

// 3. How well does key j answer query i? The dot product of two vectors is large where they point the same way. All
// pairs of one head: Q·Kᵀ, (T, S).
Grid dot_products(const Grid& q, const Grid& k) {
  Grid dot(q.rows(), k.rows());
  for (Index i = 0; i < q.rows(); ++i)
    for (Index j = 0; j < k.rows(); ++j) dot(i, j) = q.row(i).dot(k.row(j));
  return dot;
}

// 4. Softmax makes each row of scores a distribution over the keys: positive numbers with the sum 1.
//   A_i,j = exp(s_i,j) / Σ_j' exp(s_i,j')
// A constant added to a row changes nothing, so the largest score is subtracted first: exp(1000) would overflow. A
// score of −∞ gives weight 0; that is how a mask blocks a key. A row of nothing but −∞ attends to nothing and becomes
// zeros. Some models have a sink, a learned score of no key, in the sum below: what it takes goes to no value, and rows
// sum to less than 1 (Xiao et al. 2023, section 3.3).
Grid softmax(const Grid& scores, double sink) {
  Grid weights = Grid::Zero(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    if (scores.row(i).maxCoeff() == kBlockedScore) continue;
    const double largest = std::max(scores.row(i).maxCoeff(), sink);
    double sum = std::exp(sink - largest);
    for (Index j = 0; j < scores.cols(); ++j) sum += weights(i, j) = std::exp(scores(i, j) - largest);
    weights.row(i) /= sum;
  }
  return weights;
}

// 5. What a query receives: the mean of the values, weighted by how well their keys answered. z = A·V, (T, d_v).
Grid weighted_sums(const Grid& weights, const Grid& v) {
  Grid z = Grid::Zero(weights.rows(), v.cols());
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index j = 0; j < v.rows(); ++j) z.row(i) += weights(i, j) * v.row(j);
  return z;
}

// Some models multiply queries and keys with a vector of the distance between them as well (He et al. 2021): the
// distance that the query looks for, and the one that the key looks for. Far distances share a vector.
Index distance_row(const DistanceVectors& vectors, Index distance) {
  const Index half = vectors.rows() / 2, size = std::abs(distance);
  double row = static_cast<double>(size);
  if (vectors.exact > 0 && size > vectors.exact) {
    const double exact = static_cast<double>(vectors.exact), most = static_cast<double>(vectors.max_distance - 1);
    const double share = std::log(static_cast<double>(size) / exact) / std::log(most / exact);
    row = std::ceil(share * (static_cast<double>(half) - exact - 1)) + exact;
  }
  return std::clamp<Index>(half + static_cast<Index>(distance < 0 ? -row : row), 0, vectors.rows() - 1);
}

namespace {

Grid distance_scores(const DistanceVectors& vectors, Index head, Index num_heads, const Grid& q, const Grid& k) {
  Grid added = Grid::Zero(q.rows(), k.rows());
  const auto of_head = [&](const Matrix& all, Index row) {
    const Index d_k = all.cols() / num_heads;
    return all.row(row).segment(head * d_k, d_k).cast<double>();
  };
  for (Index i = 0; i < q.rows(); ++i) {
    for (Index j = 0; j < k.rows(); ++j) {
      const Index row = reference::distance_row(vectors, i - j);
      if (vectors.keys.size() > 0) added(i, j) += q.row(i).dot(of_head(vectors.keys, row));
      if (vectors.queries.size() > 0) added(i, j) += k.row(j).dot(of_head(vectors.queries, row));
    }
  }
  return added;
}

}  // namespace

// 6. Steps 1 to 5 in order are the whole of attention (equation 1 and section 3.2.2):
//   head_h = softmax(Q_h·K_hᵀ / √d_k + M)·V_h,   output = Concat(head_0 … head_h−1)·W^O
// Why √d_k: if the numbers of q and k are independent with variance 1, q·k has variance d_k; without the division the
// softmax of long vectors gives nearly all weight to one key, and its gradient vanishes.
Attention attention(const AttentionLayer& layer, const Grid& x_query, const Grid& x_key, const Grid& x_value,
                    const AttentionOptions& options) {
  const Index h = layer.num_heads, h_kv = layer.num_kv_heads;
  Attention steps;
  steps.q = linear(x_query, layer.query);  // (T, d_model) → (T, h·d_k)
  steps.k = linear(x_key, layer.key);      // (S, d_model) → (S, h_kv·d_k)
  steps.v = linear(x_value, layer.value);  // (S, d_model) → (S, h_kv·d_v)
  if (layer.query_norm) steps.q = norm(steps.q, *layer.query_norm, steps.q.cols() / layer.query_norm->scale.cols());
  if (layer.key_norm) steps.k = norm(steps.k, *layer.key_norm, steps.k.cols() / layer.key_norm->scale.cols());
  if (options.rotary) steps.q = rotated(steps.q, *options.rotary, h);
  if (options.rotary) steps.k = rotated(steps.k, *options.rotary, h_kv);
  const Heads q = split_heads(steps.q, h), k = split_heads(steps.k, h_kv), v = split_heads(steps.v, h_kv);
  const double d_k = static_cast<double>(q[0].cols());
  const double scale = options.scale.value_or(1.0 / std::sqrt(d_k));
  Heads z;
  for (Index head = 0; head < h; ++head) {
    const auto own = static_cast<std::size_t>(head);
    const auto shared = static_cast<std::size_t>(head * h_kv / h);  // heads of one group read the same key and value
    Grid scores = dot_products(q[own], k[shared]) * scale;          // (T, S)
    if (layer.softcap > 0) scores = layer.softcap * (scores / layer.softcap).array().tanh();
    if (layer.distances) scores += distance_scores(*layer.distances, head, h, q[own], k[shared]) * scale;
    if (const Index rows = scores.rows(); options.mask.size() > 0)
      scores += options.mask.middleRows(options.mask.rows() > rows ? head * rows : 0, rows);
    Grid weights = layer.sinks.size() > 0 ? softmax(scores, layer.sinks(head)) : softmax(scores);
    if (options.edit_weights) options.edit_weights(head, weights);
    z.push_back(weighted_sums(weights, v[shared]));  // (T, d_v)
    if (options.edit_z) options.edit_z(head, z.back());
    steps.scores.push_back(std::move(scores));
    steps.weights.push_back(std::move(weights));
  }
  steps.z = concatenated(z);                     // (T, h·d_v)
  steps.output = linear(steps.z, layer.output);  // (T, d_model)
  return steps;
}

// 7. Nothing so far depends on the order of the tokens. Either a wave of another length in each pair of columns is
// added to the token vectors (section 3.5): PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same).
double sinusoid(Index position, Index column, Index d_model) {
  const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(d_model);
  const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

// Or pairs of columns of each query and key are rotated by an angle that grows with the position (Su et al. 2021). The
// dot product of a rotated query and a rotated key depends on their distance, not on where they stand.
Grid rotated(const Grid& x, const Rotary& rotary, Index num_heads, Index first_position) {
  Grid y = x;
  const Index d_k = x.cols() / num_heads, pairs = rotary.frequencies.size();
  for (Index row = 0; row < x.rows(); ++row) {
    const Index position = first_position + row;
    for (Index head = 0; head < num_heads; ++head) {
      for (Index i = 0; i < pairs; ++i) {
        const double place =
            rotary.places.size() > 0 ? static_cast<double>(rotary.places(position, i)) : static_cast<double>(position);
        const double angle = place * static_cast<double>(rotary.frequencies(i));
        const double cosine = std::cos(angle) * static_cast<double>(rotary.factor);
        const double sine = std::sin(angle) * static_cast<double>(rotary.factor);
        const Index a = head * d_k + (rotary.interleaved ? 2 * i : i);
        const Index b = head * d_k + (rotary.interleaved ? 2 * i + 1 : pairs + i);
        y(row, a) = cosine * x(row, a) - sine * x(row, b);
        y(row, b) = sine * x(row, a) + cosine * x(row, b);
      }
    }
  }
  return y;
}

// 8. A norm brings each token's vector to a common size, or many blocks in a row would let it grow or vanish. Layer
// norm: mean 0 and variance 1 (Ba, Kiros & Hinton 2016); RMS norm: mean square 1 (Zhang & Sennrich 2019). Scale and
// shift are learned.
Grid norm(const Grid& x, const NormLayer& layer, Index parts) {
  Grid y = x;
  const Index d = x.cols() / parts;
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index part = 0; part < parts; ++part) {
      auto row = y.row(t).segment(part * d, d);
      if (layer.kind == NormKind::layer_norm) row.array() -= row.mean();
      row /= std::sqrt(row.squaredNorm() / static_cast<double>(d) + layer.epsilon);
      row.array() *= layer.scale.row(0).array();
      if (layer.shift.size() > 0) row += layer.shift;
    }
  }
  return y;
}

// 9. Between the two layers of the feed-forward stands a function that is not linear; without it they would be one
// layer.
double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));  // x·Φ(x) (Hendrycks & Gimpel 2016)
    case Activation::gelu_tanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu: return x / (1.0 + std::exp(-1.702 * x));  // the same paper
    case Activation::silu: break;
  }
  return x / (1.0 + std::exp(-x));  // Elfwing, Uchibe & Doya 2018
}

// The feed-forward treats each token by itself (equation 2): FFN(x) = max(0, x·W₁ᵀ + b₁)·W₂ᵀ + b₂, or another
// activation. A gated one multiplies two such layers: activation(gate(x))·up(x) (Shazeer 2020).
Grid feed_forward(const Grid& x, const LinearLayer& gate, const LinearLayer& up, const LinearLayer& down,
                  Activation activation) {
  const bool gated = gate.weight.size() > 0;
  Grid hidden = linear(x, gated ? gate : up);  // (T, d_model) → (T, ffn)
  for (Index i = 0; i < hidden.size(); ++i) hidden.data()[i] = activated(hidden.data()[i], activation);
  if (gated) hidden.array() *= linear(x, up).array();
  return linear(hidden, down);  // → (T, d_model)
}

// Or there are several, the experts: a token goes through those of the largest softmax weight (Shazeer et al. 2017).
// Each output is multiplied by that weight, or by its share of the weights of the chosen ones.
Grid routing(const Grid& scores, Index chosen, bool to_one) {
  const Grid all = softmax(scores);
  Grid weights = Grid::Zero(all.rows(), all.cols());
  for (Index t = 0; t < all.rows(); ++t) {
    for (Index n = 0; n < std::min(chosen, all.cols()); ++n) {
      Index best = -1;
      for (Index e = 0; e < all.cols(); ++e)
        if (weights(t, e) == 0 && (best < 0 || all(t, e) > all(t, best))) best = e;
      weights(t, best) = all(t, best);
    }
    if (to_one) weights.row(t) /= weights.row(t).sum();
  }
  return weights;
}

Grid experts(const Grid& x, const BlockLayer& layer) {
  const Grid weights = routing(linear(x, layer.router), layer.chosen, layer.to_one);
  const auto made = [&](const ExpertLayer& one) {
    return feed_forward(x, one.gate, one.up, one.down, layer.activation);
  };
  Grid sum = Grid::Zero(x.rows(), x.cols());
  for (std::size_t e = 0; e < layer.experts.size(); ++e)
    sum.array() += made(layer.experts[e]).array().colwise() * weights.col(static_cast<Index>(e)).array();
  if (!layer.shared) return sum;
  Grid share = Grid::Ones(x.rows(), 1);
  if (layer.shared_gate.weight.size() > 0) share = 1.0 / (1.0 + (-linear(x, layer.shared_gate).array()).exp());
  return sum.array() + made(*layer.shared).array().colwise() * share.col(0).array();
}

// 10. A block is attention, then feed-forward. Each adds to its input: what a token was is kept, and what it learned is
// added (section 3.1). The paper norms each sum, norm(x + f(x)); later models norm what f reads, x + f(norm(x)) (Xiong
// et al. 2020), or what it gives, x + norm(f(x)) (OLMo 2), or both (Gemma 2); in some both f read the same x (Wang &
// Komatsuzaki 2021). A decoder that translates attends a second time between the two: to the encoder's output. A block
// without residual sums outputs f(x) alone; side by side, attention(x) + ffn(x).
Block block(const BlockLayer& layer, const Grid& x, const AttentionOptions& self, const Grid* memory,
            const AttentionOptions& cross) {
  const bool pre = layer.norm == Norm::pre;
  const auto input = [&](const Grid& stream, const NormLayer& own) {
    return pre && own.scale.size() > 0 ? norm(stream, own) : stream;
  };
  const std::optional<NormLayer> none;
  const auto sum = [&](const Grid& stream, const Grid& sublayer, const NormLayer& own,
                       const std::optional<NormLayer>& after, bool keeps) -> Grid {
    Grid added = after ? norm(sublayer, *after) : sublayer;
    if (keeps) added += stream;
    return pre ? added : norm(added, own);
  };
  Block steps;
  const Grid read = input(x, layer.self_norm);
  steps.self = attention(layer.self, read, read, read, self);
  steps.output = sum(x, steps.self.output, layer.self_norm, layer.self_after_norm, layer.residual);
  if (layer.cross) {
    steps.cross = attention(*layer.cross, input(steps.output, layer.cross_norm), *memory, *memory, cross);
    steps.output = sum(steps.output, steps.cross->output, layer.cross_norm, none, layer.residual);
  }
  if (layer.up.weight.size() > 0 || !layer.experts.empty()) {
    const Grid reads = input(layer.parallel ? x : steps.output, layer.ffn_norm);
    const Grid made = layer.experts.empty() ? feed_forward(reads, layer.gate, layer.up, layer.down, layer.activation)
                                            : experts(reads, layer);
    steps.output = sum(steps.output, made, layer.ffn_norm, layer.ffn_after_norm, layer.residual || layer.parallel);
  }
  return steps;
}

// A model's float32 numbers in doubles.
LinearLayer layer_of(const Linear& weights) {
  LinearLayer layer{.weight = {}, .bias = weights.bias.cast<double>()};
  if (!weights.is_identity()) layer.weight = weight_rows(weights, 0, weights.outputs()).cast<double>();
  return layer;
}

NormLayer layer_of(const NormWeights& weights) {
  return {.scale = weights.scale.cast<double>(),
          .shift = weights.shift.cast<double>(),
          .epsilon = static_cast<double>(weights.epsilon),
          .kind = weights.kind};
}

AttentionLayer layer_of(const AttentionWeights& weights) {
  AttentionLayer layer{.query = layer_of(weights.query),
                       .key = layer_of(weights.key),
                       .value = layer_of(weights.value),
                       .output = layer_of(weights.output),
                       .num_heads = weights.num_heads,
                       .num_kv_heads = weights.num_kv_heads};
  if (weights.query_norm) layer.query_norm = layer_of(*weights.query_norm);
  if (weights.key_norm) layer.key_norm = layer_of(*weights.key_norm);
  layer.sinks = weights.sinks.cast<double>();
  layer.softcap = static_cast<double>(weights.softcap);
  layer.distances = weights.distances.get();
  return layer;
}

BlockLayer layer_of(const BlockWeights& weights, const Config& config) {
  BlockLayer layer{.self = layer_of(weights.self),
                   .up = layer_of(weights.up),
                   .gate = layer_of(weights.gate),
                   .down = layer_of(weights.down),
                   .self_norm = layer_of(weights.attention_norm),
                   .cross_norm = layer_of(weights.cross_norm),
                   .ffn_norm = layer_of(weights.ffn_norm),
                   .norm = config.norm,
                   .activation = config.activation};
  if (weights.cross) layer.cross = layer_of(*weights.cross);
  if (weights.attention_after_norm) layer.self_after_norm = layer_of(*weights.attention_after_norm);
  if (weights.ffn_after_norm) layer.ffn_after_norm = layer_of(*weights.ffn_after_norm);
  layer.parallel = weights.parallel;
  if (!weights.experts) return layer;
  const auto expert = [](const Experts::Expert& one) {
    return ExpertLayer{layer_of(one.gate), layer_of(one.up), layer_of(one.down)};
  };
  layer.router = layer_of(weights.experts->router);
  for (const Experts::Expert& one : weights.experts->all) layer.experts.push_back(expert(one));
  layer.chosen = weights.experts->chosen;
  layer.to_one = weights.experts->to_one;
  if (weights.experts->shared) layer.shared = expert(*weights.experts->shared);
  if (weights.experts->shared_gate) layer.shared_gate = layer_of(*weights.experts->shared_gate);
  return layer;
}

// A block that lacks some of its parts, to see what they are for.
BlockLayer without(BlockLayer layer, const PartsOff& off) {
  if (off.norm) {
    layer.norm = Norm::pre;
    layer.self_norm = layer.cross_norm = layer.ffn_norm = {};
    layer.self_after_norm.reset();
    layer.ffn_after_norm.reset();
  }
  if (off.ffn) {
    layer.up = {};
    layer.experts.clear();
  }
  layer.residual = !off.residual;
  return layer;
}

}  // namespace headlight::reference
