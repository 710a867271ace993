#include "view/viewport.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

struct Range {
  Index first = 0, count = 0;
};

/// `around` keeps its share of the way through the range.
Range zoomed_range(Range now, Index total, float factor, Index around) {
  const Index wanted = static_cast<Index>(std::lround(static_cast<double>(now.count) / static_cast<double>(factor)));
  if (factor == 1) return now;
  const Index changed = factor > 1 ? std::min(wanted, now.count - 1) : std::max(wanted, now.count + 1);
  const Index count = std::clamp(changed, std::min(kLeastViewport, total), total);
  const Index before = (around - now.first) * count / std::max<Index>(now.count, 1);
  return {std::clamp<Index>(around - before, 0, total - count), count};
}

}  // namespace

Viewport whole_or(const Viewport& part, Index queries, Index keys) {
  if (part.num_queries > 0 && part.num_keys > 0) return part;
  return {.first_query = 0, .num_queries = queries, .first_key = 0, .num_keys = keys};
}

Viewport zoomed(const Viewport& part, Index all_queries, Index all_keys, float factor, const CellRef& around) {
  const Viewport now = whole_or(part, all_queries, all_keys);
  const Range queries = zoomed_range({now.first_query, now.num_queries}, all_queries, factor, around.query);
  const Range keys = zoomed_range({now.first_key, now.num_keys}, all_keys, factor, around.key);
  if (queries.count == all_queries && keys.count == all_keys) return {};
  return {queries.first, queries.count, keys.first, keys.count};
}

Viewport panned(Viewport now, Index queries, Index keys, const CellRef& by) {
  if (now.num_queries == 0) return now;
  now.first_query = std::clamp<Index>(now.first_query + by.query, 0, queries - now.num_queries);
  now.first_key = std::clamp<Index>(now.first_key + by.key, 0, keys - now.num_keys);
  return now;
}

}  // namespace headlight
