// Which layers the controls of mask and scale act on, and the values these have there.
#pragma once

#include <optional>

#include "gui/frame/gui.h"

namespace headlight {

/// The layer that the controls of mask and scale act on; nothing: every layer of the chosen head's stack.
std::optional<Index> scoped_layer(const AppState& state);
const MaskSpec& scoped_mask(const AppState& state);
/// The mask that the chosen head was computed with.
const Mask& mask_of_chosen(const AppState& state);
/// The scale set by hand in all layers, or in the one that the controls act on.
std::optional<float> scoped_scale(const AppState& state);
void push_scale(Gui& gui, std::optional<float> scale);
/// The factor of the products q·k in the chosen head's layer.
float shown_scale(const AppState& state);

}  // namespace headlight
