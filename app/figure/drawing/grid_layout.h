// Where the heads of all layers stand: each layer begins a new row, its heads from left to right.
#pragma once

#include "figure/drawing/map_layout.h"

namespace headlight {

struct GridLayout {
  Index layers = 0, heads = 0;
  Index columns = 1;         // heads side by side
  Index rows_per_layer = 1;  // where a layer's heads take several rows
  float width = 0;           // of one map with its labels
  float height = 0;          // … and its title
  float gap = 0;             // between maps, at least
  float spread = 0;          // more of it between columns, where the area is wider than the maps
  float content_height = 0;  // of everything; more than the area's where it must scroll

  /// The place of a head in an area whose top left corner is (0, 0).
  Box place(HeadRef head) const;
};

/// The largest maps with which all heads fit into `area_width` × `area_height`. Where they would be narrower than
/// `least_width`, the grid scrolls: rows of the same length as wide as the area, maps not higher than it. `extra_height`
/// is a map's height beyond its width (title, and what the column labels take beyond the row labels). Columns stand apart
/// where there is room.
GridLayout layout_grid(float area_width, float area_height, Index layers, Index heads, float least_width,
                       float most_width, float extra_height, float gap);

}  // namespace headlight
