// The controls of what is asked: the text, its tokens, the model, the mask, the scores.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void sentence_panel(Gui& gui);  // the text, the samples, the token chips
void controls_panel(Gui& gui);  // mask and model; below them, where it is opened, the rest:
void mask_controls(Gui& gui);
void model_controls(Gui& gui);
void changed_by_hand(Gui& gui);       // and the way back
void score_controls(Gui& gui);        // scale and dropout
void part_controls(Gui& gui);         // residual, norm, scale and feed-forward of the chosen head's layer
void finer_model_controls(Gui& gui);  // seed and positions
void block_controls(Gui& gui);

/// The tokens of a text as chips: a click joins or cuts them, a drag moves a boundary.
void chips_of(Gui& gui, TextSide side, float width);
/// How many of the tokens are the sentence's own, and not there to make it as long as others.
std::size_t own_tokens(const Document& document, const Tokens& tokens);

/// Why maps mean little here, and what can be done: unknown words, random weights. One line below the chips, and its
/// height; nothing and 0 where there is no reason to doubt.
void doubt_line(Gui& gui);
float doubt_height(const Gui& gui);

/// Starts a training of the model's shape, where one can be; else it is disabled and its tooltip gives the reason.
void train_shape_button(Gui& gui);

/// The meaning of a token that the model does not know, and tokens that it does know.
std::string unknown_hint(const Gui& gui, const Token& token);

}  // namespace headlight
