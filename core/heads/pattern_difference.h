// The attention of one head in two answers, cell beside cell: what the one gives and the other, and how far they
// differ.
#pragma once

#include <optional>

#include "heads/token_alignment.h"
#include "model/head.h"

namespace headlight {

/// The two sides of a pattern as two answers have them together.
struct JointAxes {
  JointAxis queries, keys;
};

/// Two patterns (R, C) on joint axes. NaN where an answer lacks the token of the row or of the column.
struct PatternPair {
  Matrix a, b;        // weights, −1 where blocked
  Matrix difference;  // B − A; a blocked weight counts as 0; −inf where both are blocked
};
/// `a` (T, S) and `b` (T', S'), −1 where blocked.
PatternPair pair_patterns(const Matrix& a, const Matrix& b, const JointAxes& axes);

/// How far two patterns differ, over what both have.
struct PatternDifference {
  float largest = 0;               // max |B − A|
  std::optional<CellRef> at = {};  // the first cell that has it, on the joint axes; nothing where no cell is in both
  float mean = 0;                  // mean |B − A| over cells that both have and that not both block
  float divergence = 0;            // mean over the rows of the Jensen–Shannon divergence
};

/// Rows that count for the divergence: tokens that both have, padding like any other, in which both give any weight.
/// Weights to keys that only one of them has count too, against 0: rows are compared over all joint keys, each scaled
/// to sum to 1. JS(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2 in nats, 0 … ln 2 (Lin 1991).
PatternDifference measure_difference(const PatternPair& pair);

/// Cells shrunk to at most `most` × `most`. Each shows the number farthest from zero of those it covers, −inf where all
/// of them that exist are blocked, NaN where none exists. Groups as in region_weights (math/attention.h).
Matrix shrunk_difference(const Matrix& difference, Index most);

}  // namespace headlight
