#include "derived/matrix_names.h"

#include "explain/steps.h"
#include "heads/head_measures.h"

namespace headlight {

std::optional<MatrixId> find_matrix(const Trace& trace, const HeadRef& head, std::string_view name) {
  const auto known = [&](const MatrixId& id) { return exists(trace, id) ? std::optional(id) : std::nullopt; };
  if (const auto quantity = parse_matrix_name(name)) return known(matrix_id(*quantity, head));
  for (const Step& step : steps_of(trace, head, {}))
    if (step.name == name || symbol(step.id) == name) return step.id;
  for (const HeadRef& one : heads_of(trace))
    for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
      if (const MatrixId id = matrix_id(static_cast<Quantity>(i), one); exists(trace, id) && path(trace, id) == name)
        return id;
  return std::nullopt;
}

}  // namespace headlight
