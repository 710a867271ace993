// Any matrix of the computation as an array of an export, of all layers and heads together, and the maps that are
// derived from the weights.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

/// An Error about `--with` where a name stands for nothing in any model. Names: those of matrix_name()
/// (`embedding.positions`, `ffn.hidden`); a part of a model (`embedding`, `attention`, `head`, `ffn`, `block`, `end`,
/// `output`) for all its matrices that every layer has; `norms`, `rollout` and `gradient`.
Status check_matrix_names(const std::vector<std::string>& names);

/// The arrays that `options.matrices` names, under these names with the stack's prefix. Of heads (layers, heads, rows,
/// columns), in the order of the queries' heads; of layers (layers, rows, columns); of all others (rows, columns).
/// `norms` (layers, heads, queries, keys; 0 where blocked) as norm_maps(), `rollout` (layers, tokens, tokens) as
/// rollout_maps(), `gradient` (layers, heads, queries, 2) as scale_effect(): with the scale, and with the other; of
/// patterns from another program the first alone. Special tokens are left out as of other arrays; only attentions are
/// scaled. Errors: a matrix that not every layer of this answer has; one that is no head's where one head is wanted;
/// maps that cannot be computed. The trace must outlive the streams.
Result<std::vector<ArrayStream>> matrix_arrays(const Trace& trace, const ExportOptions& options);

}  // namespace headlight
