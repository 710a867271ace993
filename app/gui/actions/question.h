// Changes of the question by keys and buttons: its model, its mask, its words.
#pragma once

#include <vector>

#include "gui/frame/gui.h"
#include "question/question_fields.h"
#include "view/settings.h"

namespace headlight {

/// The model with another width; the number of heads follows to the nearest that divides it.
Config with_d_model(Config config, Index d_model);
/// With another number of heads: key and value heads keep their share, and positions stay possible.
Config with_heads(Config config, Index heads);
/// The number of heads moved `steps` further among those that are possible.
Config with_heads_moved(Config config, int steps);
/// The model with a d_k that is set separately, or with d_model / heads again.
Config with_own_d_k(Config config, bool own);
/// With other positions; rotary ones need an even d_k.
Config with_position(Config config, Position position);
/// The model with the next architecture, kind of positions or activation function; with the other position or kind of
/// the norms; with the gate or the biases switched.
Config next_kind(Config config);
Config next_positions(Config config);
Config next_activation(Config config);
Config other_norm_place(Config config);
Config other_norm_kind(Config config);
Config other_gate(Config config);
Config other_biases(Config config);
/// The divisors of `number` up to `most`.
std::vector<Index> divisors(Index number, Index most);

/// The limits of the sliders.
inline constexpr Index kLeastSliderWidth = 4, kMostSliderWidth = 512, kMostSliderHeads = 16, kMostSliderLayers = 12,
                       kMostSliderFfn = 2048, kMostSliderHeadDim = 128;

/// Pushes the model's shape, changed by `change`, as one step of undo.
void change_config(Gui& gui, Config (*change)(Config));

/// A part of the block that holds the chosen head: whether there is one, whether it is off, and the command to switch
/// it.
bool has_part_here(const Gui& gui, BlockPart part);
bool is_part_off_here(const Gui& gui, BlockPart part);
void switch_part_here(Gui& gui, BlockPart part);
/// Whether residual connections, norms or feed-forwards are off anywhere.
bool any_parts_off(const Gui& gui);

void multiply_scale(Gui& gui, float factor);
/// Blocks the pinned cell in the mask, or allows it again.
void block_pinned(Gui& gui);
/// Whether the pinned row is a token that can be cut, and has a token behind it that it can be joined with.
bool can_cut(const Gui& gui);
bool can_join(const Gui& gui);
void cut_pinned(Gui& gui);
void join_pinned(Gui& gui);

/// Replaces the sentence, and chooses the head with the most informative cell.
void take_sentence(Gui& gui, const std::string& text);
/// Replaces the sentence by one with one word changed, and pins this cell of the chosen head.
void take_changed_sentence(Gui& gui, const std::string& text, const CellRef& cell);
/// Replaces the sentence by a sample, or opens the sample's file.
void take_sample(Gui& gui, const Sample& sample);
/// `heads 4 → 8`: the numbers of a model that differ; empty where none does.
std::string changed_shape(Language language, const Config& before, const Config& now);

/// The difference between two questions, in a few words: "L1·H2 off", "heads 4 → 8". Of several changes the first.
std::string change_in_words(Language language, const Document& before, const Document& now,
                            const QuestionFields& fields = question_fields());

}  // namespace headlight
