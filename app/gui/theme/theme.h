// The colours and measures of the window; the colours of data are separate (figure/drawing/colour.h).
#pragma once

#include <imgui.h>

#include "figure/drawing/colour.h"

namespace headlight {

/// Each colour has one meaning: `accent` and `selected` (its ground) what is chosen, `caution` doubt, `action` what can
/// be done, `warning` what is wrong. `outline` is the edge of what can be clicked. Text has a contrast of at least 4.5
/// on all grounds, an outline of 3 (WCAG 2.1, 1.4.3 and 1.4.11); `faint` is for what cannot be used.
struct Palette {
  ImU32 background, panel, text, dim, faint, line, outline, accent, selected, warning, caution, caution_ground, action,
      action_hovered, on_action, button, button_hovered;
};
const Palette& palette(Theme theme);

ImU32 to_imgui(Rgb colour, float opacity = 1);
/// One of the palette's colours, for scenes.
inline Rgb to_rgb(ImU32 colour) {
  const auto part = [&](int shift) { return static_cast<std::uint8_t>(colour >> shift & 0xFF); };
  return {part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT)};
}

/// Sets Dear ImGui's style: flat, on a 4-pixel grid, `unit` pixels for each pixel of the design.
void apply_style(Theme theme, float unit);

}  // namespace headlight
