// Means with their intervals, as bars and as lines over layers.
#pragma once

#include <string>
#include <vector>

#include "figure/page.h"
#include "study/kept/summary.h"

namespace headlight {

struct PlottedMean {
  std::string label = {};
  Summary summary = {};
  bool dim = false;  // its label: what it is compared with
};

/// So many digits that the largest of the numbers has three of them; and a number with so many.
int digits_of(double largest);
std::string number_text(double value, int digits);

/// A line each: the label, a bar from 0 to the mean with its interval (hit box `bar LABEL`), and the same in numbers.
void add_bars(Page& page, const std::vector<PlottedMean>& bars, Theme theme);
/// A point each (hit box `point LABEL`) with its interval, joined by a line.
void add_line_plot(Page& page, const std::vector<PlottedMean>& points);

}  // namespace headlight
