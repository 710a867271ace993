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

}  // namespace headlight
