// Two sentences side by side: which token of the one is which of the other.
#pragma once

#include <optional>
#include <vector>

#include "base/matrix.h"
#include "model/tokens.h"

namespace headlight {

/// A column of the alignment of two sentences: a token of both, or of one of them only.
struct JointToken {
  std::optional<Index> a, b;  // at least one

  bool in_both() const { return a && b; }
  friend bool operator==(const JointToken&, const JointToken&) = default;
};
using JointAxis = std::vector<JointToken>;

/// The longest sentence that is aligned: the time is quadratic.
inline constexpr std::size_t kMostAligned = 512;

/// Whether two tokens are the same word, whatever their models call it: the same text, both or neither special, both or
/// neither padding; where neither has a text the same id.
bool same_word(const Token& a, const Token& b);

/// Every token of both sentences once and in its order; the same words in pairs, as many as can be (a longest common
/// subsequence), and of those ways one with the fewest gaps between neighbouring pairs, so that a phrase stays whole;
/// of equal ones the pairs that come first. Between two pairs the tokens of `a` stand before those of `b`. At most
/// kMostAligned tokens each.
JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b);

}  // namespace headlight
