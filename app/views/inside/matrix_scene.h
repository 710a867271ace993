// The scene of one matrix: its numbers as colours and in digits, its rows and columns by name.
#pragma once

#include <memory>
#include <optional>

#include "derived/inside.h"
#include "figure/drawing/drawing.h"
#include "view/settings.h"

namespace headlight {

/// A part of a matrix of an answer. The chosen cell and the one that is pointed at are outlined; the row and the column
/// of the lit one are always named, in the accent's colour.
struct MatrixSubject {
  const Trace& trace;
  MatrixId id;
  std::shared_ptr<const MatrixPicture> picture;
  std::optional<MatrixCell> chosen = {}, pointed = {}, lit = {};
};

struct MatrixStyle {
  Theme theme = Theme::light;
  InkColours ink;
  const TextWidth& measure;
  float label = 9, value = 9, least_value = 4.5f;  // ems of labels, and of numbers in cells
  float above = 0.15f;                             // ems between the cells and the labels of columns
  float number_room = 0;                           // narrower cells have no numbers
  float widest = 40, highest = 16;                 // of a cell
  float most_labels = 1e6f;                        // room for the labels of rows, which are cut there
  float least_outline = 0;                         // a smaller cell has an outline of this size
  bool square = false;                             // cells are as wide as high
  bool whole = false;                              // cells begin at whole numbers
  Pen pen = {};
};

struct MatrixGrid {
  Box plot;
  float width = 0, height = 0;  // of a cell
  float above = 0;              // between the cells and the labels of columns

  /// Row and column of the picture at a point; nothing beside the plot.
  std::optional<MatrixCell> at(const MatrixPicture& picture, float x, float y) const;
};

/// Where the cells stand in the area, labels at their left and above them.
MatrixGrid matrix_grid(const MatrixSubject& subject, const MatrixStyle& style, const Box& area);
/// Adds the map to the scene; its hit box `matrix` is the plot.
void add_matrix(Drawing& scene, const MatrixSubject& subject, const MatrixStyle& style, const MatrixGrid& grid,
                const Box& area);

}  // namespace headlight
