// What stands beside the rows of a matrix in Inside: which of them moved against A, and how strongly a row of weights
// answers to its scores.
#pragma once

#include "derived/inside.h"
#include "gui/frame/gui.h"

namespace headlight {

/// How strongly the maps of Inside are drawn: paler where they answer an earlier question.
float inside_opacity(const AppState& state);

/// A bar at the left of each row of the picture in which a number moved; with `cells` also a corner of each that did.
void mark_moved(Gui& gui, ImDrawList& list, const Picture& picture, const Box& plot, bool cells);

/// How many rows of the matrix that is looked at moved, and why these; nothing where there is no answer to compare
/// with.
void moved_line(Gui& gui, const Inside& inside);

/// The room that the gradients need beside a plot; 0 where this matrix has none.
float gradients_width(const Gui& gui, const Inside& inside);
/// Beside each row ∂A/∂score with the scale as it is, and with the other, as bars and in digits.
void draw_gradients(Gui& gui, ImDrawList& list, const Inside& inside, const Box& plot);

}  // namespace headlight
