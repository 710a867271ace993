// Maps of an answer instead of its attention weights: norms of the weighted values, attention rollout
// (heads/weight_maps.h), or what sums up the heads (heads/reduce.h). They are computed while a view shows them, and
// drawn instead of the weights, token by token, once they are there.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "heads/reduce.h"
#include "heads/weight_maps.h"
#include "model/trace.h"

namespace headlight {

/// The kind of the maps of the heads: the attention weights; the norms of the weighted value vectors; the weights
/// multiplied through all layers below (heads/weight_maps.h); the heads of each layer summed up (heads/reduce.h).
enum class MapKind { weights, norms, rollout, mean, max, sum, strongest };

/// Of MapKind in its order: the names in session files; --maps takes the first three, --reduce the others.
inline constexpr std::string_view kMapKindNames[] = {"weights", "norms", "rollout", "mean", "max", "sum", "strongest"};
inline constexpr std::size_t kPlainKinds = 3;
inline std::string_view name(MapKind kind) { return name_in(kMapKindNames, kind); }

/// Whether a map is a layer's in the window, and not a head's.
inline bool is_of_layers(MapKind kind) { return kind >= MapKind::rollout; }

/// How such maps sum up heads; nothing of those that --maps takes. And the other way round.
inline std::optional<ReduceBy> reduced_by(MapKind kind) {
  if (kind < MapKind::mean) return std::nullopt;
  return value_named<ReduceBy>(kReduceNames, name(kind));
}
inline MapKind kind_of(ReduceBy by) { return *value_named<MapKind>(kMapKindNames, name_in(kReduceNames, by)); }

/// Why the maps of a stack cannot be of this kind; nothing where they can.
std::optional<MapUnavailable> why_not(const Trace& trace, Stack stack, MapKind kind);

struct DerivedMaps {
  std::shared_ptr<const Trace> trace;
  MapKind kind = MapKind::norms;
  std::array<std::vector<Matrix>, 3> stacks;  // by Stack, empty where it cannot be: a map a head, layer after layer; of
                                              // MapKind::rollout a map a layer; else those of `reduced`
  float largest = 0;                          // of all of them
  std::array<std::shared_ptr<const ReducedMaps>, 3> reduced = {};  // what is summed up; null: nothing is
  /// Of MapKind::strongest which head of its part of ReducedMaps::parts a cell shows, −1 where blocked, for each map.
  std::array<std::vector<Matrix>, 3> heads = {};
  /// … and the heads that have a colour of their own, by its number: all of up to kMostColours, else those that have
  /// most cells, so that the last colour is that of all others. Of a map a layer they stand as heads of layer 0.
  std::array<std::vector<HeadRef>, 3> coloured = {};
  std::array<bool, 3> others = {};  // whether some heads have the last colour
  /// … and for each map what is painted: places on ColourMap::heads (figure/drawing/colour.h), of colour c in shade s
  /// (1 + c · kHeadShades + s) / 255, the shade by the share of `largest`; −1 where blocked.
  std::array<std::vector<Matrix>, 3> shades = {};
  std::array<Matrix, 3> none = {};  // the map of a layer or head of which nothing is left to be summed up: blocked

  /// The map on which a head is seen: of a rollout that of its layer; null where its stack has none.
  const Matrix* map(const HeadRef& head) const;
  /// Its place in `stacks`; nothing where that is `none`.
  std::optional<std::size_t> place_of(const HeadRef& head) const;
  /// Whether each layer, and each head of a layer, has a map of its own.
  bool has_layers(Stack stack) const { return !what(stack) || !what(stack)->layers; }
  bool has_heads(Stack stack) const { return what(stack) ? !what(stack)->heads : !is_of_layers(kind); }
  /// The head that a cell shows; nothing where blocked, or where the maps are not of MapKind::strongest.
  std::optional<HeadRef> strongest(const HeadRef& seen, const CellRef& cell) const;
  /// The shades of the map on which a head is seen; null of other kinds.
  const Matrix* shades_of(const HeadRef& head) const;

 private:
  const Reduction* what(Stack stack) const {
    const auto& maps = reduced[static_cast<std::size_t>(stack)];
    return maps ? &maps->of.by : nullptr;
  }
};

inline constexpr std::size_t kMostColours = 11;  // with that of all others as many as there are
inline constexpr std::size_t kHeadShades = 21;

/// More cells are not held together.
inline constexpr Index kMostReducedCells = 40'000'000;

/// One attention of `trace` as ReduceWhat says, whose other traces must outlive the maps. Errors: those of
/// reduced_maps(); more than kMostReducedCells. Null when stopped.
Result<std::shared_ptr<const DerivedMaps>> summed_maps(std::shared_ptr<const Trace> trace, ReduceWhat what,
                                                       Progress& progress, int threads = 0);

/// Of every stack of the answer that has them; `kind` is not `weights`. Null when stopped; the same to the bit with any
/// number of threads.
std::shared_ptr<const DerivedMaps> other_maps(std::shared_ptr<const Trace> trace, MapKind kind, Progress& progress,
                                              int threads = 0);

}  // namespace headlight
