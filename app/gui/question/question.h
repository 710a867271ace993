// The controls of what is asked: the text, its tokens, the model, the mask, the scores.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void sentence_panel(Gui& gui);  // the text, the samples, the token chips
void controls_panel(Gui& gui);  // mask, model, scores, block:
void mask_controls(Gui& gui);
void model_controls(Gui& gui);
void score_controls(Gui& gui);  // and what was changed by hand
void block_controls(Gui& gui);

/// The meaning of a token that the model does not know, and tokens that it does know.
std::string unknown_hint(const Gui& gui, const Token& token);

}  // namespace headlight
