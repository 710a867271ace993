// The panels of the window, from top to bottom and left to right. Each reads Gui::state and adds to Gui::commands.
#pragma once

#include "figure/labels.h"
#include "gui/frame/gui.h"

namespace headlight {

/// The whole window: lays the panels out over the display and handles the keys.
void draw_window(Gui& gui);

void top_bar(Gui& gui);         // name, files, undo, language, theme, size, help
void sentence_panel(Gui& gui);  // the text, the samples, the token chips
void controls_panel(Gui& gui);  // mask, model, scores, block:
void mask_controls(Gui& gui);
void model_controls(Gui& gui);
void score_controls(Gui& gui);  // and what was changed by hand
void block_controls(Gui& gui);
void grid_panel(Gui& gui);       // every head of every layer
void words_panel(Gui& gui);      // the next word, before and after, and writing on
void head_panel(Gui& gui);       // the chosen head, large, and one of its rows as bars
void way_panel(Gui& gui);        // the data's way through a block, or the steps behind one weight
void matrix_panel(Gui& gui);     // one matrix of it, and the terms of one of its cells
void train_panel(Gui& gui);      // a training: its plan, its curves, the slider over its steps
void status_bar(Gui& gui);       // the cell in words, the work, the colour bar
void training_status(Gui& gui);  // in it: a training that goes on while another view is looked at
void help_overlay(Gui& gui);     // the keys
void browser_panel(Gui& gui);    // opening, saving, exporting
void palette_panel(Gui& gui);    // everything that can be done, by name

void flow_panel(Gui& gui);  // lines between the words, for the heads of a layer

// Two answers beside each other:
void compare_start_panel(Gui& gui);   // where there is nothing to compare yet: what to do
void compare_header_panel(Gui& gui);  // what A is and what B is
void compare_grid_panel(Gui& gui);    // the difference of every head
void compare_maps_panel(Gui& gui);    // A, B and B − A of the chosen head, and the next word in both

/// Keys that work wherever the pointer is, as the help overlay lists them.
void shortcuts(Gui& gui);

/// About a token that the model does not know: what it means, and what it does know.
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

/// The layer that the controls of mask and scale act on; nothing: all of the chosen head's stack.
std::optional<Index> scoped_layer(const AppState& state);
const MaskSpec& scoped_mask(const AppState& state);
/// The mask that the chosen head was computed with.
const Mask& mask_of_chosen(const AppState& state);
/// The scale set by hand in all layers, or in the one that the controls act on.
std::optional<float> scoped_scale(const AppState& state);
void say_scale(Gui& gui, std::optional<float> scale);
/// What the products of the chosen head's layer are multiplied by.
float shown_scale(const AppState& state);
/// The title of a head, a value of it and what was measured of it (figure/labels.h), at the current font.
MeasuredTitle measured_title(Gui& gui, const HeadRef& head, float room, const std::string& value = {});
/// The same with its baselines, as a line with a tooltip; nothing where nothing was measured.
void measured_line(Gui& gui, const HeadRef& head);
/// Encoder, decoder or cross-attention.
const char* stack_word(const Gui& gui, Stack stack);
/// What is wrong with the question, as a line of small text; false where nothing is.
bool problem_line(Gui& gui);
/// In place of what has no answer yet: that there is no text, or that it is being computed.
void nothing_yet(Gui& gui);
/// The three attentions of an encoder-decoder as buttons, in the order of the data's way. True where there are several.
bool stack_tabs(Gui& gui);
/// Keeps the answer on the screen as A, from any view.
void keep_button(Gui& gui);
/// The next order of the differences, or the one before.
void step_differences(Gui& gui, bool back);
/// The heads of the chosen head's layer, by number.
std::vector<Index> all_heads_of_layer(const AppState& state);
/// The smallest threshold of the Flow view's lines above 0, as its keys go.
inline constexpr float kLeastThreshold = 0.001f;
/// A probability as the window prints it: 34%, 0.5%.
std::string percent(float probability);
/// Whether there is room and reason for words_panel.
bool shows_words(const AppState& state);

/// The line above the grid: what the heads stand in order of, and which are looked for; behind the last item where that
/// is of the same line and there is room.
void head_order_line(Gui& gui, bool same_line);
/// Opens the search for heads, with the words of the pinned cell, and puts the keyboard into it.
void begin_search(Gui& gui);
/// The next order of the heads, or the one before.
void step_order(Gui& gui, bool back);

/// The limits of the sliders.
inline constexpr Index kLeastSliderWidth = 4, kMostSliderWidth = 512, kMostSliderHeads = 16, kMostSliderLayers = 12,
                       kMostSliderFfn = 2048, kMostSliderHeadDim = 128;

}  // namespace headlight
