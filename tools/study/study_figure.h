// A study as a figure: maps of layers and heads, or tokens, lines over layers, and bars of the largest places, each
// with the interval of its mean and the number of its pairs.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.h"
#include "study/study.h"

namespace headlight {

/// Whether a file or folder begins as one that --resume wrote.
bool is_study(const std::string& path);

/// The study that was stated last; a warning where there are others, or rows without numbers. Errors: no study, none
/// with a row that has numbers.
Result<Drawing> draw_study(const std::string& study, const FigureOptions& options, const TextWidth& measure,
                           int threads, std::vector<Error>& problems);

/// Of `figure`: draws its SOURCE into the file, with --view study or, where it is a study, without a view; nothing
/// where another picture is asked for. Errors also: options that a study does not take.
std::optional<Result<int>> figure_of_study(const QuestionCommand& command, const FigureOptions& options,
                                           const std::string& file, const std::string& font);

}  // namespace headlight
