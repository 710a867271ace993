#include "derived/derived_maps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>

#include "base/parallel.h"

namespace headlight {
namespace {

/// A head as it is named in maps of layers, or in one map of all.
HeadRef named_head(const ReducedMaps& reduced, HeadRef head) {
  if (!reduced.of.by.layers) head.layer = 0;
  return head;
}

/// Which heads have a colour.
void add_colours(DerivedMaps& all, const ReducedMaps& reduced) {
  std::map<HeadRef, Index> cells;
  const auto& maps = all.heads[static_cast<std::size_t>(reduced.of.stack)];
  for (std::size_t i = 0; i < maps.size(); ++i) {
    std::vector<Index> of_place(reduced.parts[i].size());
    for (const float place : maps[i].reshaped())
      if (place >= 0) ++of_place[static_cast<std::size_t>(place)];
    for (std::size_t place = 0; place < of_place.size(); ++place)
      cells[named_head(reduced, reduced.parts[i][place])] += of_place[place];
  }
  const auto at = static_cast<std::size_t>(reduced.of.stack);
  std::vector<HeadRef>& heads = all.coloured[at];
  for (const auto& [head, count] : cells) heads.push_back(head);
  all.others[at] = heads.size() > kMostColours + 1;
  if (all.others[at]) {
    std::ranges::stable_sort(heads, std::greater(), [&](const HeadRef& head) { return cells[head]; });
    heads.resize(kMostColours);
    std::ranges::sort(heads);
  }
}

void add_shades(DerivedMaps& all, const ReducedMaps& reduced) {
  const auto at = static_cast<std::size_t>(reduced.of.stack);
  const auto& coloured = all.coloured[at];
  for (std::size_t i = 0; i < all.stacks[at].size(); ++i) {
    std::vector<std::size_t> colours;
    for (const HeadRef& head : reduced.parts[i])
      colours.push_back(
          std::min(static_cast<std::size_t>(std::ranges::find(coloured, named_head(reduced, head)) - coloured.begin()),
                   kMostColours));
    const Matrix &weights = all.stacks[at][i], &places = all.heads[at][i];
    Matrix& shades = all.shades[at].emplace_back(places);
    for (Index cell = 0; cell < places.size(); ++cell) {
      if (places.data()[cell] < 0) continue;
      const float part = weights.data()[cell] / std::max(all.largest, 1e-9f);
      const auto shade = static_cast<std::size_t>(std::lround(part * static_cast<float>(kHeadShades - 1)));
      const std::size_t colour = colours[static_cast<std::size_t>(places.data()[cell])];
      shades.data()[cell] = static_cast<float>(1 + colour * kHeadShades + shade) / 255;
    }
  }
}

/// Adds the maps of one attention. False: they have too many cells, or it was stopped.
bool add_summed(DerivedMaps& all, ReducedMaps reduced, Progress& progress, int threads) {
  const auto at = static_cast<std::size_t>(reduced.of.stack);
  const Index rows = std::ssize(reduced.rows()), columns = std::ssize(reduced.columns());
  const bool strongest = reduced.of.by.by == ReduceBy::strongest;
  if (reduced.num_maps() * rows * columns > kMostReducedCells) return false;
  std::vector<Matrix>& maps = all.stacks[at];
  maps.resize(static_cast<std::size_t>(reduced.num_maps()));
  if (strongest) all.heads[at].resize(maps.size());
  parallel_for(reduced.num_maps(), threads, [&](Index i) {
    const auto map = static_cast<std::size_t>(i);
    maps[map] = reduced_rows(reduced, i, 0, rows, progress.stop, strongest ? &all.heads[at][map] : nullptr);
  });
  const Trace& trace = *reduced.of.traces.front();
  for (const Matrix& map : maps)
    for (const float number : map.reshaped())
      if (number != trace.blocked()) all.largest = std::max(all.largest, std::abs(number));
  if (strongest) add_colours(all, reduced), add_shades(all, reduced);
  all.none[at] = Matrix::Constant(rows, columns, trace.blocked());
  all.reduced[at] = std::make_shared<const ReducedMaps>(std::move(reduced));
  return !progress.stop;
}

}  // namespace

std::optional<MapUnavailable> why_not(const Trace& trace, Stack stack, MapKind kind) {
  if (kind == MapKind::weights) return std::nullopt;
  if (!reduced_by(kind)) return kind == MapKind::norms ? why_no_norms(trace, stack) : why_no_rollout(trace, stack);
  if (trace.is_signed && kind != MapKind::mean && kind != MapKind::sum) return MapUnavailable::below_zero;
  return is_too_long(trace, stack) ? std::optional(MapUnavailable::too_long) : std::nullopt;
}

std::optional<std::size_t> DerivedMaps::place_of(const HeadRef& head) const {
  const auto& maps = reduced[static_cast<std::size_t>(head.stack)];
  if (!maps)
    return static_cast<std::size_t>(kind == MapKind::rollout ? head.layer
                                                             : head.layer * trace->num_heads(head.stack) + head.head);
  const auto shows = [&](const std::vector<HeadRef>& part) {
    const HeadRef& first = part.front();
    return (!has_layers(head.stack) || first.layer == head.layer) &&
           (!has_heads(head.stack) || first.head == head.head);
  };
  const auto found = std::ranges::find_if(maps->parts, shows);
  if (found == maps->parts.end()) return std::nullopt;
  return static_cast<std::size_t>(found - maps->parts.begin());
}

const Matrix* DerivedMaps::map(const HeadRef& head) const {
  const auto at = static_cast<std::size_t>(head.stack);
  if (stacks[at].empty()) return nullptr;
  const auto place = place_of(head);
  return place ? &stacks[at][*place] : &none[at];
}

std::optional<HeadRef> DerivedMaps::strongest(const HeadRef& seen, const CellRef& cell) const {
  const auto at = static_cast<std::size_t>(seen.stack);
  const auto place = heads[at].empty() ? std::nullopt : place_of(seen);
  const float which = place ? heads[at][*place](cell.query, cell.key) : -1;
  if (which < 0) return std::nullopt;
  return reduced[at]->parts[*place][static_cast<std::size_t>(which)];
}

const Matrix* DerivedMaps::shades_of(const HeadRef& head) const {
  const auto at = static_cast<std::size_t>(head.stack);
  if (shades[at].empty()) return nullptr;
  const auto place = place_of(head);
  return place ? &shades[at][*place] : &none[at];
}

Result<std::shared_ptr<const DerivedMaps>> summed_maps(std::shared_ptr<const Trace> trace, ReduceWhat what,
                                                       Progress& progress, int threads) {
  auto all = std::make_shared<DerivedMaps>();
  all->kind = kind_of(what.by.by);
  auto reduced = TRY(reduced_maps(std::move(what), threads));
  if (const Index tokens = std::max(std::ssize(reduced.rows()), std::ssize(reduced.columns()));
      all->kind == MapKind::strongest && tokens > kThumbnail)
    return bad_input("--reduce strongest", "tokens", "at most " + std::to_string(kThumbnail), std::to_string(tokens));
  if (!add_summed(*all, std::move(reduced), progress, threads)) {
    if (progress.stop) return std::shared_ptr<const DerivedMaps>();
    return bad_input("--reduce", "cells", "at most " + std::to_string(kMostReducedCells), "more (export writes them)");
  }
  all->trace = std::move(trace);
  return std::shared_ptr<const DerivedMaps>(std::move(all));
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
    if (const auto by = reduced_by(kind)) {
      auto reduced =
          reduced_maps({.traces = {trace.get()}, .stack = stacks[i], .by = {.by = *by, .heads = true}}, threads);
      if (reduced && !add_summed(*all, *std::move(reduced), progress, threads) && progress.stop) return nullptr;
      progress.advance(part);
      continue;
    }
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
