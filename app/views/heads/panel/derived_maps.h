// The window draws and describes maps that are no weights: norms of heads, rollout of layers (derived/derived_maps.h).
#pragma once

#include "derived/derived_maps.h"

#include "gui/frame/map_view.h"

namespace headlight {

/// The kinds of maps as lines of a menu.
void map_kind_lines(Gui& gui);
/// The word of a kind: weights, norms, rollout.
const char* map_kind_word(const Gui& gui, MapKind kind);

/// One line above such maps: the meaning of a square, or the reason why there are none. Empty where the maps are
/// weights and were to be.
std::string map_kind_words(const Gui& gui);

/// The title of the map on which a head is seen: `Layer 2` of a rollout, else the head's.
std::string map_title(const Gui& gui, const HeadRef& head);

/// The words before the bars of a row, and before their sum.
const char* row_words(const Gui& gui, MapKind kind);

/// A head of every layer, one after another: what stands in the grid of maps that belong to layers.
std::vector<HeadRef> layers_of(const AppState& state);

}  // namespace headlight
