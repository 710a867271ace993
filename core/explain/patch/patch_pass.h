// What activation patching and path patching share: a pass, what is put into it, and the metric that is read from it.
#pragma once

#include <vector>

#include "explain/patch/patching.h"

namespace headlight {

/// The pass that is patched, what is put into it, and what is read from it.
struct Patching {
  const Trace& base;
  const Trace& source;
  PatchWanted wanted;  // a pair: a token of `source`, a token of `base`
  PatchMetric metric;
  double begin = 0, end = 0;  // the metric of the base and of the source, on its scale
  Index query = 0;            // of the base
  int threads = 0;
  Progress& progress;
  std::size_t passes = 1, done = 0;  // that fill progress.share, and those of them that are done

  double restored(double value) const { return (on_scale(metric.metric, value) - begin) / (end - begin); }
};

/// The two passes in their direction, with the metric; `answer` receives its words and ends. Errors: those of
/// patch_answers.
Result<Patching> patching_of(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads,
                             Progress& progress, PatchAnswer& answer);

/// The values of the source's tokens in the rows of the base's.
Patch patch_of_pairs(PatchAt at, const HeadRef& head, const Matrix& values, const TokenPairs& pairs);

/// The numbers of one part of an answer, all tokens.
Matrix part_of(const Trace& trace, PatchAt at, const HeadRef& head);

/// Whether these two answers have the part.
Status check_part(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted);

/// A cell and the patch that makes it.
struct CellPatch {
  PatchCell cell = {};
  Patch patch = {};
};
/// Every part that is wanted, in order, with the source's numbers.
Result<std::vector<CellPatch>> cell_patches_of(const Patching& patching, const PatchWanted& wanted);
/// Fills in what the patched parts restore, layer by layer, in batches.
Status restore(Patching& patching, const std::vector<CellPatch>& cells, PatchAnswer& answer);

/// What each of the variants restores, all of them one batch, which is so many of the passes. Errors: numbers that are
/// not finite; that it was stopped.
Result<std::vector<double>> restored_by(Patching& patching, const std::vector<Patches>& variants);

}  // namespace headlight
