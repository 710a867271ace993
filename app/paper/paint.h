// A Drawing drawn with cairo, in the current user space.
#pragma once

#include "figure/drawing/drawing.h"
#include "paper/fonts.h"

namespace headlight {

/// Cells are shapes of their own up to this many in a drawing, and pixels of an image that is never smoothed above it.
inline constexpr Index kMostShapes = 4000;

void paint(_cairo* cairo, const Drawing& drawing, PaperFonts& fonts);

}  // namespace headlight
