// The three attentions of an encoder-decoder, and the layers that the controls of mask and scale act on.
#pragma once

#include <optional>

#include "gui/frame/gui.h"

namespace headlight {

/// Encoder, decoder or cross-attention.
const char* stack_word(const Gui& gui, Stack stack);
/// How wide their tabs are, at the current font; 0 where there is one attention alone.
float stack_tabs_width(const Gui& gui);
/// A button for each, in the order of the data. True where there are several.
bool stack_tabs(Gui& gui);

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
