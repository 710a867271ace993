// The contents of the boxes of the Inside view: a step behind a weight, and a box of the way of the data. Window and
// figure share it; frames and arrows are theirs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derived/inside.h"
#include "figure/drawing/drawing.h"
#include "view/settings.h"

namespace headlight {

/// The sizes of type: ems, and the heights of lines of them.
struct InsideType {
  float title = 0, small = 0;
  float title_line = 0, small_line = 0;
  float unit = 1;  // a pixel of the design
};

/// Texts, what the box is called first (Role::title at `title`, all others at `small`), and where the picture of the
/// numbers stands, if there is one.
struct InsideParts {
  std::vector<Text> texts;
  std::optional<Box> picture;
};

/// The colours of a picture's numbers: from 0, or on both sides of it, to a round number above its largest.
ColourScale picture_scale(Theme theme, const Picture& picture, bool is_signed);

/// How high a step is.
float step_height(const Step& step, const Picture& picture, const InsideType& type);

/// A step: what it is, how it follows, its numbers as a strip of colours and as many digits as fit. `index` is its place
/// among the steps, from 0.
InsideParts step_parts(Language language, const Trace& trace, const Step& step, const Picture& picture,
                       std::size_t index, const Box& box, const InsideType& type, const InkColours& ink,
                       const TextWidth& measure);

/// A box of the diagram: its title, the shape of what it shows where there is room, and the picture of it.
InsideParts node_parts(Language language, const Trace& trace, const Node& node, const Picture& picture, const Box& box,
                       const InsideType& type, const InkColours& ink, const TextWidth& measure);

/// `10 × 64`.
std::string shape_text(const Shape& shape);

/// A row or a column of a matrix: the token or the word where it is one, else its number.
std::string index_label(const Trace& trace, const MatrixId& id, Axis axis, Index index);
/// `q[机票, 3]`.
std::string place_label(const Trace& trace, const MatrixId& id, Index row, Index col);
/// A number in the room of a matrix' cell: two digits after the point, of large numbers fewer.
std::string matrix_number(float value);
/// How a cell follows from its terms, and the numbers of that which are in no matrix.
std::string operation_line(Language language, const Cell& cell);
/// The value that the bar of a term shows: the addend, or the operand itself.
float term_length(const Term& term, bool adds_up);

/// The text, or as much of it as has room, with … at its end.
std::string cut_to(const std::string& text, float size, float room, const TextWidth& measure);

}  // namespace headlight
