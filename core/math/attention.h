// One head of attention: weights = softmax(q·kᵀ·scale + mask), z = weights·v (math/reference.h, steps 3 to 6), in
// blocks of rows, so that no pattern is ever in memory whole. The window, exports and thumbnails call the same
// functions, in which a row does not depend on the rows computed with it: the same cell is the same float everywhere.
#pragma once

#include <atomic>

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// Rows are computed so many at a time.
inline constexpr Index kRowBlock = 48;

/// scores → weights in the same memory, row by row: exp(s − max) / Σ exp(s − max). A row of −inf becomes a row of
/// zeros; NaN or +inf anywhere in a row makes its sum NaN. `row_max` and `row_sum` (R) receive the row's two numbers.
void softmax_rows(MatrixRef scores, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum);

/// Scores of one head for queries [first, first + count): q·kᵀ·scale + relative bias + mask, (count, S). −inf where
/// blocked. Of a pattern that another program computed: the logarithms of its weights.
Matrix score_rows(const Trace& trace, const HeadRef& head, Index first, Index count);

/// Weights of one head for queries [first, first + count), (count, S): softmax, then dropout, then weights set by hand.
Matrix attention_rows(const Trace& trace, const HeadRef& head, Index first, Index count);

/// z of the same queries: those weights times the values, (count, d_v); their mean over all queries, or zeros, where
/// the head is off.
Matrix z_rows(const Trace& trace, const HeadRef& head, Index first, Index count);

/// The same weights before dropout and before weights set by hand.
Matrix softmax_of_rows(const Trace& trace, const HeadRef& head, Index first, Index count);
Matrix softmax_of_rows(const AttentionTrace& attention, Index head, Index first, Index count);

/// Replaces the z (T, d_v) of a head that is off: by zeros, or by the mean of its rows.
void switch_off(OffAs as, MatrixRef z);

/// The factor of a weight: 0 with probability `edits.dropout`, else 1 / (1 − dropout) (Srivastava et al. 2014). A
/// function of the seed, the head and the cell alone.
float dropout_factor(const Edits& edits, const HeadRef& head, Index query, Index key);

/// Runs one head over all queries: fills its columns of attention.z and its HeadTrace from query, key and value.
/// `blocked` is blocked_cells() of all its cells. Where `earlier` is not null, its first `first_row` rows are the
/// same, and its results for them are copied. False when `stop` became true meanwhile.
bool run_head(const HeadRef& head, const Edits& edits, const Matrix& blocked, AttentionTrace& attention,
              const std::atomic<bool>& stop, const AttentionTrace* earlier = nullptr, Index first_row = 0);

/// A rectangle of a head's pattern.
struct Region {
  HeadRef head = {};
  Index first_query = 0, num_queries = 0;
  Index first_key = 0, num_keys = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

/// The weights of a region, shrunk to at most `most` × `most` cells; a shrunk cell shows the largest weight of those it
/// covers (max-pooling), of a signed answer the number farthest from 0, and −1 (−inf) where all of them are blocked. An
/// empty matrix when `stop` became true. Cell (i, j) of (r, c) covers rows [i·R/r, (i+1)·R/r) and columns
/// [j·C/c, (j+1)·C/c) of the region's R × C.
Matrix region_weights(const Trace& trace, const Region& region, Index most, const std::atomic<bool>& stop);

/// Whether another program's weight there is NaN. It counts as 0 and is shown as blocked cells are.
bool is_missing(const Trace& trace, const HeadRef& head, const CellRef& cell);

/// −1 where every cell of the group is blocked in the region's head, 0 elsewhere; groups as in region_weights.
Matrix blocked_cells(const Mask& mask, const Region& region, Index most);

}  // namespace headlight
