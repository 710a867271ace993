// Every matrix of an answer that can be explained, for the tests that ask all of them.
#pragma once

#include <set>
#include <vector>

#include "asking.h"
#include "core/output_matrices.h"
#include "explain/matrices.h"

namespace headlight::reference {

/// Every matrix of an answer, those that are only handed through as well.
inline std::set<MatrixId> all_matrices(const Trace& trace) {
  std::set<MatrixId> all;
  const auto add = [&](const HeadRef& head) {
    for (int q = 0; q <= static_cast<int>(Quantity::probabilities); ++q) {
      const MatrixId id = matrix_id(static_cast<Quantity>(q), head);
      if (exists(trace, id)) all.insert(id);
    }
  };
  for_each_head(trace, add);
  return all;
}

/// What the lists for the window hold.
inline std::vector<MatrixId> listed_matrices(const Trace& trace) {
  std::vector<MatrixId> all;
  const auto append = [&](const std::vector<MatrixId>& list) { all.insert(all.end(), list.begin(), list.end()); };
  for (const Stack stack : {Stack::encoder, Stack::self}) {
    if (!trace.has(stack)) continue;
    append(matrices_of_embedding(trace, stack));
    append(matrices_of_output(trace, stack));
  }
  for_each_head(trace, [&](const HeadRef& h) { append(matrices_of(trace, h.stack, h.layer, h.head)); });
  return all;
}

}  // namespace headlight::reference
