// The results of each usual mistake: functions from what is known of a layer to the arrays that an implementation with
// that mistake would give. `found` is the layer of the suspected implementation; a mistake may take numbers from it
// that the believed file does not contain.
#pragma once

#include <optional>
#include <string>

#include "diagnose/variants.h"

namespace headlight {

struct Prediction {
  Heads values;           // one a head; of output a single one. NaN where the mistake leaves the cell open
  Index fitted = 0;       // how many numbers were taken from what was found
  std::string text = {};  // replaces the text of the hypothesis where it contains a number
};

namespace mistakes {

/// Nothing where too little is known, or where the mistake cannot be made.
using Maybe = std::optional<Prediction>;
inline constexpr std::nullopt_t kUnknown = std::nullopt;

inline Index count_rows(const Heads& heads) {
  return heads.empty() ? 0 : static_cast<Index>(heads.size()) * heads[0].rows();
}

inline bool same_shape(const Heads& a, const Heads& b) {
  return a.size() == b.size() && !a.empty() && a[0].rows() == b[0].rows() && a[0].cols() == b[0].cols();
}

// Scale and softmax.

/// Scores multiplied by factor, which leaves blocked cells blocked.
Maybe rescaled_by(const Known& known, double factor);
/// Scores multiplied by d_k^power.
Maybe rescaled_by_power_of_d_k(const Known& known, double power);
/// Scores multiplied by the factor that fits best.
Maybe rescaled_by_any(const Known& known, const Heads& found);
Maybe softmax_over_queries(const Known& known, const Heads& found);
Maybe softmax_over_heads(const Known& known, const Heads& found);
Maybe softmax_missing(const Known& known, const Heads& found);
/// Weights × {0, 1 / (1 − p)}.
Maybe dropout(const Known& known, const Heads& found);

// The mask. Without scores the weights that the believed mask hides are open, and the others keep their proportions.

/// Whether some cell is blocked.
bool has_mask(const Known& known);
Maybe mask_inverted(const Known& known, const Heads& found);
Maybe mask_transposed(const Known& known, const Heads& found);
Maybe mask_missing(const Known& known, const Heads& found);
/// Of a mask that is causal and hides padding, one of the two.
Maybe one_mask_missing(const Known& known, const Heads& found, bool padding);
/// Every query's last key moved by one, up or down.
Maybe mask_off_by_one(const Known& known, const Heads& found, Index by);
/// No token attends to itself, under a mask that is not causal.
Maybe diagonal_blocked(const Known& known, const Heads& found);
/// softmax without the mask, times the mask.
Maybe mask_after_softmax(const Known& known, const Heads& found);
/// A large number masks in place of −inf, which shows where a row may attend to nothing: its weights are equal.
Maybe empty_rows_even(const Known& known);
/// Blocked scores are 0 in place of −inf.
Maybe blocked_scores_zero(const Known& known, const Heads& found);

// Heads and projections.

Maybe heads_permuted(const Known& known, const Heads& found);
/// The mean of all heads, as one pattern or as that of every head.
Maybe heads_averaged(const Known& known, const Heads& found);
/// Queries and keys dealt out to heads in another way.
Maybe heads_split(const Known& known, HeadSplit how);
Maybe query_and_key_swapped(const Known& known, const Heads& found);
/// Attention with slips in the projections of query and key.
Maybe projected_with(const Known& known, Slip of_query, Slip of_key);

/// One of the three projections, by itself.
struct ProjectionRole {
  const char* name;
  Grid Known::*projected;
  Grid LayerInputs::*input;
  reference::LinearLayer LayerInputs::*projection;
  Index Known::*num_heads;
};
inline constexpr ProjectionRole kQuery{"query", &Known::query, &LayerInputs::query, &LayerInputs::query_proj,
                                       &Known::num_heads};
inline constexpr ProjectionRole kKey{"key", &Known::key, &LayerInputs::key, &LayerInputs::key_proj,
                                     &Known::num_kv_heads};
inline constexpr ProjectionRole kValue{"value", &Known::value, &LayerInputs::value, &LayerInputs::value_proj,
                                       &Known::num_kv_heads};

Maybe side_with(const Known& known, const ProjectionRole& side, Slip slip);
Maybe side_split(const Known& known, const ProjectionRole& side, HeadSplit how);
/// Already multiplied by 1/sqrt(d_k).
Maybe query_scaled(const Known& known);

// The output, from the believed weights.

/// z through the output projection, with a slip.
Maybe output_with(const Known& known, Slip slip);
Maybe output_with_values(const Known& known, const Maybe& values);
/// The output that these weights lead to.
Maybe output_with_weights(const Known& known, const Heads& weights);
/// z (H, T, d_v) read on as (T, H·d_v) without swapping its first two axes.
Maybe heads_not_brought_together(const Known& known);
/// Weightsᵀ·values.
Maybe weights_transposed(const Known& known);

}  // namespace mistakes
}  // namespace headlight
