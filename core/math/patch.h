// Activation patching: numbers of one answer replace those that a pass computes, and all later steps use them (Meng et
// al. 2022, "Locating and Editing Factual Associations in GPT", section 2; Wang et al. 2022, "Interpretability in the
// Wild", section 3).
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/matrix.h"
#include "base/names.h"
#include "model/head.h"

namespace headlight {

/// heads: z of a head, before W_O. residual: the stream after a block. ffn: what the feed-forward gives, before its
/// norm and the sum. pattern: the weights of a head, before they weigh the values. q, k, v: of a head, as they are
/// used.
enum class PatchAt { heads, residual, ffn, pattern, q, k, v };
inline constexpr std::string_view kPatchNames[] = {"heads", "residual", "ffn", "pattern", "q", "k", "v"};

inline std::string_view name(PatchAt at) { return name_in(kPatchNames, at); }

/// Of the keys' heads and tokens.
inline bool of_keys(PatchAt at) { return at == PatchAt::k || at == PatchAt::v; }

struct Patch {
  PatchAt at = PatchAt::heads;
  Stack stack = Stack::self;  // of residual and ffn not cross
  Index layer = 0;
  Index head = 0;                // of k and v one of the keys' heads; of residual and ffn without meaning
  std::vector<Index> rows = {};  // of which tokens; of a pattern, of which queries
  Matrix values = {};            // (rows, width of the activation)
};

/// All patches of one pass; no two replace the same numbers.
using Patches = std::vector<Patch>;

/// A patch of all rows of an activation.
inline Patch patch_of_rows(PatchAt at, const HeadRef& head, Matrix values) {
  Patch patch{.at = at, .stack = head.stack, .layer = head.layer, .head = head.head};
  for (Index row = 0; row < values.rows(); ++row) patch.rows.push_back(row);
  patch.values = std::move(values);
  return patch;
}

/// The lowest layer with a patch in any of several passes: of the encoder, or of the stack that answers with its
/// cross-attention. Nothing where there is none.
inline std::optional<Index> lowest_patch(const std::vector<Patches>& passes, bool of_encoder) {
  std::optional<Index> lowest;
  for (const Patches& patches : passes)
    for (const Patch& patch : patches)
      if ((patch.stack == Stack::encoder) == of_encoder) lowest = std::min(lowest.value_or(patch.layer), patch.layer);
  return lowest;
}

/// Puts the values into the rows of `target`, the activation: (T, width), or its rows from `skipped` on.
inline void put(const Patch& patch, MatrixRef target, Index skipped = 0) {
  for (std::size_t i = 0; i < patch.rows.size(); ++i)
    if (patch.rows[i] >= skipped) target.row(patch.rows[i] - skipped) = patch.values.row(static_cast<Index>(i));
}

}  // namespace headlight
