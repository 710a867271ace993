// Rows that stay the same when a sentence changes: under a causal mask, all rows before the first change.
#pragma once

#include "math/block.h"

namespace headlight {

/// How many of the first rows of every matrix of the decoder are the same, to the bit, in `previous` and in `trace`,
/// whose stack is about to run with `embedding` and the masks of `run`. At most all rows but one; 0 where the two
/// differ in the model or in the edits, or where a row may depend on later ones. Errors name a mask of a layer that has
/// the wrong shape.
Result<Index> common_rows(const Trace& previous, const Trace& trace, const Matrix& embedding, const StackRun& run);

/// How many of the first rows of the decoder stay the same when an answer is changed from this row on: at most so many.
Index rows_before(const Trace& trace, Index row);

/// The rows of each text of a batch without its first `skipped` ones.
Matrix last_rows(const Matrix& x, Index texts, Index skipped);

}  // namespace headlight
