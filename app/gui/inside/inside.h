// The views of one block: its inside, and its program.
#pragma once

#include "figure/inside_scene.h"
#include "gui/frame/gui.h"

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

/// The button back to the matrix that was shown before.
void back_button(Gui& gui);

}  // namespace headlight
