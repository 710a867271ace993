// Text where ImGui has none: upright columns of Chinese, rotated labels, text cut to a width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "figure/drawing/drawing.h"
#include "gui/frame/gui.h"

namespace headlight {

inline ImVec2 top_left(const Box& box) { return {box.x, box.y}; }
inline ImVec2 bottom_right(const Box& box) { return {box.x + box.w, box.y + box.h}; }

/// One character below the other, centred on x, the last one ending at `bottom`.
void draw_stacked(ImDrawList& list, float x, float bottom, ImU32 colour, std::string_view text);

/// Reading upwards, centred on x, beginning at `bottom`.
void draw_rotated(ImDrawList& list, float x, float bottom, ImU32 colour, std::string_view text);

/// A line of the window's text in ems.
inline constexpr float kLineOfEm = 1.25f;

/// A line that differs from the lines of its font by no more pixels is drawn in the font's own size.
inline constexpr float kUnscaled = 0.5f;
/// The font whose lines are nearest to so many pixels.
TextSize font_for(const Gui& gui, float line);

/// How texts that are not ready to be drawn yet (Fonts::shown) are measured, as a scene draws them.
TextWidth window_measure(Gui& gui);

/// How wide a text is that is not ready to be drawn yet (Fonts::shown), at the current font.
float shown_width(const Gui& gui, std::string_view text);

/// A button with all of its text unchanged: an outline of a pixel, no fill; filled, with a stronger edge, while `on`. A
/// cross has no outline.
bool flat_button(Gui& gui, const char* name, const char* label, bool on = false);

/// A line of a list with all of its text unchanged: in a label of ImGui `##` would end the text.
bool plain_selectable(const std::string& text, bool selected = false, ImGuiSelectableFlags flags = 0);

/// How wide a button with this label is, at the current font.
float button_width(const char* label);

/// Goes on `gap` pixels beside the last item where `width` more have room in the window, else in a new line.
void same_line_if_room(float width, float gap);

/// Small text that breaks where the window ends.
void wrapped_small(const Gui& gui, const std::string& line, ImU32 colour);
void wrapped_dim(const Gui& gui, const std::string& line);

/// A line at the current font, as much as fits into `room`; all of it under the pointer where that is not all.
void cut_text(Gui& gui, const std::string& line, ImU32 colour, float room);

/// As many of some sentences as `room` has for them on one line, the first in any case.
std::string whole_sentences(const std::vector<std::string>& sentences, float room);

/// Amber lines across what the model does not know.
void hatch_unknown(const Gui& gui, ImDrawList& list, const Box& box);

/// Text at the current font.
void coloured_text(ImU32 colour, std::string_view text);
/// Small dim text, as labels of controls are written.
void dim_text(const Gui& gui, std::string_view text);

/// A text broken into lines, ready to be drawn.
struct Paragraph {
  std::vector<std::string> lines;
  float height = 0;
};

Paragraph paragraph(Gui& gui, const std::string& text, float room);
void draw_paragraph(Gui& gui, const Paragraph& set, ImVec2 at, ImU32 colour, const char* name, float width);

}  // namespace headlight
