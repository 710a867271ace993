// The three attentions of an encoder-decoder.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Encoder, decoder or cross-attention.
const char* stack_word(const Gui& gui, Stack stack);
/// A button for each, in the order of the data. True where there are several.
bool stack_tabs(Gui& gui);

}  // namespace headlight
