// The matrices behind the last block of a stack, for the tests that ask all of an answer.
#pragma once

#include "explain/matrices.h"

namespace headlight {

/// In the order of the computation, with the logits of the main stack; those that equal another are left out.
inline std::vector<MatrixId> matrices_of_output(const Trace& trace, Stack stack) {
  std::vector<MatrixId> list;
  for (auto q = static_cast<int>(Quantity::final_norm_scale); q <= static_cast<int>(Quantity::probabilities); ++q) {
    const MatrixId id = matrix_id(static_cast<Quantity>(q), {.stack = stack});
    if (exists(trace, id) && origin(trace, id) == id) list.push_back(id);
  }
  return list;
}

}  // namespace headlight
