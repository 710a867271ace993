// The whole window: its parts that belong to no view, and the layout of all.
#pragma once

#include <string>

#include "gui/frame/gui.h"

namespace headlight {

/// Every character that the window itself writes, so that its glyphs are there from the start.
std::string window_characters();

/// Lays the panels out over the display and handles the keys.
void draw_window(Gui& gui);

void top_bar(Gui& gui);        // name, files, undo, language, theme, size, help
void status_bar(Gui& gui);     // the cell in words, the work, the colour bar
void help_overlay(Gui& gui);   // the keys
void browser_panel(Gui& gui);  // opening, saving, exporting
void numbers_panel(Gui& gui);  // numbers typed by hand
void palette_panel(Gui& gui);  // everything that can be done, by name

/// Keys that work wherever the pointer is, as the help overlay lists them.
void shortcuts(Gui& gui);

}  // namespace headlight
