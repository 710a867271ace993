// Many passes at once that differ from one answer in a few numbers each: what they have in common is taken from the
// answer, and from the layer of the lowest patch on their rows are one batch.
#pragma once

#include <optional>
#include <vector>

#include "math/forward.h"

namespace headlight {

/// The last hidden states of `base` with the patches of each variant: of variant i the queries from `first`
/// on, (n·(T − first), d_model) one variant below the other. Every row is the same to the bit as that of forward()
/// with these patches, with any number of threads. Each variant has a patch, and the answer is that of a model with
/// blocks. Fills progress.share. Nothing when stopped. Errors: numbers that are not finite.
Result<std::optional<Matrix>> forward_variants(const Trace& base, const std::vector<Patches>& variants, Index first,
                                               Progress& progress, int threads = 0);

/// How many of so many variants should be one batch: few enough for their rows to stay in the cache.
Index variants_at_once(const Trace& base, Index variants);

}  // namespace headlight
