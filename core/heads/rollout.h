// Attention rollout (Abnar & Zuidema 2020): the weights of a layer are between what the layers below made of the words;
// their product is between the words themselves. Of sentences of up to kThumbnail tokens.
#pragma once

#include <optional>
#include <vector>

#include "base/progress.h"
#include "heads/effective_weights.h"

namespace headlight {

/// Why an attention cannot be rolled out; nothing where it can.
std::optional<MapUnavailable> why_no_rollout(const Trace& trace, Stack stack);

/// How much of each input word is in each word's vector above a layer, if the heads alone mixed them: the product
/// A_l ⋯ A_0 of A = ½ mean of the heads + ½ I, each row divided by its sum (Abnar & Zuidema 2020, section 3). Weights:
/// effective_weights(). (T, T) a layer, each row sums to 1; blocked cells have what the product gives them. Only where
/// why_no_rollout() has nothing. Nothing when stopped; the same to the bit with any number of threads.
std::optional<std::vector<Matrix>> rollout_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

}  // namespace headlight
