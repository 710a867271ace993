// Which numbers of a matrix a change of the question moved: two answers compared cell by cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/matrices.h"

namespace headlight {

/// How a change of one word spreads: which rows of a matrix move where one row of its operands has moved.
enum class Spread {
  none,       // learned, looked up or given
  own_row,    // projections, norms, sums, the feed-forward: the same row alone
  cross,      // q·kᵀ up to the scores: its row and its column
  whole_row,  // softmax: all weights of every row in which a score moved
  attention,  // weights·v: every row that looks at the word
};
Spread spread_of(Quantity quantity);

/// The token in which two questions differ, before and after.
struct ChangedWord {
  std::string from, to;
};
/// Nothing where they differ in none, in more than one, or in anything else.
std::optional<ChangedWord> changed_word(const Request& a, const Request& b);

/// Whether both answers have the matrix, and it has as many rows and columns in both.
bool can_compare(const Trace& a, const Trace& b, const MatrixId& id);

/// Rows [first, first + count): 1 where the two answers' numbers differ in any bit, else 0. NaN equals NaN. The matrix
/// can be compared.
Matrix moved_cells(const Trace& a, const Trace& b, const MatrixId& id, Index first, Index count);

/// Rows of these in which any number moved, ascending.
std::vector<Index> moved_rows(const Matrix& moved_cells);

}  // namespace headlight
