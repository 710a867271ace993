// Curves over the steps of a training: where their points go, which numbers stand at the axes, and which colour each of
// them has. Arithmetic, no drawing.
#pragma once

#include <cstddef>
#include <vector>

#include "figure/drawing/colour.h"
#include "figure/drawing/map_layout.h"

namespace headlight {

/// The box of a plot, and the steps and values at its edges.
struct CurveFrame {
  Box plot;
  double first = 0, last = 1;  // steps, left and right
  double bottom = 0, top = 1;  // values

  float x(double step) const;
  float y(double value) const;  // at an edge where it is beyond it
  double step_at(float x) const;
};

/// The steps that an axis spans while a training of `planned` is at `step`: all of them, halved as often as what there
/// is fits into it, so that a young curve is not squeezed against its axis.
double shown_steps(Index step, Index planned);

/// Round numbers (1, 2 or 5 times a power of ten apart) from `low` to `high`, at most `most` and at least one of them.
std::vector<double> round_ticks(double low, double high, int most);

/// The colour of the index-th curve: eight that stay apart for colour-blind eyes, none of them the accent's orange;
/// beyond them from the first again. Each has a contrast of at least 3 to the background (WCAG 2.1, 1.4.11).
Rgb series_colour(std::size_t index, Theme theme);

}  // namespace headlight
