#include "train/network/linear_pass.h"

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

}  // namespace headlight
