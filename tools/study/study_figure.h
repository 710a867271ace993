// A study as a figure: maps of layers and heads, or tokens, lines over layers, and bars of the largest places, each
// with the interval of its mean and the number of its pairs.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.h"
#include "study/read_study.h"

namespace headlight {

Drawing drawing_of_study(const ReadStudy& study, const FigureOptions& options, const TextWidth& measure);

/// Of `figure` and `page`: draws its SOURCE into the file, with --view study or, where it is a study, without a view;
/// nothing where something else is asked for. A page is one HTML file with the figure, a table and the numbers as JSON.
/// Errors also: options that a study does not take.
std::optional<Result<int>> figure_of_study(const QuestionCommand& command, const FigureOptions& options,
                                           const std::string& file, const std::string& font);

}  // namespace headlight
