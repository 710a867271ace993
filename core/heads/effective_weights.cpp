#include "heads/effective_weights.h"

#include <algorithm>

#include "base/names.h"

namespace headlight {
namespace {

constexpr std::string_view kUnavailableNames[] = {"attention alone, without values",
                                                  "queries and keys of two sequences", "more than 128 tokens"};
static_assert(kThumbnail == 128);

}  // namespace

std::string_view name(MapUnavailable why) { return name_in(kUnavailableNames, why); }

bool is_too_long(const Trace& trace, Stack stack) {
  return std::max(trace.queries(stack), trace.keys(stack)) > kThumbnail;
}

Matrix effective_weights(const Trace& trace, const HeadRef& head) {
  const Matrix& weights = trace.head(head).thumbnail;
  const Edits& edits = trace.request.edits;
  if (!is_off(edits, head)) return weights;
  if (edits.off_as == OffAs::zero) return weights.cwiseMin(0.0f);
  const Vector mean = weights.cwiseMax(0.0f).cast<double>().colwise().mean().cast<float>();
  // A blocked cell has a weight here where other queries may look at that key.
  const Matrix means = mean.replicate(weights.rows(), 1);
  return (weights.array() < 0.0f && means.array() == 0.0f).select(weights, means);
}

}  // namespace headlight
