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

/// `name`, `number`, `queries`, `keys`, `layers`, `heads`, `kv_heads`, `d_k`, `d_v` and `scale`.
nlohmann::json page_stack(const Trace& trace, const StackNames& names);

/// The tokens under their names, `stacks`, `warnings`, `answering`.
nlohmann::json answer_object(const Trace& trace);

/// What a weight is computed from: `q`, `k`, and step by step `dot`, `scale`, `scaled`, `cap`, `capped`, `distance`,
/// `score`, `largest`, `sum`, `share` and `weight`; with values what it hands on, `value` and `z`, the lengths of the
/// key's v and of the query's z. `allowed`: the mask lets the key through; `edited`: edits changed the softmax.
nlohmann::json why_object(const Trace& trace, const HeadRef& head, const CellRef& cell);

}  // namespace headlight
