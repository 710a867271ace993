#include "train/network/passes.h"

#include <algorithm>

namespace headlight {

float* Arena::take(Index size) {
  constexpr Index kLine = 16;  // floats of a cache line
  constexpr Index kBlock = Index{1} << 18;
  size = (size + kLine - 1) / kLine * kLine;
  if (blocks_.empty() || used_ + size > static_cast<Index>(blocks_.back().size())) {
    blocks_.emplace_back(static_cast<std::size_t>(std::max(size, kBlock)));
    used_ = 0;
  }
  float* at = blocks_.back().data() + used_;
  used_ += size;
  return at;
}

void Arena::reset() {
  used_ = 0;
  if (blocks_.size() <= 1) return;
  std::size_t all = 0;
  for (const Floats& block : blocks_) all += block.size();
  blocks_.clear();
  blocks_.emplace_back(all);
}

Packed packed(const Sentences& sentences, Index first, Index count) {
  Packed result;
  result.starts.push_back(0);
  for (Index sentence = first; sentence < first + count; ++sentence) {
    const Index length = sentences.lengths[static_cast<std::size_t>(sentence)];
    const auto from = sentences.ids.begin() + sentence * sentences.length;
    result.ids.insert(result.ids.end(), from, from + length);
    result.starts.push_back(result.starts.back() + length);
    result.longest = std::max(result.longest, length);
  }
  return result;
}

void linear_forward(const PassContext& context, const LinearOffsets& offsets, const float* x, Index x_row, Index rows,
                    float* y, bool add) {
  math_kernels().product({.size = {rows, offsets.out, offsets.in},
                          .a = {x, x_row},
                          .b = {context.transposed + offsets.weight, offsets.out},
                          .c = {y, offsets.out},
                          .bias = context.values_if(offsets.bias),
                          .add = add});
}

void linear_backward(const PassContext& context, const LinearOffsets& offsets, const float* x, const float* dy,
                     Index rows, float* dx, bool add) {
  static constexpr float kOne = 1.0f;
  const Index out = offsets.out, in = offsets.in;
  math_kernels().product({.size = {out, in, rows},
                          .a = {dy, 1, out},
                          .b = {x, in},
                          .c = {context.gradients + offsets.weight, in},
                          .add = !context.first});
  if (offsets.bias >= 0)  // the sums of dy's columns
    math_kernels().product({.size = {1, out, rows},
                            .a = {&kOne, 0, 0},
                            .b = {dy, out},
                            .c = {context.gradients + offsets.bias, out},
                            .add = !context.first});
  if (!dx) return;
  math_kernels().product(
      {.size = {rows, in, out}, .a = {dy, out}, .b = {context.values(offsets.weight), in}, .c = {dx, in}, .add = add});
}

void clear_added(const Network& network, float* gradients) {
  const Index d = network.config.d_model;
  const auto clear = [&](Index at, Index size) {
    if (at >= 0) std::fill(gradients + at, gradients + at + size, 0.0f);
  };
  const auto clear_norm = [&](const NormOffsets& norm) {
    clear(norm.scale, d);
    clear(norm.shift, d);
  };
  if (network.output_weight != network.tokens) clear(network.tokens, network.words * d);
  for (const StackOffsets* stack : {&network.encoder, &network.main}) {
    clear(stack->positions, network.longest * d);
    clear_norm(stack->final_norm);
    for (const BlockOffsets& block : stack->blocks)
      for (const NormOffsets& norm : {block.attention_norm, block.cross_norm, block.ffn_norm}) clear_norm(norm);
  }
}

namespace {

Index seen_keys(const AttentionPass& pass, Index query) {
  return pass.causal && query + 1 < pass.keys ? query + 1 : pass.keys;
}

}  // namespace

void attention_forward(const AttentionPass& pass) {
  const MathKernels& math = math_kernels();
  const Index size = pass.weights_row;
  math.transpose(pass.k, pass.k_row, pass.keys, pass.d_k, pass.scratch, size);
  math.product({.size = {pass.queries, size, pass.d_k},
                .a = {pass.q, pass.q_row},
                .b = {pass.scratch, size},
                .c = {pass.weights, size},
                .scale = pass.scale});
  for (Index i = 0; i < pass.queries; ++i) {
    float* row = pass.weights + i * size;
    const Index seen = seen_keys(pass, i);
    float largest, sum;
    math.softmax(row, seen, largest, sum);
    std::fill(row + seen, row + size, 0.0f);
  }
  const float* weights = pass.weights;
  if (pass.factors) {
    std::copy(pass.weights, pass.weights + pass.queries * size, pass.dropped);
    math_kernels().multiply(pass.dropped, pass.factors, pass.queries * size);
    weights = pass.dropped;
  }
  math.product({.size = {pass.queries, pass.d_k, pass.keys},
                .a = {weights, size},
                .b = {pass.v, pass.v_row},
                .c = {pass.z, pass.z_row}});
}

void attention_backward(const AttentionPass& pass, const AttentionPassGradients& gradients) {
  const MathKernels& math = math_kernels();
  const Index size = pass.weights_row;
  float* const scores = pass.scratch + pass.d_k * size;  // their gradients
  math.transpose(pass.v, pass.v_row, pass.keys, pass.d_k, pass.scratch, size);
  math.product({.size = {pass.queries, size, pass.d_k},
                .a = {gradients.z, pass.z_row},
                .b = {pass.scratch, size},
                .c = {scores, size}});
  if (pass.factors) math_kernels().multiply(scores, pass.factors, pass.queries * size);
  for (Index i = 0; i < pass.queries; ++i)
    math_kernels().softmax_backward(pass.weights + i * size, scores + i * size, size, pass.scale);
  if (gradients.scores) math_kernels().add(scores, gradients.scores, pass.scale, pass.queries * size);
  math.product({.size = {pass.queries, pass.d_k, pass.keys},
                .a = {scores, size},
                .b = {pass.k, pass.k_row},
                .c = {gradients.q, pass.q_row}});
  math.product({.size = {pass.keys, pass.d_k, pass.queries},
                .a = {scores, 1, size},
                .b = {pass.q, pass.q_row},
                .c = {gradients.k, pass.k_row}});
  math.product({.size = {pass.keys, pass.d_k, pass.queries},
                .a = {pass.factors ? pass.dropped : pass.weights, 1, size},
                .b = {gradients.z, pass.z_row},
                .c = {gradients.v, pass.v_row}});
}

}  // namespace headlight
