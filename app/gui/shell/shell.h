// The whole window: its parts that belong to no view, and the layout of all.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

struct PaletteEntry {
  std::string title;  // in the window's language
  std::string other;  // in the other one, and further words by which it is found
  std::string keys;   // that do the same
  std::function<void(Gui&)> run;
};

/// The likely ones first.
std::vector<PaletteEntry> palette_entries(const Gui& gui);

/// The entries with every word of the query in their title or their other words, in any case of letters; those with
/// all of them in the title come first.
std::vector<PaletteEntry> found_entries(const Gui& gui, const std::string& query);

}  // namespace headlight
