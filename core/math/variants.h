// Many passes at once that differ from one answer in a few numbers each: what they have in common is taken from the
// answer, and from the layer of the lowest patch on their rows are one batch.
#pragma once

#include <functional>
#include <memory>
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

/// resample: those of each other sentence, one after another. mean: the mean of all their rows. position: at each
/// position the mean of their rows there (Wang et al. 2022, "Interpretability in the Wild", mean ablation).
enum class BaselineKind { resample, mean, position };

struct Baseline {
  std::vector<std::shared_ptr<const Trace>> others = {};  // empty: no baseline
  BaselineKind kind = BaselineKind::resample;

  bool given() const { return !others.empty(); }
};

/// What stands in place of `own`, (T, width), the part of an answer that `part_of` gives: one such matrix, of
/// resampling one for each other sentence. Rows that no other sentence has are those of `own`.
std::vector<Matrix> replacements(const Matrix& own, const Baseline& baseline,
                                 const std::function<Matrix(const Trace&)>& part_of);

/// An Error where a mean by position is asked for a position that no other sentence has.
Status check_baseline(const Baseline& baseline, const Trace& trace);

}  // namespace headlight
