// The window's own colours and measures; data has colours of its own (figure/colour.h).
#pragma once

#include <imgui.h>

#include "figure/colour.h"

namespace headlight {

struct Palette {
  ImU32 background, panel, text, dim, faint, line, accent, warning, caution, button, button_hovered;
};
const Palette& palette(Theme theme);

ImU32 to_imgui(Rgb colour, float opacity = 1);

/// Sets Dear ImGui's style: flat, on a 4-pixel grid, `unit` pixels for each pixel of the design.
void apply_style(Theme theme, float unit);

}  // namespace headlight
