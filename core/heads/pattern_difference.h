// The attention of one head in two answers, cell beside cell: which token of the one is which of the other, what the
// one gives and the other, and how far they differ.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/names.h"
#include "model/head.h"
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

/// The two sides of a pattern as two answers have them together.
struct JointAxes {
  JointAxis queries, keys;
};

/// Two patterns (R, C) on joint axes. NaN where an answer lacks the token of the row or of the column.
struct PatternPair {
  Matrix a, b;                        // weights, −1 where blocked
  Matrix difference;                  // B − A; a blocked weight counts as 0; −inf where both are blocked
  Vector rests_a = {}, rests_b = {};  // (R) what each row gives to keys that have no column
};
/// `a` (T, S) and `b` (T', S'), −1 where blocked; `rests_a` (T) and `rests_b` (T'), or empty: each row's weight on keys
/// that are folded away.
PatternPair pair_patterns(const Matrix& a, const Matrix& b, const JointAxes& axes, const Vector& rests_a = {},
                          const Vector& rests_b = {});

/// How far two patterns differ, over what both have.
struct PatternDifference {
  float largest = 0;               // max |B − A|
  std::optional<CellRef> at = {};  // the first cell that has it, on the joint axes; nothing where no cell is in both
  float mean = 0;                  // mean |B − A| over cells that both have and that not both block
  float divergence = 0;            // mean over the rows of the Jensen–Shannon divergence
};

/// Rows that count for the divergence: tokens that both have, padding like any other, in which both give any weight.
/// Weights to keys that only one of them has count too, against 0, and those without a column as one key: rows are
/// compared over all joint keys, each scaled to sum to 1. JS(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2 in nats, 0 …
/// ln 2 (Lin 1991).
PatternDifference measure_difference(const PatternPair& pair);

/// Cells shrunk to at most `most` × `most`. Each shows the number farthest from zero of those it covers, −inf where all
/// of them that exist are blocked, NaN where none exists. Groups as in region_weights (math/attention.h).
Matrix shrunk_difference(const Matrix& difference, Index most);

}  // namespace headlight
