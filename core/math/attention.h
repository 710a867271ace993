// Scaled dot-product attention, in blocks of rows, so that no pattern is ever held whole.
// Whoever needs weights — the window, an export, a thumbnail — gets them from the same function over the same blocks,
// so that the same cell is the same float everywhere.
#pragma once

#include <atomic>

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// Rows are computed in blocks that start at multiples of this.
inline constexpr Index kRowBlock = 64;

/// scores → weights in place, row by row: exp(s − max) / Σ exp(s − max). A row of −inf becomes a row of zeros;
/// NaN or +inf anywhere in a row makes its sum NaN. `row_max` and `row_sum` (R) receive the row's two numbers.
void softmax_rows(MatrixRef scores, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum);

/// Scores of one head for queries [first, first + count): q·kᵀ·scale + mask, (count, S). −inf where blocked.
Matrix score_rows(const Trace& trace, Index layer, Index head, Index first, Index count);

/// Attention weights of one head for queries [first, first + count), (count, S).
Matrix attention_rows(const Trace& trace, Index layer, Index head, Index first, Index count);

/// Runs one head over all queries: fills its columns of attention.z and its HeadTrace from query, key and value.
/// `blocked` is blocked_cells() of the whole pattern. False when `stop` became true on the way.
bool run_head(const Mask& mask, float scale, Index head, Index num_heads, const Matrix& blocked,
              AttentionTrace& attention, const std::atomic<bool>& stop);

/// A rectangle of a head's pattern.
struct Region {
  Index layer = 0, head = 0;
  Index first_query = 0, num_queries = 0;
  Index first_key = 0, num_keys = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

/// The weights of a region, shrunk to at most `most` × `most` cells; a shrunk cell shows the largest weight of those it
/// covers, so that nothing bright is lost, and −1 where all of them are blocked. An empty matrix when `stop` became
/// true. Cell (i, j) of (r, c) covers rows [i·R/r, (i+1)·R/r) and columns [j·C/c, (j+1)·C/c) of the region's R × C.
Matrix region_weights(const Trace& trace, const Region& region, Index most, const std::atomic<bool>& stop);

/// −1 where every cell of the group is blocked, 0 elsewhere; groups as in region_weights. Layer and head are ignored.
Matrix blocked_cells(const Mask& mask, const Region& region, Index most);

}  // namespace headlight
