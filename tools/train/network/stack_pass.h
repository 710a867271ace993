// One stack over some sentences, forward and backward; forward stores what backward needs.
#pragma once

#include <span>

#include "train/network/gradients.h"
#include "train/network/passes.h"

namespace headlight {

class StackPass {
 public:
  /// `source`: the sentences with the hidden states that cross-attention reads; null where there is none. `causal`: of
  /// the self-attention.
  StackPass(const PassContext& context, const StackOffsets& offsets, const Packed& own, const Packed* source,
            bool causal);

  /// The last hidden states (rows, d_model). `memory` (rows of the source, d_model).
  const float* forward(const float* memory = nullptr);

  /// Adds the loss of the attention weights of taught heads to `loss`. `targets`: those of the stack's sentences, of
  /// which the first is `first_sentence`; `scale`: the factor of their gradients. Between forward() and backward(),
  /// which then includes these gradients.
  void ask_attention(std::span<const AttentionTarget> targets, Index first_sentence, float scale, Loss& loss);

  /// `dx` (rows, d_model), the gradient of those, is overwritten. `dmemory` accumulates.
  void backward(float* dx, float* dmemory = nullptr);

 private:
  struct Attention {
    const float* input = nullptr;  // (rows, d)
    float* projected = nullptr;    // q, k and v side by side, or q alone
    float* remembered = nullptr;   // k and v of the memory
    float *weights = nullptr, *factors = nullptr, *dropped = nullptr;
    float* z = nullptr;  // (rows, H·d_k)
    float* output_factors = nullptr;
    NormPass norm;
  };
  struct FeedForward {
    const float* input = nullptr;
    float *hidden = nullptr, *slope = nullptr;
    float* output_factors = nullptr;
    NormPass norm;
  };
  struct Block {
    Attention self, cross;
    FeedForward ffn;
  };

  float* embed();
  const float* enter(const NormOffsets& norm, float*& x, NormPass& kept);
  void leave(const LinearOffsets& output, const float* inner, const NormOffsets& norm, float*& x, float*& factors,
             NormPass& kept);
  NormPass norm_pass(const NormOffsets& offsets);
  void run_attention(const AttentionOffsets& offsets, const float* memory, Attention& kept);
  /// `layer`: of the self-attention; −1 of its cross-attention.
  void attention_back(const AttentionOffsets& offsets, const NormOffsets& norm, const Attention& kept, Index layer,
                      float* dx, float* dmemory);
  void feed_forward_back(const BlockOffsets& offsets, const FeedForward& kept, float* dx);
  const float* leave_back(const float* factors, const NormOffsets& norm, const NormPass& kept, float* dx);
  void enter_back(const LinearOffsets& offsets, const float* input, const float* dinner, const NormOffsets& norm,
                  const NormPass& kept, float* dx);
  void norm_back(const NormOffsets& offsets, const NormPass& kept, const float* dy, float* dx, bool add);
  AttentionPass head_pass(const Attention& kept, bool cross, Index sentence, Index head, Index weights_at) const;
  float* dropout_mask(Index size);
  const float* asked_gradients(const AttentionPass& pass, Index layer, Index sentence, Index head);

  const PassContext& context_;
  const Network& network_;
  const StackOffsets& offsets_;
  const Packed& own_;
  const Packed* source_;
  bool causal_, pre_;
  Index rows_, d_, heads_, d_k_, width_;  // width_: H·d_k
  std::uint64_t masks_ = 0;               // of dropout, drawn so far
  std::vector<Block> blocks_;
  NormPass final_;
  const float* memory_ = nullptr;
  std::span<const AttentionTarget> asked_;
  Index first_asked_ = 0;
  float asked_scale_ = 0;
  float* asked_gradients_ = nullptr;  // of the scores of one head in one sentence
  float *scratch_ = nullptr, *branch_ = nullptr, *inner_ = nullptr, *wide_ = nullptr, *remembered_ = nullptr;
};

}  // namespace headlight
