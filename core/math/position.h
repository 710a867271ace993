// Where a token stands in the sentence, added to what it is.
#pragma once

#include "base/matrix.h"

namespace headlight {

/// (T, d_model): sin(pos / 10000^(2i/d)) in column 2i, the cosine in column 2i + 1
/// (Vaswani et al. 2017, section 3.5).
Matrix sinusoidal_positions(Index tokens, Index d_model);

}  // namespace headlight
