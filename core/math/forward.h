// Request → Trace: the forward pass, block after block (math/reference.h computes one block in plain loops).
#pragma once

#include <memory>

#include "base/progress.h"
#include "base/result.h"
#include "math/patch.h"
#include "model/trace.h"

namespace headlight {

/// Computes the answer on up to `threads` threads (0: one for each processor). A null pointer: it was stopped. Results
/// that are the same in `previous`, an earlier answer, are copied from it: weights drawn from the same seed, the layers
/// below the first difference of the edits, leading rows. The result is the same to the bit with and without it, and
/// with any number of threads.
/// The numbers of patches replace computed ones; the answer's hidden states and logits follow from them, but what is
/// computed again from the answer (explain/matrices.h) ignores the patches.
/// Errors: a configuration no model can have, no tokens, a mask of the wrong shape, scores that are not finite.
/// Attention: softmax(Q·Kᵀ·scale + mask)·V per head, concatenated, times W_O (Vaswani et al. 2017, section 3.2).
Result<std::shared_ptr<const Trace>> forward(const Request& request, Progress& progress,
                                             const Trace* previous = nullptr, int threads = 0,
                                             const Patches* patches = nullptr);

/// The same without progress and without stopping.
Result<std::shared_ptr<const Trace>> forward(const Request& request);

}  // namespace headlight
