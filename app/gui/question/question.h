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

/// Puts a sample in place of the sentence, or opens its file.
void take_sample(Gui& gui, const Sample& sample);

/// The model with another width; the number of heads follows to the nearest that divides it.
Config with_d_model(Config config, Index d_model);
/// With another number of heads: key and value heads keep their share, and positions stay possible.
Config with_heads(Config config, Index heads);
/// The number of heads moved `steps` further among those that are possible.
Config with_heads_moved(Config config, int steps);
/// With a d_k of its own, or d_model / heads again.
Config with_own_d_k(Config config, bool own);
/// With other positions; rotary ones need an even d_k.
Config with_position(Config config, Position position);

/// The limits of the sliders.
inline constexpr Index kLeastSliderWidth = 4, kMostSliderWidth = 512, kMostSliderHeads = 16, kMostSliderLayers = 12,
                       kMostSliderFfn = 2048, kMostSliderHeadDim = 128;

}  // namespace headlight
