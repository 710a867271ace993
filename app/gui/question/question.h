// The controls of what is asked: the text, its tokens, the model, the mask, the scores.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// The keyboard's cursor in a text, in bytes; 0: it is in none.
struct Cursor {
  std::size_t at = 0;
  TextSide side = TextSide::source;
};

void sentence_panel(Gui& gui);  // the text, the samples, the token chips
/// Mask and model; below them, where it is opened, the rest. Beside a row of controls: what is not in the row.
void controls_panel(Gui& gui);
/// `row`: without what stands in the row of controls.
void mask_controls(Gui& gui, bool row);
void model_controls(Gui& gui, bool row);
/// Whether the controls are in a column; else mask and shape are in a row below the tokens, and the rest in its menu.
bool controls_in_column(const Gui& gui);
inline constexpr float kLeastForControls = 1360;  // the width of a window without a lesson that has the column
void controls_row(Gui& gui);
/// Whether the row's menu is open, and no other: one works with it, so the keys with Ctrl and Alt go on.
bool only_controls_open();
/// The position and the widths of that row.
struct ControlsRow {
  float top = 0;     // in its window
  float slider = 0;  // the width of each
};
/// A number of the shape in it: its name, and the longest value that its room is kept for.
struct RowNumber {
  const Words& label;
  const char* longest;
};
RowNumber layers_in_row(const Gui& gui);
extern const RowNumber kWidthInRow, kHeadsInRow;
/// d_model, heads and layers: below each other, or side by side in a row.
void shape_controls(Gui& gui, const ControlsRow* row = nullptr);
/// Blocks or allows cells of the large map while it is on.
void paint_control(Gui& gui, bool row);
void padding_control(Gui& gui);       // how many tokens are padding, where fresh weights are asked
void changed_by_hand(Gui& gui);       // and the way back
void score_controls(Gui& gui);        // scale and dropout
void part_controls(Gui& gui);         // residual, norm, scale and feed-forward of the chosen head's layer
void finer_model_controls(Gui& gui);  // seed and positions
void block_controls(Gui& gui);

/// The tokens of a text as chips: a click joins or cuts them, a drag moves a boundary.
void chips_of(Gui& gui, TextSide side, float width, const Cursor& cursor);
/// How many of the tokens belong to the sentence, padding to the length of other sentences left out.
std::size_t own_tokens(const Document& document, const Tokens& tokens);

/// Pixels of the design that are always kept beside the text: for which model answers and whether it was loaded right
/// or, instead, why maps mean little here, and what can be done.
inline constexpr float kModelLine = 468;
void model_line(Gui& gui, float width, const Cursor& cursor);
/// Why maps mean little: unknown words, random weights. False where there is no reason to doubt.
bool doubt_line(Gui& gui, float width, const Cursor& cursor);

/// Whether a token is one that the model does not know. The word at the cursor is not finished while it is typed; and
/// where the sentence chooses its model, it has not chosen yet.
bool is_unknown(const AppState& state, TextSide side, const Token& token, const Cursor& cursor);

/// Starts a training of the model's shape, where one can be; else it is disabled and its tooltip gives the reason.
void train_shape_button(Gui& gui);

/// The meaning of a token that the model does not know, and tokens that it does know.
std::string unknown_hint(const Gui& gui, const Token& token);

}  // namespace headlight
