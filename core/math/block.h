// One layer: attention and feed-forward, each with its residual sum and norm.
#pragma once

#include <optional>
#include <string>

#include "base/parallel.h"
#include "math/forward.h"

namespace headlight {

/// A mask, and which cells of a thumbnail it blocks through and through.
struct ResolvedMask {
  std::shared_ptr<const Mask> mask;
  Matrix blocked;  // −1 or 0, as blocked_cells() gives them
};

/// What lines about a model with two stacks begin with; empty for a model with one.
std::string stack_name(const Model& model, Stack stack);

/// Refuses numbers that are not finite, naming where they are: an overflow is not drawn.
Status check_finite(const std::string& where, const Matrix& matrix, const Threads& threads);

/// Whether the mask leaves a query any key.
bool may_attend(const Mask& mask, Index query);

/// What messages call a mask: the stack's, or that of a layer that has its own.
std::string mask_name(Stack stack, std::optional<Index> own_layer = {});

/// The mask of one attention, or of one of its layers, which may have its own; Errors name one that does not fit its
/// sentence.
Result<ResolvedMask> resolve_mask(const Request& request, Stack stack, std::optional<Index> layer = {});

/// What the layers of one stack share while they run.
struct StackRun {
  const Request& request;
  const Model& model;
  const StackWeights& stack;
  const StackTrace* encoder = nullptr;  // what cross-attention reads
  const StackTrace* earlier = nullptr;  // an answer whose first rows are the same everywhere; null: none
  Index first = 0;                      // the row from which on they are to be computed
  ResolvedMask mask, cross_mask;        // of the layers that have none of their own
  Progress& progress;
  float share = 0;  // of the whole work that one attention adds to the progress
  Threads threads;
};

/// q, k or v of all heads: the projection, then each head's norm and rotation where the model has them. `x` (T, d_model),
/// whose first row stands at `first_place`.
Matrix project(const Linear& weights, const std::optional<NormWeights>& head_norm, const std::optional<Rotary>& rotary,
               const ConstMatrixRef& x, Index heads, const Threads& threads = {}, Index first_place = 0);

/// One attention of `query_input` (T, d) over `key_input`, `value_input` (S, d): projections and all heads into
/// `attention`, and what W_O makes of them, (T, d). Where an earlier answer lends its first rows the inputs are those of
/// the rows after them (but a cross-attention's keys and values), and so is the result. Empty when stopped; Errors name a
/// mask that does not fit, or where a number grew beyond what a float holds.
Result<std::optional<Matrix>> run_attention(const AttentionWeights& weights, Stack stack, Index layer,
                                            const ConstMatrixRef& query_input, const ConstMatrixRef& key_input,
                                            const ConstMatrixRef& value_input, const StackRun& run,
                                            AttentionTrace& attention);

/// One attention whose weights another program computed: only its mask and its weights can be changed. False when stopped.
Result<bool> run_patterns(const std::vector<Matrix>& patterns, Stack stack, Index layer, const StackRun& run,
                          AttentionTrace& attention);

/// What the feed-forward holds between its two layers: activation(up) or activation(gate)·up, (T, ffn).
Matrix ffn_hidden(const BlockWeights& weights, Activation activation, const ConstMatrixRef& input,
                  const Threads& threads = {});

/// One block over the residual stream `x` (T, d_model). Post-norm: x ← norm(x + f(x)); pre-norm: x ← x + f(norm(x))
/// (Xiong et al. 2020 compares the two). f: attention; in a decoder over an encoder's output, cross-attention; and the
/// feed-forward. An empty result when stopped.
Result<std::optional<BlockTrace>> run_block(const BlockWeights& weights, Stack stack, Index layer, const Matrix& x,
                                            const StackRun& run);

}  // namespace headlight
