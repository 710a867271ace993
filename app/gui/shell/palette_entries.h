// The entries of the palette: the actions that are possible now, and those that act on one of several things by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gui/frame/gui.h"

namespace headlight {

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
