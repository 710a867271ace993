// The three attentions of an encoder-decoder.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Encoder, decoder or cross-attention.
const char* stack_word(const Gui& gui, Stack stack);
/// How wide their tabs are, at the current font; 0 where there is one attention alone.
float stack_tabs_width(const Gui& gui);
/// A button for each, in the order of the data. True where there are several.
bool stack_tabs(Gui& gui);

}  // namespace headlight
