// The circuits of heads as arrays (heads/circuits.h).
#pragma once

#include <string_view>
#include <vector>

#include "write/arrays.h"

namespace headlight {

/// Circuits over words are written for models of at most so many.
inline constexpr Index kMostCircuitWords = 2048;

/// qk, ov.
bool is_circuit(std::string_view name);

/// `qk` or `ov` with the stack's prefix, (layers, heads, d_model, d_model) or those of the wanted heads: of qk a row
/// for the query's numbers and a column for the key's, of ov a row for what is written and a column for what is read.
/// Of the stack that answers, where words lead to words, `qk_words` or `ov_words` (layers, heads, words, words) as
/// well. Errors: attention alone, scores that are not those of W_QK alone.
Status add_circuits(const Trace& trace, std::string_view name, const ExportOptions& options,
                    std::vector<ArrayStream>& arrays);

}  // namespace headlight
