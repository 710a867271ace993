// Maps of an answer instead of its attention weights: norms of the weighted values, or attention rollout
// (heads/weight_maps.h). They are computed while a view shows them, and drawn instead of the
// weights, token by token, once they are there.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "heads/weight_maps.h"
#include "model/trace.h"

namespace headlight {

/// The kind of the maps of the heads: the attention weights; the norms of the weighted value vectors; the weights
/// multiplied through all layers below (heads/weight_maps.h).
enum class MapKind { weights, norms, rollout };

/// Of MapKind in its order: the names in options and session files.
inline constexpr std::string_view kMapKindNames[] = {"weights", "norms", "rollout"};
inline std::string_view name(MapKind kind) { return name_in(kMapKindNames, kind); }

/// Why the maps of a stack cannot be of this kind; nothing where they can.
std::optional<MapUnavailable> why_not(const Trace& trace, Stack stack, MapKind kind);

struct DerivedMaps {
  std::shared_ptr<const Trace> trace;
  MapKind kind = MapKind::norms;
  std::array<std::vector<Matrix>, 3> stacks;  // by Stack, empty where it cannot be: a map a head, layer after layer; of
                                              // MapKind::rollout a map a layer
  float largest = 0;                          // of all of them

  /// The map on which a head is seen: of a rollout that of its layer; null where its stack has none.
  const Matrix* map(const HeadRef& head) const;
};

/// Of every stack of the answer that has them; `kind` is not `weights`. Null when stopped; the same to the bit with any
/// number of threads.
std::shared_ptr<const DerivedMaps> other_maps(std::shared_ptr<const Trace> trace, MapKind kind, Progress& progress,
                                              int threads = 0);

}  // namespace headlight
