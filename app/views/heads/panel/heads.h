// The view of all heads, and the chosen head beside them.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void stage_panel(Gui& gui);  // the chosen head, large, with its description and actions
void atlas_panel(Gui& gui);  // every head of every layer
/// What a stage in this box says and shows first, and where the maps of an atlas stand: no tooltip lies there.
Box headline_and_scene(const Gui& gui, const Box& stage);
Box maps_of_atlas(const Gui& gui, const Box& atlas);
/// What the maps of an atlas of this width have across.
float atlas_room(const Gui& gui, float width);

/// Draws the line above the maps of a first start; false where it was read.
bool greeting(Gui& gui);

}  // namespace headlight
