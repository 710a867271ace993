// What the window says and draws of maps that are no weights: norms of heads, rollout of layers (derived/derived_maps.h).
#pragma once

#include "derived/derived_maps.h"
#include "gui/frame/map_view.h"

namespace headlight {

/// The switch between the kinds of maps, behind the last item where `beside` and where there is room.
void map_kind_switches(Gui& gui, bool beside);

/// What a square of such maps is, or why there are none: one line above them. Empty where the maps are weights and were
/// to be.
std::string map_kind_words(const Gui& gui);

/// The title of the map on which a head is seen: `Layer 2` of a rollout, else the head's.
std::string map_title(const Gui& gui, const HeadRef& head);

/// What stands before the bars of a row, and before their sum.
const char* row_words(const Gui& gui, MapKind kind);

/// A head of every layer, one after another: what stands in the grid of maps that belong to layers.
std::vector<HeadRef> layers_of(const AppState& state);

/// A layer's map in the grid, in place of its heads.
void one_layer(Gui& gui, HeadRef head, const Box& box, const AxisLabels& labels, float title_height);

}  // namespace headlight
