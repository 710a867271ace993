// Maps that are computed from the weights: attention rollout, and how long the vectors are that a head adds to the
// output, since a weight is the share of a value, not its length. Of sentences of up to kThumbnail tokens, from the
// thumbnails, after mask, dropout and edits by hand. A head that is off passes on nothing, or at every query the mean
// of its z over all queries (Edits::off_as), that is the values weighted by the mean of its rows.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "model/trace.h"

namespace headlight {

/// Why a map that is derived from the weights cannot be computed.
enum class MapUnavailable {
  no_values,      // weights that another program computed, without the values that they weigh
  two_sequences,  // queries and keys are different words, so the layers do not follow one another
  below_zero,     // numbers below 0 are no shares
  too_long,       // more than kThumbnail tokens: the patterns are not stored
};

/// In a few words, for messages.
std::string_view name(MapUnavailable why);

/// Whether the patterns of an attention are longer than the thumbnails.
bool is_too_long(const Trace& trace, Stack stack);

/// (T, S), −1 where blocked: the head's weights, or what stands in for them while it is off.
Matrix effective_weights(const Trace& trace, const HeadRef& head);

/// Why an attention has no norms; nothing where it has.
std::optional<MapUnavailable> why_no_norms(const Trace& trace, Stack stack);

/// ‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖ with f(x) = (x W_V + b_V) W_O and the head's part of W_O; b_O belongs to no head
/// (Kobayashi et al. 2020, section 3). α: effective_weights(). (T, S) a head, in the order of heads_of(trace, stack);
/// −1 where blocked. Only where why_no_norms() has nothing. Nothing when stopped; the same to the bit with any number
/// of threads (0: one for each processor).
std::optional<std::vector<Matrix>> norm_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

/// Why an attention cannot be rolled out; nothing where it can.
std::optional<MapUnavailable> why_no_rollout(const Trace& trace, Stack stack);

/// How much of each input word is in each word's vector above a layer, if the heads alone mixed them: the product
/// A_l ⋯ A_0 of A = ½ mean of the heads + ½ I, each row divided by its sum (Abnar & Zuidema 2020, section 3). Weights:
/// effective_weights(). (T, T) a layer, each row sums to 1; blocked cells have what the product gives them. Only where
/// why_no_rollout() has nothing. `only`: these heads of the stack, and the layers with one of them; none: all. Nothing
/// when stopped; the same to the bit with any number of threads.
std::optional<std::vector<Matrix>> rollout_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0,
                                                const std::vector<HeadRef>& only = {});

}  // namespace headlight
