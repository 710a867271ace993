// The view of lines between the words.
#pragma once

#include <vector>

#include "gui/frame/gui.h"

namespace headlight {

void flow_panel(Gui& gui);  // for the heads of a layer

/// The heads of the chosen head's layer, by number.
std::vector<Index> all_heads_of_layer(const AppState& state);
/// The smallest threshold above 0 that the keys reach.
inline constexpr float kLeastThreshold = 0.001f;

}  // namespace headlight
