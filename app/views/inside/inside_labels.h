// The words and numbers of Inside's scenes: shapes, rows and columns by name, numbers in the room of a cell.
#pragma once

#include <string>

#include "derived/inside.h"
#include "derived/layer_lens.h"
#include "derived/writer_split.h"
#include "figure/drawing/drawing.h"
#include "view/settings.h"

namespace headlight {

/// The colours of a picture's numbers: from 0, or on both sides of it, to a round number above its largest.
ColourScale picture_scale(Theme theme, const MatrixPicture& picture, bool is_signed);

/// The colours of the terms of a score, on both sides of 0.
ColourScale writers_scale(Theme theme, const WriterSplit& split);
/// A writer as the window names it: `L0·H3`, `embedding`, `词向量`.
std::string writer_in(Language language, const Writer& writer);
/// A side of that map, as tokens whose texts are the names.
std::vector<Token> writer_labels(Language language, const WriterAxis& axis);

/// What the table of a lens shows, and the logit that is split beside the sum of its terms. The latter has a split.
std::string lens_title(Language language, const LayerLens& lens);
std::string logit_line(Language language, const LayerLens& lens);

/// `10 × 64`.
std::string shape_text(const Shape& shape);

/// A row or a column of a matrix: the token or the word where it is one, else its number.
std::string index_label(const Trace& trace, const MatrixId& id, Axis axis, Index index);
/// `q[机票, 3]`.
std::string cell_title(const Trace& trace, const MatrixId& id, Index row, Index col);
/// A number in the room of a matrix' cell, as cell_number has it; of large ones one digit after the point.
std::string matrix_number(float value);
/// How a cell follows from its terms, and the numbers of that which are in no matrix.
std::string operation_line(Language language, const Cell& cell);
/// The value that the bar of a term shows: the addend, or the operand itself.
float term_length(const Term& term, bool adds_up);

/// The text, or as much of it as has room, with … at its end.
std::string cut_to(const std::string& text, float size, float room, const TextWidth& measure);

}  // namespace headlight
