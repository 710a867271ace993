// Where the small maps of all heads stand when all layers are seen at a glance: a table without words between them.
#pragma once

#include "figure/map_layout.h"

namespace headlight {

struct GlanceLayout {
  Index columns = 1;
  float cell = 0;            // side of the square that a map is drawn in
  float gap = 0;             // between squares
  Point first;               // top left corner of the first square, from the area's
  float content_height = 0;  // of everything; more than the area's where it must scroll

  /// The square of a row and a column, from the area's top left corner.
  Box place(Index row, Index column) const;
};

/// The largest squares, in whole pixels from `least` to `most`, with which rows × columns of them fit into `width` ×
/// `height` beside and below `margin`, the room of the rows' and the columns' numbers. Where even the least are too many,
/// rows lie below the area's end, and columns beyond its side.
GlanceLayout layout_glance(float width, float height, Index rows, Index columns, Point margin, float least, float most);

/// The part of a square that a map of queries × keys takes without being stretched, centred.
Box within_square(const Box& square, Index queries, Index keys);

}  // namespace headlight
