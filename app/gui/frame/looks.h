// The looks of what can be clicked. There are five, so that what can be clicked differs from what is only read: primary
// (filled, one a screen), button (outlined; flat_button of gui/frame/draw.h), segmented (a choice, as one outlined
// bar), menu (with a triangle) and link (underlined under the pointer).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/frame/gui.h"

namespace headlight {

/// Filled with the colour of actions: what to do next.
bool primary_button(Gui& gui, const char* name, const char* label);
float primary_width(const char* label);

/// One choice of a segmented bar.
struct Segment {
  std::string name;
  const char* label;
  bool on = false;
  std::string tip = {};
  bool faint = false;  // cannot be chosen now; the tip gives the reason
};
/// The bar from the cursor on; the number of the segment that was pressed.
std::optional<std::size_t> segmented(Gui& gui, const std::vector<Segment>& segments);
/// How wide it is, at the current font.
float segmented_width(const std::vector<Segment>& segments);

/// Opens a menu, which its triangle shows; true when pressed. `on`: a setting in it differs from the default.
bool menu_button(Gui& gui, const char* name, const char* label, bool on = false);
float menu_width(const Gui& gui, const char* label);
/// The popup of a menu; false while it is closed, else it ends with ImGui::EndPopup. Escape closes it.
bool begin_menu(const char* popup);
/// The one that hangs below the last item; above it, or right-aligned with it, where it would leave the window.
bool begin_menu_below(Gui& gui, const char* popup);

/// A line of a menu: its text, and at the right the keys that do the same. Ticked while `on`.
bool menu_line(Gui& gui, const char* name, const char* label, const std::string& keys = {}, bool on = false,
               bool possible = true);

/// A separate window in the middle of the display, with a title; it is no larger than nine tenths of the display.
/// `width` and `height` are in units. It ends with end_dialog, as does every window with its border and colour.
void begin_dialog(Gui& gui, const char* name, const Words& title, float width, float height);
void end_dialog();

/// In the colour of actions, underlined under the pointer.
bool link_button(Gui& gui, const char* name, const char* label);

}  // namespace headlight
