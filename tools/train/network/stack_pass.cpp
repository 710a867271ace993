#include "train/network/stack_pass.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/random.h"

namespace headlight {
namespace {

Index rounded_up(Index size, Index multiple) { return (size + multiple - 1) / multiple * multiple; }

void norm_forward(const NormPass& pass, const float* x, float* y) {
  RowNorm row{.d = pass.d, .centred = pass.centred, .epsilon = pass.epsilon, .scale = pass.scale, .shift = pass.shift};
  for (Index r = 0; r < pass.rows; ++r) {
    row.unit = pass.unit + r * pass.d;
    row.inverse = pass.inverse + r;
    math_kernels().norm(row, x + r * pass.d, y + r * pass.d);
  }
}

}  // namespace

StackPass::StackPass(const PassContext& context, const StackOffsets& offsets, const Packed& own, const Packed* source,
                     bool causal)
    : context_(context),
      network_(context.network),
      offsets_(offsets),
      own_(own),
      source_(source),
      causal_(causal),
      pre_(network_.config.norm == Norm::pre),
      rows_(own.rows()),
      d_(network_.config.d_model),
      heads_(network_.config.num_heads),
      d_k_(network_.config.d_k()),
      width_(heads_ * d_k_) {
  const Index keys = std::max(own.longest, source ? source->longest : 0);
  scratch_ = context.arena.take((d_k_ + own.longest) * rounded_up(keys, kWeightsMultiple));
}

float* StackPass::embed() {
  float* x = context_.arena.take(rows_ * d_);
  const Matrix& sinusoids = context_.sinusoids;
  const bool sinusoidal = network_.config.position == Position::sinusoidal;
  for (Index sentence = 0; sentence < own_.count(); ++sentence) {
    for (Index row = own_.start(sentence); row < own_.end(sentence); ++row) {
      const float* token = context_.values(network_.tokens + own_.ids[static_cast<std::size_t>(row)] * d_);
      const Index position = row - own_.start(sentence);
      assert(offsets_.positions < 0 || position < network_.longest);
      const float* vector = sinusoidal                ? sinusoids.data() + position * d_
                            : offsets_.positions >= 0 ? context_.values(offsets_.positions + position * d_)
                                                      : nullptr;
      float* to = x + row * d_;
      for (Index j = 0; j < d_; ++j) to[j] = token[j] * network_.embedding_scale;
      if (vector) math_kernels().add(to, vector, 1.0f, d_);
    }
  }
  return x;
}

NormPass StackPass::norm_pass(const NormOffsets& offsets) {
  return {.rows = rows_,
          .d = d_,
          .centred = network_.config.norm_kind == NormKind::layer_norm,
          .epsilon = network_.epsilon,
          .scale = context_.values(offsets.scale),
          .shift = context_.values_if(offsets.shift),
          .unit = context_.arena.take(rows_ * d_),
          .inverse = context_.arena.take(rows_)};
}

/// A mask of dropout; null where there is none.
float* StackPass::dropout_mask(Index size) {
  if (context_.dropout <= 0.0f) return nullptr;
  float* factors = context_.arena.take(size);
  math_kernels().dropout_factors(Random(context_.seed + ++masks_).next(), context_.dropout, factors, size);
  return factors;
}

/// The input of a sublayer; in post-norm the stream goes on as a copy.
const float* StackPass::enter(const NormOffsets& norm, float*& x, NormPass& kept) {
  if (pre_) {
    kept = norm_pass(norm);
    float* input = context_.arena.take(rows_ * d_);
    norm_forward(kept, x, input);
    return input;
  }
  const float* input = x;
  x = context_.arena.take(rows_ * d_);
  std::copy(input, input + rows_ * d_, x);
  return input;
}

/// Adds a sublayer's last linear layer to the stream, which is normed after it in post-norm.
void StackPass::leave(const LinearOffsets& output, const float* inner, const NormOffsets& norm, float*& x,
                      float*& factors, NormPass& kept) {
  factors = dropout_mask(rows_ * d_);
  if (factors) {
    linear_forward(context_, output, inner, output.in, rows_, branch_, false);
    math_kernels().multiply(branch_, factors, rows_ * d_);
    math_kernels().add(x, branch_, 1.0f, rows_ * d_);
  } else {
    linear_forward(context_, output, inner, output.in, rows_, x, true);
  }
  if (pre_) return;
  kept = norm_pass(norm);
  float* normed = context_.arena.take(rows_ * d_);
  norm_forward(kept, x, normed);
  x = normed;
}

AttentionPass StackPass::head_pass(const Attention& kept, bool cross, Index sentence, Index head,
                                   Index weights_at) const {
  const Packed& others = cross ? *source_ : own_;
  const Index own_row = cross ? width_ : 3 * width_, other_row = cross ? 2 * width_ : 3 * width_;
  const float* keys = cross ? kept.remembered : kept.projected + width_;
  const Index from = others.start(sentence) * other_row + head * d_k_;
  AttentionPass pass{.queries = own_.length(sentence),
                     .keys = others.length(sentence),
                     .d_k = d_k_,
                     .scale = 1.0f / std::sqrt(static_cast<float>(d_k_)),
                     .causal = causal_ && !cross,
                     .q = kept.projected + own_.start(sentence) * own_row + head * d_k_,
                     .k = keys + from,
                     .v = keys + width_ + from,
                     .q_row = own_row,
                     .k_row = other_row,
                     .v_row = other_row,
                     .weights = kept.weights + weights_at,
                     .factors = kept.factors ? kept.factors + weights_at : nullptr,
                     .dropped = kept.dropped ? kept.dropped + weights_at : nullptr,
                     .z = kept.z + own_.start(sentence) * width_ + head * d_k_,
                     .z_row = width_,
                     .scratch = scratch_};
  pass.weights_row = rounded_up(pass.keys, kWeightsMultiple);
  return pass;
}

void StackPass::run_attention(const AttentionOffsets& offsets, const float* memory, Attention& kept) {
  const bool cross = memory != nullptr;
  const Packed& others = cross ? *source_ : own_;
  kept.projected = context_.arena.take(rows_ * offsets.projections.out);
  linear_forward(context_, offsets.projections, kept.input, d_, rows_, kept.projected, false);
  if (cross) {
    kept.remembered = context_.arena.take(others.rows() * 2 * width_);
    linear_forward(context_, offsets.memory, memory, d_, others.rows(), kept.remembered, false);
  }
  Index cells = 0;
  for (Index sentence = 0; sentence < own_.count(); ++sentence)
    cells += heads_ * own_.length(sentence) * rounded_up(others.length(sentence), kWeightsMultiple);
  kept.weights = context_.arena.take(cells);
  kept.factors = dropout_mask(cells);
  kept.dropped = kept.factors ? context_.arena.take(cells) : nullptr;
  kept.z = context_.arena.take(rows_ * width_);
  Index at = 0;
  for (Index sentence = 0; sentence < own_.count(); ++sentence) {
    for (Index head = 0; head < heads_; ++head) {
      const AttentionPass pass = head_pass(kept, cross, sentence, head, at);
      attention_forward(pass);
      at += pass.queries * pass.weights_row;
    }
  }
}

const float* StackPass::forward(const float* memory) {
  memory_ = memory;
  if (context_.dropout > 0.0f) branch_ = context_.arena.take(rows_ * d_);
  float* x = embed();
  blocks_.resize(offsets_.blocks.size());
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const BlockOffsets& offsets = offsets_.blocks[layer];
    Block& block = blocks_[layer];
    block.self.input = enter(offsets.attention_norm, x, block.self.norm);
    run_attention(offsets.self, nullptr, block.self);
    leave(offsets.self.output, block.self.z, offsets.attention_norm, x, block.self.output_factors, block.self.norm);
    if (offsets.has_cross) {
      block.cross.input = enter(offsets.cross_norm, x, block.cross.norm);
      run_attention(offsets.cross, memory, block.cross);
      leave(offsets.cross.output, block.cross.z, offsets.cross_norm, x, block.cross.output_factors, block.cross.norm);
    }
    if (!offsets.has_ffn) continue;
    FeedForward& ffn = block.ffn;
    ffn.input = enter(offsets.ffn_norm, x, ffn.norm);
    const Index count = rows_ * offsets.up.out;
    ffn.hidden = context_.arena.take(count);
    ffn.slope = context_.arena.take(count);
    linear_forward(context_, offsets.up, ffn.input, d_, rows_, ffn.hidden, false);
    const MathKernels& math = math_kernels();
    (network_.config.activation == Activation::gelu ? math.gelu_with_slope : math.relu_with_slope)(ffn.hidden,
                                                                                                   ffn.slope, count);
    leave(offsets.down, ffn.hidden, offsets.ffn_norm, x, ffn.output_factors, ffn.norm);
  }
  if (offsets_.final_norm.scale < 0) return x;
  final_ = norm_pass(offsets_.final_norm);
  float* last = context_.arena.take(rows_ * d_);
  norm_forward(final_, x, last);
  return last;
}

namespace {

std::span<const AttentionTarget> targets_of(std::span<const AttentionTarget> all, Index sentence, Index layer,
                                            Index head) {
  const auto key = std::tuple(sentence, layer, head);
  const auto of = [](const AttentionTarget& target) {
    return std::tuple<Index, Index, Index>(target.sentence, target.layer, target.head);
  };
  const auto begin = std::partition_point(all.begin(), all.end(), [&](const auto& target) { return of(target) < key; });
  const auto end = std::partition_point(begin, all.end(), [&](const auto& target) { return of(target) == key; });
  return {begin, end};
}

/// The sum of a row's weights at the positions of a target; never 0, so that its logarithm is finite.
float given(const AttentionTarget& target, const float* row) {
  constexpr float kLeast = 1e-30f;
  return std::max(kLeast, std::accumulate(row + target.first, row + target.end, 0.0f));
}

}  // namespace

void StackPass::ask_attention(std::span<const AttentionTarget> targets, Index first_sentence, float scale, Loss& loss) {
  asked_ = targets;
  first_asked_ = first_sentence;
  asked_scale_ = scale;
  if (targets.empty()) return;
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    Index at = 0;
    for (Index sentence = 0; sentence < own_.count(); ++sentence) {
      for (Index head = 0; head < heads_; ++head) {
        const AttentionPass pass = head_pass(blocks_[layer].self, false, sentence, head, at);
        at += pass.queries * pass.weights_row;
        for (const AttentionTarget& target :
             targets_of(asked_, first_asked_ + sentence, static_cast<Index>(layer), head)) {
          assert(target.query < pass.queries && target.first < target.end && target.end <= pass.keys);
          const float weight = given(target, pass.weights + target.query * pass.weights_row);
          loss.attention -= static_cast<double>(target.weight) * std::log(static_cast<double>(weight));
          if (target.rest) continue;
          loss.looked += static_cast<double>(weight);
          ++loss.looks;
        }
      }
    }
  }
}

/// The gradient of −ln Σ softmax over the positions of a target: the weights, less their share of that sum. Null where
/// the head has no target.
const float* StackPass::asked_gradients(const AttentionPass& pass, Index layer, Index sentence, Index head) {
  const auto targets = targets_of(asked_, first_asked_ + sentence, layer, head);
  if (targets.empty()) return nullptr;
  std::fill(asked_gradients_, asked_gradients_ + pass.queries * pass.weights_row, 0.0f);
  for (const AttentionTarget& target : targets) {
    const float* row = pass.weights + target.query * pass.weights_row;
    float* to = asked_gradients_ + target.query * pass.weights_row;
    const float factor = target.weight * asked_scale_;
    const float share = factor / given(target, row);
    math_kernels().add(to, row, factor, pass.weights_row);
    for (Index key = target.first; key < target.end; ++key) to[key] -= row[key] * share;
  }
  return asked_gradients_;
}

void StackPass::norm_back(const NormOffsets& offsets, const NormPass& kept, const float* dy, float* dx, bool add) {
  math_kernels().norm_backward(kept, dy, dx, add, context_.gradients + offsets.scale,
                               offsets.shift < 0 ? nullptr : context_.gradients + offsets.shift);
}

/// The gradient of what a sublayer's last linear layer gave. In post-norm `dx` goes back through the norm first.
const float* StackPass::leave_back(const float* factors, const NormOffsets& norm, const NormPass& kept, float* dx) {
  if (!pre_) norm_back(norm, kept, dx, dx, false);
  if (!factors) return dx;
  std::copy(dx, dx + rows_ * d_, branch_);
  math_kernels().multiply(branch_, factors, rows_ * d_);
  return branch_;
}

/// Through a sublayer's first linear layer, `dinner` being the gradient of its output, into the stream.
void StackPass::enter_back(const LinearOffsets& offsets, const float* input, const float* dinner,
                           const NormOffsets& norm, const NormPass& kept, float* dx) {
  if (!pre_) return linear_backward(context_, offsets, input, dinner, rows_, dx, true);
  linear_backward(context_, offsets, input, dinner, rows_, branch_, false);
  norm_back(norm, kept, branch_, dx, true);
}

void StackPass::feed_forward_back(const BlockOffsets& offsets, const FeedForward& kept, float* dx) {
  const float* dy = leave_back(kept.output_factors, offsets.ffn_norm, kept.norm, dx);
  linear_backward(context_, offsets.down, kept.hidden, dy, rows_, wide_, false);
  math_kernels().multiply(wide_, kept.slope, rows_ * offsets.up.out);
  enter_back(offsets.up, kept.input, wide_, offsets.ffn_norm, kept.norm, dx);
}

void StackPass::attention_back(const AttentionOffsets& offsets, const NormOffsets& norm, const Attention& kept,
                               Index layer, float* dx, float* dmemory) {
  const bool cross = kept.remembered != nullptr;
  const Packed& others = cross ? *source_ : own_;
  const float* dy = leave_back(kept.output_factors, norm, kept.norm, dx);
  linear_backward(context_, offsets.output, kept.z, dy, rows_, inner_, false);
  Index at = 0;
  for (Index sentence = 0; sentence < own_.count(); ++sentence) {
    for (Index head = 0; head < heads_; ++head) {
      const AttentionPass pass = head_pass(kept, cross, sentence, head, at);
      AttentionPassGradients gradients{.z = inner_ + (pass.z - kept.z), .q = wide_ + (pass.q - kept.projected)};
      gradients.k = cross ? remembered_ + (pass.k - kept.remembered) : wide_ + (pass.k - kept.projected);
      gradients.v = cross ? remembered_ + (pass.v - kept.remembered) : wide_ + (pass.v - kept.projected);
      if (!cross) gradients.scores = asked_gradients(pass, layer, sentence, head);
      attention_backward(pass, gradients);
      at += pass.queries * pass.weights_row;
    }
  }
  if (cross) linear_backward(context_, offsets.memory, memory_, remembered_, others.rows(), dmemory, true);
  enter_back(offsets.projections, kept.input, wide_, norm, kept.norm, dx);
}

void StackPass::backward(float* dx, float* dmemory) {
  Index widest = 3 * width_;
  for (const BlockOffsets& offsets : offsets_.blocks) widest = std::max(widest, offsets.up.out);
  if (!branch_) branch_ = context_.arena.take(rows_ * d_);
  inner_ = context_.arena.take(rows_ * width_);
  wide_ = context_.arena.take(rows_ * widest);
  if (!asked_.empty())
    asked_gradients_ = context_.arena.take(own_.longest * rounded_up(own_.longest, kWeightsMultiple));
  if (source_) remembered_ = context_.arena.take(source_->rows() * 2 * width_);

  if (offsets_.final_norm.scale >= 0) norm_back(offsets_.final_norm, final_, dx, dx, false);
  for (std::size_t layer = blocks_.size(); layer-- > 0;) {
    const BlockOffsets& offsets = offsets_.blocks[layer];
    const Block& block = blocks_[layer];
    if (offsets.has_ffn) feed_forward_back(offsets, block.ffn, dx);
    if (offsets.has_cross) attention_back(offsets.cross, offsets.cross_norm, block.cross, -1, dx, dmemory);
    attention_back(offsets.self, offsets.attention_norm, block.self, static_cast<Index>(layer), dx, nullptr);
  }

  float* tokens = context_.gradients + network_.tokens;
  for (Index sentence = 0; sentence < own_.count(); ++sentence) {
    for (Index row = own_.start(sentence); row < own_.end(sentence); ++row) {
      const float* from = dx + row * d_;
      math_kernels().add(tokens + own_.ids[static_cast<std::size_t>(row)] * d_, from, network_.embedding_scale, d_);
      if (offsets_.positions < 0) continue;
      math_kernels().add(context_.gradients + offsets_.positions + (row - own_.start(sentence)) * d_, from, 1.0f, d_);
    }
  }
}

}  // namespace headlight
