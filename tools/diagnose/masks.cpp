#include "diagnose/masks.h"

#include <algorithm>

#include "model/mask.h"

namespace headlight {
namespace {

/// Each query sees itself and what was before, but for keys that no query sees.
bool is_causal(const Allowed& a) { return a.any() && parts_of(a).causal; }

}  // namespace

Allowed allowed_by(const Grid& mask) { return mask.array() > -1e4; }

Grid mask_of(const Allowed& allowed) {
  Grid mask(allowed.rows(), allowed.cols());
  for (Index i = 0; i < mask.size(); ++i)
    mask.data()[i] = allowed.data()[i] ? 0.0 : -std::numeric_limits<double>::infinity();
  return mask;
}

double masked_below(const Grid& scores, Index row) {
  double largest = -std::numeric_limits<double>::infinity();
  for (Index j = 0; j < scores.cols(); ++j) largest = std::fmax(largest, scores(row, j));
  return std::max(kSurelyMasked, static_cast<double>(masked_from(static_cast<float>(largest))));
}

Allowed allowed_in(const Grid& scores) {
  Allowed allowed(scores.rows(), scores.cols());
  for (Index row = 0; row < scores.rows(); ++row)
    allowed.row(row) = !(scores.row(row).array() <= masked_below(scores, row));
  return allowed;
}

Allowed causal_mask(Index queries, Index keys, Index offset) {
  Allowed allowed(queries, keys);
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) allowed(i, j) = j <= i + offset;
  return allowed;
}

Allowed shifted(const Allowed& allowed, Index by) {
  Allowed result(allowed.rows(), allowed.cols());
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) {
      const Index from = j - by;
      result(i, j) = from < 0 || (from < allowed.cols() && allowed(i, from));
    }
  return result;
}

MaskParts parts_of(const Allowed& allowed) {
  const Index queries = allowed.rows(), keys = allowed.cols();
  MaskParts parts{.keys = allowed.colwise().any().replicate(queries, 1)};
  parts.padding = !parts.keys.all();
  if (queries < 2 || keys < queries) return parts;
  const Allowed causal = causal_mask(queries, keys, keys - queries);
  parts.causal = (allowed == (causal && parts.keys)).all();
  if (parts.causal || parts.padding) return parts;
  const Index window = allowed.row(queries - 1).count();  // of the query that sees most
  if ((allowed == (causal && !causal_mask(queries, keys, keys - queries - window))).all()) parts.window = window;
  return parts;
}

Index nearness_of(const Allowed& allowed) {
  const Index near = allowed.row(0).count() - 1;
  for (Index i = 0; i < allowed.rows(); ++i)
    for (Index j = 0; j < allowed.cols(); ++j)
      if (allowed(i, j) != (std::abs(i - j) <= near)) return 0;
  return near + 1 < allowed.cols() ? std::max<Index>(near, 0) : 0;
}

Bilingual off_by_one_words(bool causal, Index by) {
  using namespace phrases;
  const MistakeCode& how = causal ? (by < 0 ? diagonal : next_token) : by < 0 ? one_few : one_many;
  const Bilingual text = words(mistakes::mask_off_by_one, words(how));
  return causal ? words(phrases::causal_mask, text) : text;
}

bool are_same(const Allowed& a, const Allowed& b) { return (a == b).all(); }

bool has_equal_rows(const Allowed& a) { return are_same(a, a.row(0).replicate(a.rows(), 1)); }

bool is_prefix(const Allowed& row) {
  bool prefix = row(0, 0);
  for (Index j = 1; j < row.cols(); ++j) prefix = prefix && (row(0, j - 1) || !row(0, j));
  return prefix;
}

Mistake mistake_of(const MistakeCode& code, Bilingual text) { return {.code = code, .text = std::move(text)}; }
Mistake mistake_of(const MistakeCode& code) { return mistake_of(code, words(code)); }

std::optional<Meant> meant_by(const Allowed& a) {
  using namespace mistakes;
  const Index size = a.rows();
  if (size != a.cols() || size < 2 || has_equal_rows(a) || is_causal(a)) return std::nullopt;
  const Allowed across = a.transpose();
  if (has_equal_rows(across) && is_prefix(across.row(0))) return Meant{across, mistake_of(mask_transposed)};
  const Allowed seen = parts_of(a).keys, all = Allowed::Constant(size, size, true);
  const Allowed lower = causal_mask(size, size, 0), upper = lower.transpose(), next = shifted(lower, 1);
  const bool is_padded = is_prefix(seen.row(0));
  const Allowed keys = is_padded ? seen : all;
  if (are_same(a, shifted(lower, -1) && keys)) {
    Allowed with_last = keys;
    with_last.col(size - 1).setConstant(true);
    return Meant{lower && with_last, mistake_of(mask_off_by_one, off_by_one_words(true, -1))};
  }
  if (size > 2 && are_same(a, next && keys))
    return Meant{lower && keys, mistake_of(mask_off_by_one, off_by_one_words(true, 1))};
  if (are_same(a, !lower) || (size > 2 && are_same(a, !next))) return Meant{lower, mistake_of(mask_inverted)};
  if (are_same(a, upper && keys)) return Meant{lower && keys, mistake_of(mask_transposed)};
  if (is_causal(!a) && !a.matrix().diagonal().all()) return Meant{!a, mistake_of(mask_inverted)};
  return std::nullopt;
}

}  // namespace headlight
