#include "session/viewport.h"

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

Viewport zoomed(const AppState& state, float factor, const CellRef& around) {
  const Region now = shown_region(state);
  const Index all_queries = state.trace->queries(now.head.stack), all_keys = state.trace->keys(now.head.stack);
  const Range queries = zoomed_range({now.first_query, now.num_queries}, all_queries, factor, around.query);
  const Range keys = zoomed_range({now.first_key, now.num_keys}, all_keys, factor, around.key);
  if (queries.count == all_queries && keys.count == all_keys) return {};
  return {queries.first, queries.count, keys.first, keys.count};
}

Viewport panned(const AppState& state, Index queries, Index keys) {
  Viewport next = state.view.viewport;
  if (next.num_queries == 0) return next;
  const Stack stack = state.view.chosen.stack;
  next.first_query = std::clamp<Index>(next.first_query + queries, 0, state.trace->queries(stack) - next.num_queries);
  next.first_key = std::clamp<Index>(next.first_key + keys, 0, state.trace->keys(stack) - next.num_keys);
  return next;
}

}  // namespace headlight
