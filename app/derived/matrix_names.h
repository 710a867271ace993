// The kinds of matrices by names that do not depend on a model, for sessions and lessons: `head.query`,
// `attention.concat`, `embedding.positions`, `ffn.hidden`, `output.logits`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "explain/matrices.h"

namespace headlight {

std::string matrix_name(Quantity quantity);
std::optional<Quantity> parse_matrix_name(std::string_view name);

/// The matrix of an answer that a name stands for: `encoder.0.self.3.query` as `explain --format json` has it, `W_Q` or
/// `q_normed` as `explain` prints it, `head.query` as above; of all but the first the one on the way of `head`. Nothing
/// where the answer has none of that name.
std::optional<MatrixId> find_matrix(const Trace& trace, const HeadRef& head, std::string_view name);

}  // namespace headlight
