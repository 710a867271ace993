// A mask with an axis for the sentences of a batch or for the heads, and how it is stretched over what it masks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/mask.h"
#include "model/request.h"

namespace headlight {

/// The axes are (queries, keys, sentences) or (sentences, queries, keys), each whole or 1, or (heads, queries, keys) or
/// (sentences · heads, queries, keys). Which of them they are is known only where the mask meets a batch.
struct BatchMask {
  std::array<Index, 3> shape = {};
  std::vector<float> addends = {};  // of the scores; the last axis runs fastest
  bool sentences_first = false;     // it is known to be the second
  Index heads = 1;                  // of more than one the addends are (sentences, heads, queries, keys)

  friend bool operator==(const BatchMask&, const BatchMask&) = default;
};

/// Makes spec.batch, where there is one, the mask of one sentence: its part becomes spec.given. Where both orders of
/// the axes fit, (1, T, S) is taken as one mask for all sentences and any other as (queries, keys, sentences).
/// Where neither fits, equal masks one behind the other, as for the heads of each sentence, are that one, and others
/// are one for each of `heads` heads (of each sentence).
/// Error `where: …`: an axis is neither whole nor 1, or three whole axes fit in both orders.
Status give_own_mask(std::string_view where, MaskSpec& spec, Index queries, Index keys, Index sentences, Index sentence,
                     Index heads = 1);

/// A given mask as it lies over the scores.
struct StretchedMask {
  std::vector<Index> shape, whole;  // as it was given, and as it acts
  std::string axes;                 // a letter each: i queries, j keys, b sentences, h heads
  bool either = false;              // the axes fit in the other order too

  bool is_stretched() const { return shape != whole; }
};
/// Nothing where no mask was given. `spec` is that of a Request.
std::optional<StretchedMask> stretched_mask(const MaskSpec& spec, Index queries, Index keys);
/// The same of a layer's attention, whose mask is `mask`.
std::optional<StretchedMask> stretched_mask(const Request& request, Stack stack, Index layer, const Mask& mask);
/// "(queries, keys, sentences)".
std::string axes_in_words(const StretchedMask& mask);
/// "(1, 4, 4), broadcast to (2, 4, 4): axis 0, the sentences, is repeated 2 times".
std::string stretched_text(const StretchedMask& mask);
/// "queries", "keys", "sentences" or "heads".
std::string_view axis_name(char axis);
/// "(2, 4, 4)".
std::string axes_text(const std::vector<Index>& shape);

}  // namespace headlight
