#include "diagnose/masks.h"

#include <algorithm>

#include "model/mask.h"

namespace headlight {

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

Bilingual off_by_one_words(bool causal, Index by) {
  using namespace phrases;
  const MistakeCode& how = causal ? (by < 0 ? diagonal : next_token) : by < 0 ? one_few : one_many;
  const Bilingual text = words(mistakes::mask_off_by_one, words(how));
  return causal ? words(phrases::causal_mask, text) : text;
}

}  // namespace headlight
