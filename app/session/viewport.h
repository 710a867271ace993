// Zooming and panning of the enlarged head, in whole cells.
#pragma once

#include "session/state.h"

namespace headlight {

/// As far in as one can zoom: this many cells across.
inline constexpr Index kLeastViewport = 4;

/// Zoomed in by `factor` (out, below 1) with the cell `around` staying where it is. Needs an answer.
Viewport zoomed(const AppState& state, float factor, const CellRef& around);

/// Moved by whole cells, as far as the pattern goes.
Viewport panned(const AppState& state, Index queries, Index keys);

}  // namespace headlight
