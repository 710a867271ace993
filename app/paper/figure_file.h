// A Drawing as a file: SVG, PDF or PNG. The same drawing gives the same bytes: no date, no running number.
#pragma once

#include <filesystem>
#include <string>

#include "figure/drawing/drawing.h"
#include "paper/fonts.h"
#include "session/figure_request.h"

namespace headlight {

enum class FigureFormat { svg, pdf, png };

/// Pixels of a PNG in an inch of the drawing.
inline constexpr float kFigureDpi = 300;

/// The format that a file's ending names; an Error that lists the endings for any other.
Result<FigureFormat> figure_format(const std::filesystem::path& file);

/// Text is outlines in SVG, embedded fonts in PDF. Errors: a page that is larger than the format allows.
Result<std::string> figure_bytes(const Drawing& drawing, FigureFormat format, PaperFonts& fonts);

/// The file appears whole or not at all.
Status write_figure(const Drawing& drawing, const std::filesystem::path& file, PaperFonts& fonts);

/// Draws what a window orders; finds its fonts at the first figure.
DrawFigure figure_drawer();
/// The same drawing with the size of its file.
PreviewFigure figure_previewer();

}  // namespace headlight
