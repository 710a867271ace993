#include "explain/moved_rows.h"

namespace headlight {

Spread spread_of(Quantity quantity) {
  if (is_learned(quantity)) return Spread::none;
  if (quantity == Quantity::head_output || quantity == Quantity::z) return Spread::attention;
  if (quantity >= Quantity::dot && quantity <= Quantity::scores) return Spread::cross;
  if (quantity >= Quantity::exponentials && quantity <= Quantity::weights) return Spread::whole_row;
  return Spread::own_row;
}

std::optional<ChangedWord> changed_word(const Request& a, const Request& b) {
  std::optional<ChangedWord> changed;
  for (const auto side : {&Request::tokens, &Request::target}) {
    const std::vector<Token>&before = (a.*side).tokens, &after = (b.*side).tokens;
    if (before.size() != after.size()) return std::nullopt;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Token &x = before[i], &y = after[i];
      if (x.special != y.special || x.pad != y.pad || x.type != y.type || x.role != y.role) return std::nullopt;
      if (x.id == y.id && x.text == y.text) continue;
      if (changed) return std::nullopt;
      changed = ChangedWord{x.text, y.text};
    }
  }
  if (!changed) return std::nullopt;
  Request same = b;
  same.tokens = a.tokens;
  same.target = a.target;
  return same == a ? changed : std::nullopt;
}

bool can_compare(const Trace& a, const Trace& b, const MatrixId& id) {
  return exists(a, id) && exists(b, id) && shape(a, id) == shape(b, id);
}

Matrix moved_cells(const Trace& a, const Trace& b, const MatrixId& id, Index first, Index count) {
  const Matrix before = rows_of(a, id, first, count), after = rows_of(b, id, first, count);
  return (before.array() != after.array()).cast<float>();  // an answer holds no NaN: forward refuses what overflows
}

std::vector<Index> moved_rows(const Matrix& moved_cells) {
  std::vector<Index> rows;
  for (Index r = 0; r < moved_cells.rows(); ++r)
    if ((moved_cells.row(r).array() != 0).any()) rows.push_back(r);
  return rows;
}

}  // namespace headlight
