// The controls of what is asked: the text, its tokens, the model, the mask, the scores.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void sentence_panel(Gui& gui);  // the text, the samples, the token chips
/// Mask and shape in a row; all else in its menu.
void controls_row(Gui& gui);
void controls_panel(Gui& gui);  // of that menu
void mask_controls(Gui& gui);
void model_controls(Gui& gui);
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
extern const RowNumber kWidthInRow, kHeadsInRow, kHeadsInWideRow;
/// d_model, heads and layers side by side.
void shape_controls(Gui& gui, const ControlsRow& row);
/// Blocks or allows cells of the large map while it is on.
void paint_control(Gui& gui);
void padding_control(Gui& gui);       // how many tokens are padding, where fresh weights are asked
void changed_by_hand(Gui& gui);       // and the way back
void score_controls(Gui& gui);        // scale and dropout
void part_controls(Gui& gui);         // residual, norm, scale and feed-forward of the chosen head's layer
void finer_model_controls(Gui& gui);  // seed and positions
void block_controls(Gui& gui);

/// Whether the tokens have a line of their own below the text. In View::heads they are on the stage: the words of the
/// sentence, or a line above the map.
bool has_chips(const AppState& state);
/// The lines of tokens of all texts, in so much room.
void all_chips(Gui& gui, float room);
/// The gap before token `i`: a click joins what it parts, a drag moves the boundary. `begin`: of the sentence in the
/// text.
void gap_before(Gui& gui, TextSide side, const Tokens& tokens, std::size_t i, const Box& gap, std::size_t begin);
/// The tokens of a text as chips: a click joins or cuts them, a drag moves a boundary.
void chips_of(Gui& gui, TextSide side, float width, const Cursor& cursor);
/// How many of the tokens belong to the sentence, padding to the length of other sentences left out.
std::size_t own_tokens(const Document& document, const Tokens& tokens);

/// Which model answers and whether it was loaded right or, instead, why maps mean little here, and what can be done.
void model_line(Gui& gui, float width, const Cursor& cursor);
/// Why maps mean little: unknown words, random weights. False where there is no reason to doubt.
bool doubt_line(Gui& gui, float width, const Cursor& cursor);

/// Whether a token is one that the model does not know. The word at the cursor is not finished while it is typed; and
/// where the sentence chooses its model, it has not chosen yet.
bool is_unknown(const AppState& state, TextSide side, const Token& token, const Cursor& cursor);

/// The meaning of a token that the model does not know, and tokens that it does know.
std::string unknown_hint(const Gui& gui, const Token& token);

}  // namespace headlight
