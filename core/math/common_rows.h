// What a changed sentence leaves as it was: under a causal mask, everything before the first change.
#pragma once

#include "math/block.h"

namespace headlight {

/// How many of the first rows of every matrix of the decoder are the same, to the bit, in `trace`, whose stack is to be
/// run with `embedding` and the masks of `run`, as in `previous`. At most one less than there are; 0 where the two are not
/// of one model, are edited in different ways, or where a row may depend on later ones. Errors name a mask of a layer
/// that does not fit.
Result<Index> common_rows(const Trace& previous, const Trace& trace, const Matrix& embedding, const StackRun& run);

}  // namespace headlight
