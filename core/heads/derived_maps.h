// Two other readings of the same attention. A weight says how much of a word is taken, not how much there is to take
// (Kobayashi et al. 2020); and a layer's weights are between what the layers below made of the words, not between the
// words themselves (Abnar & Zuidema 2020). Both are made of the thumbnails, which are the patterns of sentences of up
// to kThumbnail tokens: weights after mask, dropout and those set by hand.
//
// A head that is switched off hands on nothing, or at every query the mean of its z over all queries (Edits::off_as),
// that is, the values weighted by the mean of its rows: that stands in place of its weights here.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "math/forward.h"

namespace headlight {

/// What stands in the way of a reading.
enum class MapUnavailable {
  no_values,      // weights that another program computed, without the vectors that they weigh
  two_sequences,  // queries and keys are different words, so that layers do not follow one another
  too_long,       // more than kThumbnail tokens: the patterns are not kept
};

/// In a few words, for messages.
std::string_view name(MapUnavailable why);

/// Why an attention of the answer cannot be read by its norms, or rolled out; nothing where it can.
std::optional<MapUnavailable> why_no_norms(const Trace& trace, Stack stack);
std::optional<MapUnavailable> why_no_rollout(const Trace& trace, Stack stack);

/// How long the vectors are that each head adds: ‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖ with f(x) = (x W_V + b_V) W_O and the
/// head's own part of W_O; b_O belongs to no head (Kobayashi et al. 2020, section 3). (T, S) a head, in the order of
/// heads_of(trace, stack); −1 where blocked, as thumbnails have it. To be asked where why_no_norms has nothing. Nothing
/// when stopped; the same to the bit with any number of threads (0: one for each processor).
std::optional<std::vector<Matrix>> norm_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

/// How much of each input word is in each word's vector above a layer, were the heads all that mixes them: the product
/// A_l ⋯ A_0 of A = ½ mean of the heads + ½ I, each row divided by its sum (Abnar & Zuidema 2020, section 3). (T, T) a
/// layer, each row sums to 1; cells that are blocked are as they fall out of the product. To be asked where
/// why_no_rollout has nothing. Nothing when stopped; the same to the bit with any number of threads.
std::optional<std::vector<Matrix>> rollout_maps(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

}  // namespace headlight
