// What patching would restore, to the first order, by one pass back; and patches of some of the parts beside it, so
// that the estimate can be judged.
#pragma once

#include <cstddef>
#include <vector>

#include "explain/patch/patching.h"

namespace headlight {

/// Parts whose effect the gradient estimates, and those of them that were patched.
struct PatchEstimate {
  std::vector<PatchCell> all = {};   // `restored` by the gradient
  PatchAnswer patched = {};          // the places with the largest estimates, and as many at random, by their places
  std::vector<std::size_t> at = {};  // of each of its cells: where it stands in `all`
  std::vector<bool> largest = {};    // … and whether it was patched for its estimate
};

/// What patch_answers() gives, to the first order: the gradient of the metric by the part, times what is put in minus
/// what is there (Nanda 2023, "Attribution Patching"; Kramár et al. 2024, "AtP*"), of all parts by one pass back. Then
/// the `most` largest and as many of the others at random are patched. Errors also: a rank, what has no gradient
/// (explain/gradients.h).
Result<PatchEstimate> estimate_patches(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, Index most,
                                       int threads = 0, Progress* progress = nullptr);

}  // namespace headlight
