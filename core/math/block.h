// One block: attention and feed-forward, each with its residual sum and norm (math/reference.h, steps 6, 9 and 10).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/parallel.h"
#include "math/forward.h"

namespace headlight {

/// A mask, and the cells of a thumbnail that it blocks completely.
struct ResolvedMask {
  std::shared_ptr<const Mask> mask;
  std::vector<Matrix> blocked;  // −1 or 0, as blocked_cells() gives them, of each head that has a mask of its own

  const Matrix& blocked_of(Index head) const { return blocked[blocked.size() == 1 ? 0 : std::size_t(head)]; }
};

/// The prefix of messages about a stack of a model with two stacks; empty for a model with one.
std::string stack_name(const Model& model, Stack stack);

/// An Error that names the matrix where its numbers are not all finite.
Status check_finite(const std::string& where, const Matrix& matrix, const Threads& threads);

/// Whether a query may attend to any key.
bool may_attend(const Mask& mask, Index query);

/// The name of a mask in messages: that of the stack or of the layer.
std::string mask_name(Stack stack, std::optional<Index> own_layer = {});

/// The mask of one attention, or of one of its layers, which may have another one. Errors name one that does not fit
/// its sentence.
/// `own_window` is that of the layer's weights.
Result<ResolvedMask> resolve_mask(const Request& request, Stack stack, std::optional<Index> layer = {},
                                  Index own_window = 0);

/// Data that the layers of one stack share while they run.
struct StackRun {
  const Request& request;
  const Model& model;
  const StackWeights& stack;
  const StackTrace* encoder = nullptr;         // what cross-attention reads
  const StackTrace* earlier = nullptr;         // an answer whose first rows are the same in every layer; null: none
  Index first = 0;                             // the number of those rows: computation starts here
  ResolvedMask mask, cross_mask;               // of the layers without another mask
  std::map<Index, ResolvedMask> windows = {};  // instead of `mask` for layers with a window of so many tokens
  Progress& progress;
  float share = 0;  // what one attention adds to Progress::done
  Threads threads;
  // The patches of a batch of texts: each text computes the request with its patches, and their rows from `first` on
  // lie one text below the other, or once where they are the same in all. Null: one text, no patch.
  const std::vector<Patches>* variants = nullptr;
  Index asked = 0;  // of the last layer: earlier queries are not wanted, and their rows are left out of its output

  Index texts() const { return variants ? static_cast<Index>(variants->size()) : 1; }
};

/// What the layers of a stack share. Errors: a mask that does not fit its sentence.
Result<StackRun> stack_run(const Request& request, const Model& model, const StackWeights& weights, Stack stack,
                           const StackTrace* encoder, Progress& progress, const Threads& threads);

/// The mask of a layer: that of its edit, which is stored in `own`, else that of its window, else the stack's.
Result<const ResolvedMask*> mask_of(const StackRun& run, Stack stack, Index layer, std::optional<ResolvedMask>& own);

/// q, k or v of all heads: the projection, then each head's norm and rotation where the model has them. `x` (T,
/// d_model), whose first row has position `first_position`; several texts one below the other.
Matrix project(const Linear& weights, const std::optional<NormWeights>& head_norm, const Rotary* rotary,
               const ConstMatrixRef& x, Index heads, const Threads& threads = {}, Index first_position = 0,
               Index texts = 1);

/// One attention of `query_input` (T, d) over `key_input`, `value_input` (S, d): projections and all heads into
/// `attention`; returns the output z·W_Oᵀ, (T, d). With an earlier answer, the inputs and the result are those of the
/// rows from run.first on (the keys and values of a cross-attention: of all rows). Of a batch (run.variants) these rows
/// of all texts; the first `skipped` queries of each are missing. Empty when stopped. Errors: a mask
/// of the wrong shape, numbers that are not finite.
Result<std::optional<Matrix>> run_attention(const AttentionWeights& weights, Stack stack, Index layer,
                                            const ConstMatrixRef& query_input, const ConstMatrixRef& key_input,
                                            const ConstMatrixRef& value_input, const StackRun& run,
                                            AttentionTrace& attention, Index skipped = 0);

/// One attention whose weights another program computed: only its mask and its weights can be changed. False when
/// stopped.
Result<bool> run_patterns(const std::vector<Matrix>& patterns, Stack stack, Index layer, const StackRun& run,
                          AttentionTrace& attention);

/// One block over the residual stream `x` (T, d_model). Post-norm: x ← norm(x + f(x)); pre-norm: x ← x + f(norm(x))
/// (Xiong et al. 2020 compares the two); f(x) is normed too where the block states it. f: attention; in a decoder over
/// an encoder's output, cross-attention; and the feed-forward. An empty result when stopped.
Result<std::optional<BlockTrace>> run_block(const BlockWeights& weights, Stack stack, Index layer, const Matrix& x,
                                            const StackRun& run);

}  // namespace headlight
