#include "explain/gradients.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/attention.h"
#include "math/block.h"
#include "math/experts.h"
#include "math/kernels/kernels.h"
#include "math/ops.h"
#include "math/output.h"
#include "math/position.h"

namespace headlight {
namespace {

/// Outputs whose weights are read together, and inputs that one thread sums at a time.
constexpr Index kOutputsAtOnce = PanelMatrix::kPanel, kInputsAtOnce = 256;

/// The weights (outputs, inputs) of a part of a Linear: where they are, or copied into `space`.
Strided<const float> weights_of_part(const Linear& linear, Index first, Index outputs, Index input, Index inputs,
                                     Matrix& space) {
  if (!linear.stored && !linear.panels) return {&linear.weight(first, input), linear.weight.outerStride()};
  if (linear.stored) {
    space = widened(*linear.stored, first, outputs, input, inputs);
    return {space.data(), inputs};
  }
  const PanelMatrix& panels = *linear.panels;
  const Index begin = panels.panel(first / kOutputsAtOnce) + input * kOutputsAtOnce;
  Matrix wide;
  if (panels.halves) {
    wide.resize(inputs, kOutputsAtOnce);
    math_kernels().widen(panels.halves.get() + begin, wide.size(), wide.data());
  }
  space.resize(kOutputsAtOnce, inputs);
  math_kernels().transpose(panels.halves ? wide.data() : panels.numbers.get() + begin, kOutputsAtOnce, inputs,
                           kOutputsAtOnce, space.data(), inputs);
  return {space.data(), inputs};
}

/// dy·W: (T, out) → (T, in).
Matrix linear_back(const ConstMatrixRef& dy, const Linear& linear, const Threads& threads) {
  if (linear.is_identity()) return dy;
  const Index inputs = linear.inputs(), outputs = linear.outputs();
  Matrix dx = Matrix::Zero(dy.rows(), inputs);
  parallel_for((inputs + kInputsAtOnce - 1) / kInputsAtOnce, threads, [&](Index part) {
    const Index input = part * kInputsAtOnce, count = std::min(kInputsAtOnce, inputs - input);
    Matrix space;
    for (Index first = 0; first < outputs; first += kOutputsAtOnce) {
      const Index rows = std::min(kOutputsAtOnce, outputs - first);
      if ((dy.middleCols(first, rows).array() == 0.0f).all()) continue;
      math_kernels().product({.size = {dy.rows(), count, rows},
                              .a = {dy.data() + first, dy.outerStride()},
                              .b = weights_of_part(linear, first, rows, input, count, space),
                              .c = {&dx(0, input), dx.outerStride()},
                              .add = true});
    }
  });
  return dx;
}

/// Of norm(x), or of norm_heads(x) of as many parts as the weights fit in a row.
Matrix norm_back(const Matrix& x, const NormWeights& weights, const Matrix& dy) {
  const Index d = weights.scale.size(), rows = x.size() / d;
  Matrix y(x.rows(), x.cols()), unit(x.rows(), x.cols()), dx(x.rows(), x.cols());
  Vector inverse(rows), of_scale = Vector::Zero(d);
  RowNorm row{.d = d,
              .centred = weights.kind == NormKind::layer_norm,
              .epsilon = weights.epsilon,
              .scale = weights.scale.data()};
  for (Index r = 0; r < rows; ++r) {
    row.unit = unit.data() + r * d, row.inverse = &inverse(r);
    math_kernels().norm(row, x.data() + r * d, y.data() + r * d);
  }
  const NormPass pass{.rows = rows,
                      .d = d,
                      .centred = row.centred,
                      .epsilon = row.epsilon,
                      .scale = row.scale,
                      .unit = unit.data(),
                      .inverse = inverse.data()};
  math_kernels().norm_backward(pass, dy.data(), dx.data(), false, of_scale.data(), nullptr);
  return dx;
}

float slope(float number, Activation activation) {
  const double x = static_cast<double>(number);
  switch (activation) {
    case Activation::relu: return x > 0 ? 1.0f : 0.0f;
    case Activation::gelu:
      return static_cast<float>(0.5 * std::erfc(-x / std::numbers::sqrt2) +
                                x * std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    case Activation::gelu_tanh: {
      const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, cube = 0.044715;
      const double tanh = std::tanh(factor * (x + cube * x * x * x));
      return static_cast<float>(0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * factor * (1 + 3 * cube * x * x));
    }
    case Activation::silu:
    case Activation::quick_gelu: break;
  }
  const double steep = activation == Activation::quick_gelu ? 1.702 : 1, sigmoid = 1 / (1 + std::exp(-steep * x));
  return static_cast<float>(sigmoid * (1 + steep * x * (1 - sigmoid)));
}

/// dy · activation'(x) in each place.
Matrix activation_back(const Matrix& x, Activation activation, const Matrix& dy, const Threads& threads) {
  Matrix dx(x.rows(), x.cols());
  parallel_for(x.rows(), threads, [&](Index row) {
    for (Index i = 0; i < x.cols(); ++i) dx(row, i) = dy(row, i) == 0 ? 0 : dy(row, i) * slope(x(row, i), activation);
  });
  return dx;
}

Matrix ffn_back(const BlockWeights& weights, Activation activation, const Matrix& input, const Matrix& d,
                const Threads& threads) {
  const Matrix hidden = linear_back(d, weights.down, threads), up = linear(input, weights.up, threads);
  if (weights.ungated()) return linear_back(activation_back(up, activation, hidden, threads), weights.up, threads);
  const Matrix gate = linear(input, weights.gate, threads);
  Matrix active = gate;
  activate(active, activation, threads);
  return linear_back(hidden.cwiseProduct(active), weights.up, threads) +
         linear_back(activation_back(gate, activation, hidden.cwiseProduct(up), threads), weights.gate, threads);
}

/// Of the scores of one head before their cap: `d` is of its weights.
void scores_back(const AttentionTrace& attention, Index head, const Matrix& weights, Matrix& d) {
  for (Index row = 0; row < d.rows(); ++row)
    math_kernels().softmax_backward(&weights(row, 0), &d(row, 0), d.cols(), attention.scale);
  if (attention.softcap == 0) return;
  const auto q = head_columns(attention.query, head, attention.num_heads());
  const auto k = head_columns(attention.key, attention.kv_head(head), attention.num_kv_heads);
  const Matrix capped = (q * k.transpose() * (attention.scale / attention.softcap)).array().tanh();
  d.array() *= 1 - capped.array().square();
}

/// Of query, key and value, from z of all heads. A head that is off passes nothing on, or the mean of its rows.
void heads_back(const AttentionTrace& attention, Stack stack, Index layer, const Edits& edits, const Threads& threads,
                AttentionGradients& of) {
  const Index heads = attention.num_heads(), kv_heads = attention.num_kv_heads, d_k = attention.query.cols() / heads,
              d_v = attention.value.cols() / kv_heads;
  of.query.setZero(attention.query.rows(), attention.query.cols());
  of.key.setZero(attention.key.rows(), attention.key.cols());
  of.value.setZero(attention.value.rows(), attention.value.cols());
  parallel_for(kv_heads, threads, [&](Index kv) {
    const auto k = attention.key.middleCols(kv * d_k, d_k), v = attention.value.middleCols(kv * d_v, d_v);
    for (Index head = 0; head < heads; ++head) {
      if (attention.kv_head(head) != kv) continue;
      Matrix z = of.z.middleCols(head * d_v, d_v);
      if (is_off(edits, {layer, head, stack})) switch_off(edits.off_as, z);
      const Matrix weights = softmax_of_rows(attention, head, 0, z.rows());
      Matrix d = z * v.transpose();
      scores_back(attention, head, weights, d);
      of.query.middleCols(head * d_k, d_k) = d * k;
      of.key.middleCols(kv * d_k, d_k) += d.transpose() * attention.query.middleCols(head * d_k, d_k);
      of.value.middleCols(kv * d_v, d_v) += weights.transpose() * z;
    }
  });
}

/// A sum of the stream and what a sublayer gives, normed before where there is `after`, and behind it in a post-norm
/// block; as the forward pass made it.
struct Sum {
  const std::optional<NormWeights>& after;
  const NormWeights& own;
  bool residual;
  Matrix given = {}, sum = {};
};

/// The norms of a block (run_block in math/block.cpp), and the same back.
struct BlockNorms {
  bool pre, on;
  const Threads& threads;

  bool norms_what_is_read(const NormWeights& own) const { return pre && on && !own.is_identity(); }
  Matrix read(const Matrix& stream, const NormWeights& own) const {
    return norms_what_is_read(own) ? norm(stream, own, threads) : stream;
  }
  Matrix read_back(const Matrix& stream, const NormWeights& own, const Matrix& d) const {
    return norms_what_is_read(own) ? norm_back(stream, own, d) : d;
  }
  /// The stream behind the sum.
  Matrix add(const Matrix& stream, Matrix given, Sum& sum) const {
    sum.sum = sum.after && on ? norm(given, *sum.after, threads) : given;
    sum.given = std::move(given);
    if (sum.residual) sum.sum += stream;
    return pre ? sum.sum : norm(sum.sum, sum.own, threads);
  }
  /// `d` of the stream behind the sum becomes that of the stream before it; given back: that of the sublayer's part.
  Matrix take(const Sum& sum, Matrix& d) const {
    if (!pre) d = norm_back(sum.sum, sum.own, d);
    const Matrix given = sum.after && on ? norm_back(sum.given, *sum.after, d) : d;
    if (!sum.residual) d.setZero();
    return given;
  }
};

class Backward {
 public:
  Backward(const Trace& trace, Threads threads) : trace_(trace), threads_(threads) {}

  /// Of the last hidden states, by the logits of one query.
  Matrix last(Index query, const Vector& of_logits) const {
    const Matrix& hidden = trace_.last_hidden_state();
    const Vector logits = logit_rows(trace_, query, 1).row(0);
    Matrix d = Matrix::Zero(hidden.rows(), hidden.cols());
    if (!classifies(*trace_.model)) {
      d.row(query) = output(hidden.row(query), logits, of_logits);
      return d;
    }
    const Matrix& mixtures = trace_.model->output->mixtures;
    const Matrix mixed = mixtures * hidden;
    const Matrix back = output(mixed.reshaped<Eigen::RowMajor>(1, mixed.size()), logits, of_logits);
    return mixtures.transpose() * back.reshaped<Eigen::RowMajor>(mixed.rows(), mixed.cols());
  }

  /// `d`: of what the stack gives. With `memory`, the encoder's output, d of it is added to `of_memory`. False when
  /// stopped.
  bool stack(const StackWeights& weights, Stack stack, const StackTrace& own, Matrix d, Progress& progress, float share,
             Matrix* of_memory, std::vector<BlockGradients>& of) const {
    of.resize(own.blocks.size());
    if (weights.final_norm && !own.blocks.empty()) d = norm_back(own.blocks.back().output, *weights.final_norm, d);
    for (std::size_t layer = own.blocks.size(); layer-- > 0;) {
      if (progress.stop) return false;
      of[layer].output = d;
      const Matrix& x = layer > 0 ? own.blocks[layer - 1].output : own.embedding;
      d = block(weights, stack, static_cast<Index>(layer), x, std::move(d), of_memory, of[layer]);
      progress.advance(share / static_cast<float>(own.blocks.size()));
    }
    return true;
  }

 private:
  /// Of what the output layer reads (1, n), whose logits these are.
  Matrix output(const Matrix& hidden, const Vector& logits, Matrix d) const {
    const OutputWeights& output = *trace_.model->output;
    if (output.softcap > 0) d.array() *= 1 - (logits.array() / output.softcap).square();
    d = linear_back(d * output.scale, *output.weight, threads_);
    Matrix linear_of = hidden;
    if (!output.transform.is_identity()) linear_of = linear(hidden, output.transform, threads_);
    if (output.transform_norm) {
      Matrix active = linear_of;
      if (!output.transform.is_identity()) activate(active, transform_activation(*trace_.model));
      d = norm_back(active, *output.transform_norm, d);
    }
    if (output.transform.is_identity()) return d;
    return linear_back(activation_back(linear_of, transform_activation(*trace_.model), d, threads_), output.transform,
                       threads_);
  }

  /// x·W_i of a projection as the forward pass has it, back to x: rotation, head norms and the product.
  Matrix projection(const Linear& weights, const std::optional<NormWeights>& head_norm, const Rotary* rotary,
                    Index heads, const Matrix& x, Matrix d) const {
    if (rotary) {
      Rotary back = *rotary;
      back.frequencies = -back.frequencies;
      d = rotated(d, back, heads);
    }
    if (head_norm) d = norm_back(linear(x, weights, threads_), *head_norm, d);
    return linear_back(d, weights, threads_);
  }

  /// Of an attention's query input; that of its key and value input is added to `of_keys`.
  Matrix attention(const StackWeights& all, const AttentionWeights& weights, Stack stack, Index layer,
                   const Matrix& queries, const Matrix& keys, const Matrix& d, AttentionGradients& of,
                   Matrix& of_keys) const {
    const Rotary* rotary = rotary_of(all, weights, stack);
    of.z = linear_back(d, weights.output, threads_);
    heads_back(trace_.attention(stack, layer), stack, layer, trace_.request.edits, threads_, of);
    of_keys += projection(weights.key, weights.key_norm, rotary, weights.num_kv_heads, keys, of.key);
    of_keys += linear_back(of.value, weights.value, threads_);
    return projection(weights.query, weights.query_norm, rotary, weights.num_heads, queries, of.query);
  }

  /// From the output of a block to its input `x`: the sums again, then each of them back.
  Matrix block(const StackWeights& all, Stack stack, Index layer, const Matrix& x, Matrix d, Matrix* of_memory,
               BlockGradients& of) const {
    const BlockWeights& weights = all.blocks[static_cast<std::size_t>(layer)];
    const PartsOff off = parts_off(trace_.request.edits, stack, layer);
    const BlockNorms norms{trace_.model->config.norm == Norm::pre || off.norm, !off.norm, threads_};
    const std::optional<NormWeights> none;
    Sum self{weights.attention_after_norm, weights.attention_norm, !off.residual};
    Sum cross{none, weights.cross_norm, !off.residual};
    const Matrix behind_self =
        norms.add(x, linear(trace_.attention(stack, layer).z, weights.self.output, threads_), self);
    Matrix behind_cross = behind_self;
    if (weights.cross)
      behind_cross = norms.add(behind_self,
                               linear(trace_.attention(Stack::cross, layer).z, weights.cross->output, threads_), cross);
    Matrix of_x = Matrix::Zero(x.rows(), x.cols());  // by a feed-forward beside the attention
    if (weights.has_ffn() && !off.ffn) {
      const Matrix& stream = weights.parallel ? x : behind_cross;
      const Matrix input = norms.read(stream, weights.ffn_norm);
      const Activation activation = trace_.model->config.activation;
      Sum ffn{weights.ffn_after_norm, weights.ffn_norm, !off.residual || weights.parallel};
      if (!norms.pre || ffn.after) norms.add(behind_cross, feed_forward(weights, activation, input, threads_), ffn);
      of.ffn = norms.take(ffn, d);
      (weights.parallel ? of_x : d) +=
          norms.read_back(stream, weights.ffn_norm, ffn_back(weights, activation, input, of.ffn, threads_));
    }
    if (weights.cross) {
      const Matrix given = norms.take(cross, d), queries = norms.read(behind_self, weights.cross_norm);
      const Matrix& memory = trace_.encoder->last_hidden_state();
      const Matrix back =
          attention(all, *weights.cross, Stack::cross, layer, queries, memory, given, of.cross.emplace(), *of_memory);
      d += norms.read_back(behind_self, weights.cross_norm, back);
    }
    const Matrix given = norms.take(self, d), input = norms.read(x, weights.attention_norm);
    Matrix of_input = Matrix::Zero(x.rows(), x.cols());
    const Matrix of_queries = attention(all, weights.self, stack, layer, input, input, given, of.self, of_input);
    return d + of_x + norms.read_back(x, weights.attention_norm, of_input + of_queries);
  }

  const Trace& trace_;
  Threads threads_;
};

Status check_differentiable(const Trace& trace) {
  const Edits& edits = trace.request.edits;
  const auto refused = [](const char* what) {
    return bad_input("gradients", "", "a model and a question without " + std::string(what), "one with");
  };
  if (edits.dropout > 0) return refused("dropout");
  if (!edits.weights.empty()) return refused("weights set by hand");
  const auto check_stack = [&](const StackWeights& stack) -> Status {
    for (const BlockWeights& block : stack.blocks) {
      if (block.experts) return refused("experts");
      if (block.self.distances) return refused("vectors of distances");
    }
    return Done{};
  };
  TRY(check_stack(*trace.model));
  if (trace.model->encoder) TRY(check_stack(*trace.model->encoder));
  for (const Stack stack : kStacks)
    if (trace.has(stack) && !trace.attention(stack, 0).keeps_z())
      return bad_input("gradients", "tokens", "at most " + std::to_string(kMostKeptZ),
                       std::to_string(trace.queries(stack)));
  return Done{};
}

}  // namespace

Result<std::optional<Gradients>> gradients_of(const Trace& trace, Index query, const Vector& of_logits,
                                              Progress& progress, int threads) {
  TRY(check_differentiable(trace));
  const Backward backward(trace, Threads(threads, &progress.stop));
  Matrix d = backward.last(query, of_logits);
  std::optional<Gradients> gradients(std::in_place);
  Matrix of_memory;
  if (trace.encoder)
    of_memory.setZero(trace.encoder->last_hidden_state().rows(), trace.encoder->last_hidden_state().cols());
  const float share = trace.encoder ? progress.share / 2 : progress.share;
  if (!backward.stack(*trace.model, Stack::self, trace, std::move(d), progress, share, &of_memory, gradients->blocks))
    return std::optional<Gradients>{};
  if (trace.encoder && !backward.stack(*trace.model->encoder, Stack::encoder, *trace.encoder, std::move(of_memory),
                                       progress, share, nullptr, gradients->encoder))
    return std::optional<Gradients>{};
  return gradients;
}

}  // namespace headlight
