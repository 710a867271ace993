// The fields of a page's answer (docs/page.md), but for its numbers: what a page is written with, and what the core
// gives an open page back.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "model/trace.h"
#include "write/arrays.h"

namespace headlight {

/// The tokens as an export lists them, and whether each belongs to the word of the one before it.
nlohmann::json page_tokens(const Tokens& tokens);

/// The mask of the answer's sentence: of a batch of masks the one of this sentence.
MaskSpec of_one_sentence(MaskSpec mask);

/// `name`, `number`, `queries`, `keys`, `layers`, `heads`, `kv_heads`, `d_k`, `d_v`, `scale` and `mask`.
nlohmann::json page_stack(const Trace& trace, const StackNames& names);

/// `encoder · 2 layers × 8 heads · d_model 128`.
std::string shape_text(const Trace& trace);

/// The tokens under their names, `stacks`, `warnings`, `answering`, `shape`; `encoder`: words are asked of their own
/// positions.
nlohmann::json answer_object(const Trace& trace);

/// Of every attention that both answers have the tokens of two sides beside each other, `queries` and `keys`: [index in
/// A, index in B], null where only the other has the token. Of more than kMostAligned tokens those at the same
/// positions.
nlohmann::json axes_object(const Trace& a, const Trace& b);

/// What a weight is computed from: `q`, `k`, and step by step `dot`, `scale`, `scaled`, `cap`, `capped`, `distance`,
/// `score`, `largest`, `sum`, `share` and `weight`; with values its output, `value` and `z`, the lengths of the
/// key's v and of the query's z. `allowed`: the mask lets the key through; `edited`: edits changed the softmax.
nlohmann::json why_object(const Trace& trace, const HeadRef& head, const CellRef& cell);

}  // namespace headlight
