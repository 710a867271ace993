#include "derived/derived_maps.h"

#include <algorithm>
#include <cassert>

namespace headlight {

std::optional<MapUnavailable> why_not(const Trace& trace, Stack stack, MapKind kind) {
  if (kind == MapKind::weights) return std::nullopt;
  return kind == MapKind::norms ? why_no_norms(trace, stack) : why_no_rollout(trace, stack);
}

const Matrix* DerivedMaps::map(const HeadRef& head) const {
  const std::vector<Matrix>& maps = stacks[static_cast<std::size_t>(head.stack)];
  if (maps.empty()) return nullptr;
  const Index index = kind == MapKind::rollout ? head.layer : head.layer * trace->num_heads(head.stack) + head.head;
  return &maps[static_cast<std::size_t>(index)];
}

std::shared_ptr<const DerivedMaps> other_maps(std::shared_ptr<const Trace> trace, MapKind kind, Progress& progress,
                                              int threads) {
  assert(kind != MapKind::weights);
  auto all = std::make_shared<DerivedMaps>();
  all->kind = kind;
  std::vector<Stack> stacks;
  for (const Stack stack : kStacks)
    if (trace->has(stack) && !why_not(*trace, stack, kind)) stacks.push_back(stack);
  const float begin = progress.begin, share = progress.share;
  const auto part = share / static_cast<float>(std::max<std::size_t>(stacks.size(), 1));
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    progress.begin = begin + part * static_cast<float>(i);
    progress.share = part;
    auto maps = kind == MapKind::norms ? norm_maps(*trace, stacks[i], progress, threads)
                                       : rollout_maps(*trace, stacks[i], progress, threads);
    if (!maps) return nullptr;
    for (const Matrix& map : *maps) all->largest = std::max(all->largest, map.maxCoeff());
    all->stacks[static_cast<std::size_t>(stacks[i])] = std::move(*maps);
  }
  progress.begin = begin;
  progress.share = share;
  progress.done = begin + share;
  all->trace = std::move(trace);
  return all;
}

}  // namespace headlight
