// Where the boxes of the data's way stand: from top to bottom, boxes that do not wait for each other side by side, the
// encoder's column left of the decoder's. Arithmetic on boxes, no drawing.
#pragma once

#include <vector>

#include "explain/diagram.h"
#include "figure/drawing/map_layout.h"

namespace headlight {

struct DiagramLayout {
  std::vector<Box> nodes;                 // as in the diagram
  std::vector<std::vector<Point>> edges;  // as in the diagram: lines with right angles, the arrow at the end
  float width = 0, height = 0;
};

struct DiagramMeasures {
  float node_height = 44;
  float pattern_height = 116;  // of boxes that show pairs of words, and of those beside them
  float gap = 16;              // between ranks
  float side_gap = 8;          // between boxes of a rank
  float lane = 10;             // beside a column, for each residual line
  float least_node = 64;       // a box is never narrower
};

/// Whether it shows a number for each pair of words, in square cells.
inline bool shows_pairs(const Node& node) {
  return node.kind == NodeKind::attention && node.shows.quantity != Quantity::z;
}

/// Fits the diagram into `width`, or into the least width that its boxes need; it is as high as it must be.
DiagramLayout layout_diagram(const Diagram& diagram, float width, const DiagramMeasures& measures);

}  // namespace headlight
