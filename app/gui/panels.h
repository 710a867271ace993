// The panels of the window, from top to bottom and left to right. Each reads Gui::state and adds to Gui::commands.
#pragma once

#include "gui/gui.h"

namespace headlight {

/// The whole window: lays the panels out over the display and handles the keys.
void draw_window(Gui& gui);

void top_bar(Gui& gui);           // name, files, undo, language, theme, size, help
void sentence_panel(Gui& gui);    // the text, the samples, the token chips
void controls_panel(Gui& gui);    // mask, model, scores, block
void grid_panel(Gui& gui);        // every head of every layer
void head_panel(Gui& gui);        // the chosen head, large, and one of its rows as bars
void status_bar(Gui& gui);        // the cell in words, the work, the colour bar
void help_overlay(Gui& gui);      // the keys
void browser_panel(Gui& gui);     // opening, saving, exporting

/// Keys that work wherever the pointer is, as the help overlay lists them.
void shortcuts(Gui& gui);

/// d_model moved to `d_model`, the number of heads following it to the nearest that divides it.
Config with_d_model(Config config, Index d_model);
/// The number of heads moved `steps` further among those that divide d_model.
Config with_heads_moved(Config config, int steps);

/// The limits of the sliders.
inline constexpr Index kLeastSliderWidth = 4, kMostSliderWidth = 512, kMostSliderHeads = 16, kMostSliderLayers = 12,
                       kMostSliderFfn = 2048;

}  // namespace headlight
