// Why a query looks at a key: the score of one cell split over what wrote the residual stream at its two sides.
//
// A score is bilinear, scale·q·k, q and k are linear in what they are projected from (a norm of queries or keys is
// frozen, too, and a rotation is linear), and that is a sum over its writers (writers.h). So the score is exactly the
// sum over all pairs of a writer at the query and a writer at the key (Elhage et al. 2021, section on QK circuits).
// The biases of W_Q and W_K are part of `bias`. What the distance adds: a bias of the score is the pair relative ×
// relative; vectors that queries and keys are multiplied with (DeBERTa) give pairs of a writer and relative. What a
// finite mask adds is mask × mask.
//
// The terms are computed in doubles from what the pass stored in float32, so that their sum is the score up to the
// pass's rounding. A term is no cause: without its writer every norm would have another size.
#pragma once

#include <vector>

#include "base/result.h"
#include "explain/writers.h"

namespace headlight {

struct ScoreTerm {
  Writer query, key;
  double value = 0;
};

struct ScoreSplit {
  double score = 0;      // before the softmax, as the pass computed it; before the mask where that blocks the cell
  bool blocked = false;  // the mask blocks the cell
  double sum = 0;        // of the terms
  std::vector<Writer> queries, keys;  // all that stand at either side
  std::vector<ScoreTerm> terms;       // in the order of `queries`, then `keys`; pairs that do not exist are left out
};

/// The head and the cell must exist. Errors: attention that another program computed, scores under a soft cap, which is
/// not linear.
Result<ScoreSplit> split_score(const Trace& trace, const HeadRef& head, const CellRef& cell);

}  // namespace headlight
