// How long the vectors are that a head adds to the output: a weight is the share of a value that is taken, and does not
// show how long that value is (Kobayashi et al. 2020). Of sentences of up to kThumbnail tokens.
#pragma once

#include <optional>
#include <vector>

#include "base/progress.h"
#include "heads/effective_weights.h"

namespace headlight {

/// Why an attention has no norms; nothing where it has.
std::optional<MapUnavailable> why_no_norms(const Trace& trace, Stack stack);

/// ‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖ with f(x) = (x W_V + b_V) W_O and the head's part of W_O; b_O belongs to no head
/// (Kobayashi et al. 2020, section 3). α: effective_weights(). (T, S) a head, in the order of heads_of(trace, stack);
/// −1 where blocked. Only where why_no_norms() has nothing. Nothing when stopped; the same to the bit with any number
/// of threads (0: one for each processor).
std::optional<std::vector<Matrix>> norm_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

}  // namespace headlight
