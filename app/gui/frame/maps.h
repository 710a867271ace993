// How panels put a matrix on the screen. The window's implementation keeps matrices as textures and colours them in a
// fragment shader; tests use one that only remembers what was asked.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <memory>

#include "base/matrix.h"
#include "figure/drawing/colour.h"
#include "model/picture.h"

namespace headlight {

/// Draws matrices of weights as maps, one cell a texel, never smoothed. A negative weight is a blocked cell: hatched.
class MapPainter {
 public:
  virtual ~MapPainter() = default;

  /// Adds the map to `list`, filling the rectangle. `version` names the content: the same number is the same matrix,
  /// so that only new content is sent to the graphics card, and that of maps with more cells than pixels for each size.
  /// Colour, range and scale cost nothing to change.
  /// `opacity` 1 is fresh, less is stale.
  virtual void draw(ImDrawList& list, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max,
                    const ColourScale& scale, float opacity) = 0;

  /// Adds a picture, filling the rectangle.
  virtual void draw_picture(ImDrawList& list, const std::shared_ptr<const PatchedPicture>& picture, ImVec2 min,
                            ImVec2 max) = 0;
};

}  // namespace headlight
