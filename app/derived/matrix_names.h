// The matrices of an answer by their names, for sessions, lessons and figures.
#pragma once

#include <optional>
#include <string_view>

#include "explain/matrix_kinds.h"

namespace headlight {

/// The matrix of an answer that a name stands for: `encoder.0.self.3.query` as `explain --format json` has it, `W_Q` or
/// `q_normed` as `explain` prints it, `head.query` as matrix_name() has it; of all but the first the one on the way of
/// `head`. Nothing where the answer has none of that name.
std::optional<MatrixId> find_matrix(const Trace& trace, const HeadRef& head, std::string_view name);

}  // namespace headlight
