// Two sentences side by side: which token of the one is which of the other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/names.h"
#include "model/tokens.h"

namespace headlight {

/// A column of the alignment of two sentences: a token of both, or of one of them only.
struct JointToken {
  std::optional<Index> a, b;  // at least one

  bool in_both() const { return a && b; }
  friend bool operator==(const JointToken&, const JointToken&) = default;
};
using JointAxis = std::vector<JointToken>;

/// Which tokens of two sentences belong together: the same words, or those at the same positions (minimal pairs).
enum class Alignment { words, positions };
inline constexpr std::string_view kAlignments[] = {"words", "positions"};
inline std::string_view name(Alignment alignment) { return name_in(kAlignments, alignment); }

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
/// The same, or token i of the one with token i of the other; those of the longer one that are left stand at the end.
JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b, Alignment alignment);

}  // namespace headlight
