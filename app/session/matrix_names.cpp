#include "session/matrix_names.h"

#include "explain/kinds.h"

namespace headlight {
namespace {

/// Of MatrixPart, in its order.
constexpr const char* kParts[] = {"embedding", "attention", "head", "ffn", "block", "end", "output"};

}  // namespace

std::string matrix_name(Quantity quantity) {
  const Kind& kind = kind_of(quantity);
  return std::string(kParts[static_cast<std::size_t>(kind.part)]) + "." + kind.name;
}

std::optional<Quantity> parse_matrix_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
    if (matrix_name(static_cast<Quantity>(i)) == name) return static_cast<Quantity>(i);
  return std::nullopt;
}

}  // namespace headlight
