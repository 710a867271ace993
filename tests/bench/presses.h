// How long the window takes from a key or a command to the picture that answers it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/drawn_window.h"
#include "bench/report.h"

namespace headlight {

/// Measures a row of this name on a window of its own: the median, the lowest and the highest of so many presses.
using Presses = Result<BenchRow> (*)(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter,
                                     int presses);

/// A row, and the tokens of its text.
struct PressedRow {
  const char* name;
  Index tokens;
  Presses measured;
};

/// Every row: Alt M on the trained model, a word appended in GPT-2-small's shape, another cell with its *Why?*.
std::vector<PressedRow> pressed_rows();

}  // namespace headlight
