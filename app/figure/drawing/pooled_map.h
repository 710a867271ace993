// Maps with more cells than pixels: what each pixel shows. A bright cell never vanishes among others.
#pragma once

#include <compare>

#include "base/matrix.h"

namespace headlight {

/// From where to where on the screen, in pixels.
struct PixelSpan {
  float begin = 0, end = 0;
  auto operator<=>(const PixelSpan&) const = default;
};

/// Whether so many cells share pixels there.
inline bool is_crowded(const PixelSpan& on, Index cells) { return static_cast<float>(cells) > on.end - on.begin; }

/// The pixels whose middle is there.
struct PixelRange {
  int first = 0, count = 0;
};
PixelRange pixels_of(const PixelSpan& on);

/// A matrix drawn there, one value a pixel along each axis that is crowded: of the cells that the pixel covers the
/// largest; of a diverging map the number farthest from zero, below -3e38 being blocked. Where there is no number the
/// others show. An axis whose span is empty stays as it is.
Matrix pooled_map(const Matrix& weights, const PixelSpan& rows, const PixelSpan& columns, bool diverging);

}  // namespace headlight
