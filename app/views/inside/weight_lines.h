// The scene of the computation of one weight in five lines: the query, the key, their score, its share of the row, and
// the value that is passed on. The steps of each stand below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "views/inside/inside_scene.h"

namespace headlight {

enum class WeightLine { asks, answers, matches, share, hands_over };
inline constexpr std::size_t kWeightLines = 5;

/// The line that a step belongs to, by the step's name (explain/steps.h).
WeightLine weight_line_of(std::string_view step);

/// A weight, and the numbers that it is computed from.
struct WeightNumbers {
  const Trace& trace;
  HeadRef head;
  CellRef cell;
  const std::vector<Step>& steps;
  const std::vector<MatrixPicture>& pictures;  // one a step
  const Matrix& row;                           // the weights of the query, (1, keys)
  bool gradients = false;                      // are written beside the shares

  /// null where this weight has no such step.
  const Step* step(std::string_view name) const;
  /// Whether a step belongs to the line.
  bool has(WeightLine line) const;
};

/// The step whose number a line is about; null where this weight has none.
const Step* step_of_line(const WeightNumbers& of, WeightLine line);

/// How high the heading of a line is, and what stands below it.
float heading_of_line(const InsideType& type);
float numbers_of_line(const InsideType& type, WeightLine line);

/// Numbers as bars from a common zero, each `pitch` wide.
struct NumberBars {
  Box plot = {};
  float pitch = 0;
  std::string symbol = {};
  const MatrixPicture* numbers = nullptr;  // null: there are none
  /// The bar at a point of the scene, or the digits below it.
  std::optional<Index> at(Point point) const;
  /// `q[3] = −0.1234`.
  std::string tip(Index bar) const;

  float digits = 0;  // their height below the plot
};

/// Adds a line: its heading, whose hit box is `line 1`, and its numbers. `mark`: room at the left of the heading.
NumberBars add_weight_line(Drawing& scene, const InsideStyle& style, const WeightNumbers& of, WeightLine line, Point at,
                           float width, float mark);

}  // namespace headlight
