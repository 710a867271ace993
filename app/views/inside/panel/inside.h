// The views of one block: its inside, and its program.
#pragma once

#include "derived/inside.h"
#include "gui/frame/gui.h"
#include "views/inside/inside_scene.h"

namespace headlight {

void way_panel(Gui& gui);     // the tabs of View::inside, and what the chosen one lists
void code_panel(Gui& gui);    // the block, or its attention, as a program
void matrix_panel(Gui& gui);  // one matrix of it, and the terms of one of its cells

void lens_list(Gui& gui);   // what each part adds to the logit of a word
void lens_panel(Gui& gui);  // the guess after each layer

void writer_list(Gui& gui);    // the terms of a score: what wrote the query times what wrote the key
void writers_panel(Gui& gui);  // the same as a map

/// How the scenes of Inside are drawn in the window.
InsideStyle inside_style(const Gui& gui, const TextWidth& measure);

/// Of a pinned cell of a word in pieces, each side that is one: the word's weight first, then its pieces, a click on
/// which pins them. Nothing of other cells.
void word_bracket(Gui& gui);

/// The button back to the matrix that was shown before.
void back_button(Gui& gui);

/// How strongly the maps of Inside are drawn: paler where they answer an earlier question.
float inside_opacity(const AppState& state);

/// A bar at the left of each row of the picture in which a number moved; with `cells` also a corner of each that did.
void mark_moved(Gui& gui, ImDrawList& list, const MatrixPicture& picture, const Box& plot, bool cells);

/// How many rows of the matrix that is looked at moved, and why these; nothing where there is no answer to compare
/// with.
void moved_line(Gui& gui, const Inside& inside);

/// The room that the gradients need beside a plot; 0 where this matrix has none.
float gradients_width(const Gui& gui, const Inside& inside);
/// Beside each row ∂A/∂score with the scale as it is, and with the other, as bars and in digits.
void draw_gradients(Gui& gui, ImDrawList& list, const Inside& inside, const Box& plot);

}  // namespace headlight
