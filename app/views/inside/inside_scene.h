// The scenes of the Inside view: a step behind a weight, and the way of the data. Window and figure draw the same.
#pragma once

#include <memory>

#include "derived/inside.h"
#include "derived/layer_lens.h"
#include "figure/drawing/diagram_layout.h"
#include "figure/drawing/drawing.h"
#include "view/settings.h"

namespace headlight {

/// The sizes of type: ems, and the heights of lines of them.
struct InsideType {
  float title = 0, small = 0;
  float title_line = 0, small_line = 0;
  float unit = 1;  // a pixel of the design
};

/// What a page and a window draw differently.
struct InsideStyle {
  Language language = Language::en;
  Theme theme = Theme::light;
  InsideType type;
  InkColours ink;
  const TextWidth& measure;
  Pen pen = {};
  // Of the diagram: the boxes and their frames, and the lines between them; residual ones are lighter, as bars of
  // words that are not asked about.
  Rgb ground = {}, frame = {}, edge = {}, faint = {};
  float edge_width = 0.6f, residual_width = 0.35f, corner = 0;
};

using SharedPicture = std::shared_ptr<const MatrixPicture>;

/// How high a step is.
float step_height(const Step& step, const MatrixPicture& picture, const InsideType& type);

/// Adds a step: what it is, how it follows, its numbers as a strip of colours and as many digits as fit. `index` counts
/// the steps from 0. Its hit box is `step NAME`. `chosen`: its title is in the accent's colour.
void add_step(Drawing& scene, const InsideStyle& style, const Trace& trace, const Step& step,
              const SharedPicture& picture, std::size_t index, const Box& box, bool chosen = false);

/// The measures of a diagram in such type; no box is narrower than `least_node` pixels of the design.
DiagramMeasures diagram_measures(const InsideType& type, float least_node);

/// Adds the way of the data: arrows, and a box for each node with its title, the shape of what it shows where there is
/// room, and the picture of it; the hit box is `node ID`. `pictures`: one a node. The node that shows `chosen` is
/// framed in the accent's colour.
void add_diagram(Drawing& scene, const InsideStyle& style, const Trace& trace, const Diagram& diagram,
                 const std::vector<SharedPicture>& pictures, const DiagramLayout& layout, Point origin,
                 const std::optional<MatrixId>& chosen = {});

/// Adds the guesses after each layer as a table: a row a layer, a column a token, or the rank of a guess; each cell has
/// the colour of its probability. Gives the box of the cells.
Box add_lens(Drawing& scene, const InsideStyle& style, ColourMap colours, const LayerLens& lens, const Box& area);

}  // namespace headlight
