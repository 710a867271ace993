// The computation of one weight in five lines: the query, the key, their score, its share of the row, and the value
// that is passed on. A line opens to its steps.
#pragma once

#include <string_view>

#include "derived/inside.h"
#include "gui/frame/gui.h"

namespace headlight {

enum class WeightLine { asks, answers, matches, share, hands_over };
inline constexpr std::size_t kWeightLines = 5;

/// The line that a step belongs to, by the step's name (explain/steps.h).
WeightLine weight_line_of(std::string_view step);

/// Draws the lines that the answer has; `draw_step` draws a step of the one that is open.
void weight_lines(Gui& gui, const Inside& inside, void (*draw_step)(Gui&, const Inside&, std::size_t));

}  // namespace headlight
