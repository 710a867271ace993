// The feed-forward of a block: one, or for each token a few of several experts (math/reference.h, step 9).
#pragma once

#include "base/parallel.h"
#include "math/ops.h"
#include "model/weights.h"

namespace headlight {

/// The hidden activations of a feed-forward: activation(up) or activation(gate)·up, (T, ffn).
Matrix ffn_hidden(const Linear& gate, const Linear& up, Activation activation, const ConstMatrixRef& input,
                  const Threads& threads = {});

/// The weight of each expert for each token, (T, E): the softmax of the router's scores where the expert is one of the
/// chosen, else 0; of equal ones the first is chosen (Shazeer et al. 2017; Jiang et al. 2024, section 2.1).
Matrix routing(const Experts& experts, const ConstMatrixRef& input, const Threads& threads = {});

/// The weight of the shared expert, (T, 1); ones where it has no gate.
Matrix shared_weight(const Experts& experts, const ConstMatrixRef& input);

/// What one expert makes of its input, (T, d_model).
Matrix expert_output(const Experts::Expert& expert, Activation activation, const ConstMatrixRef& input,
                     const Threads& threads = {});

/// The feed-forward of a block, (T, d_model), in blocks of rows: the hidden activations are never in memory whole. What
/// it is where `threads.stop` became true meanwhile has no meaning.
Matrix feed_forward(const BlockWeights& block, Activation activation, const ConstMatrixRef& input,
                    const Threads& threads = {});

}  // namespace headlight
