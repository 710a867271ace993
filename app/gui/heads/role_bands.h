// The roles of a conversation as coloured bands beside the large map.
#pragma once

#include "gui/frame/map_view.h"

namespace headlight {

/// How much of the map's room the bands take at its left and above it; 0 where no token has a role.
float band_room(const Gui& gui, const MapContent& content);

/// The bands along the rows, at the left of `area`, and along the columns, above. `layout` is that of the rest of the
/// area.
void draw_role_bands(Gui& gui, const MapContent& content, const MapLayout& layout, const Box& area);

}  // namespace headlight
