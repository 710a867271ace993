// Zooming and panning of a map, in whole cells.
#pragma once

#include "view/view_state.h"

namespace headlight {

/// As far in as one can zoom: this many cells across.
inline constexpr Index kLeastViewport = 4;

/// Zooms the part `now` of a map of queries × keys in by `factor` (below 1: out). The cell `around` stays at the same
/// point.
Viewport zoomed(const Viewport& now, Index queries, Index keys, float factor, const CellRef& around);

/// The same part moved by whole cells, as far as the map goes.
Viewport panned(Viewport now, Index queries, Index keys, const CellRef& by);

/// A part without a size is all of a map.
Viewport whole_or(const Viewport& part, Index queries, Index keys);

}  // namespace headlight
