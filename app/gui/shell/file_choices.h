// What the dialog that writes a file offers beside its name, and what the file will be.
#pragma once

#include <string>

#include "gui/frame/gui.h"
#include "session/figure_request.h"

namespace headlight {

/// The choices of a figure: what it shows, its width, theme and format.
void figure_choices(Gui& gui);
/// Which numbers are exported, their format and how large the file will be.
void export_choices(Gui& gui);

/// The scene of the figure that would be written, as large as the box `area` allows, and below it its size on paper,
/// in pixels and in bytes.
void figure_preview(Gui& gui, const Box& area);

/// The preview of the file that the browser would write now; null while it is made, and where there is none.
const FilePreview* known_preview(const AppState& state);

/// `41 kB`: two digits at least, of 1000 bytes each.
std::string bytes_in_words(std::size_t bytes);

}  // namespace headlight
