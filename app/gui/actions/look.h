// Changes of the view by keys and buttons: the chosen head, the cell, the order, the part that is seen.
#pragma once

#include <functional>
#include <vector>

#include "derived/answer_comparison.h"
#include "gui/frame/gui.h"
#include "views/sentence/sentence_content.h"

namespace headlight {

/// Chooses another head: in the order of the grid where `layers` is 0 and the grid has one, else `layers` layers and
/// `heads` heads further.
void choose_head(Gui& gui, Index layers, Index heads);
void step_stack(Gui& gui, bool back);
/// Moves the pinned cell; in the Inside view the cell that is explained.
void move_cell(Gui& gui, Index rows, Index columns);

/// Pushes the look of the text, changed by `change`.
void change_text_look(Gui& gui, const std::function<void(TextLook&)>& change);
/// Shows this form of the stage; the next of them that can be shown.
void show_form(Gui& gui, StageForm form);
void step_form(Gui& gui);
/// The sentence that the stage shows; nothing where it shows none.
std::optional<SentenceContent> shown_sentence(const AppState& state);
/// Over that sentence: to another word, or to the next head in the order of what the word looks at.
void move_in_sentence(Gui& gui, Index heads, Index words);
/// Pins the cell of an arc in its head.
void pin_arc(Gui& gui, const SentenceArc& arc);
/// Switches between the weights of the chosen words and the weights at them as shades of the text.
void turn_text(Gui& gui);
/// One head, its layer, all heads.
void step_text_heads(Gui& gui);
/// Hides the weights over a picture, or shows them again.
void show_picture_alone(Gui& gui);
/// The cell that is pinned when a token is chosen: a query with its strongest key; a key in the row of the same token,
/// where there is such a row.
CellRef cell_of_word(const AppState& state, bool query, Index token);

/// The next dialect of View::code, or the one before.
void step_dialect(Gui& gui, bool back);
/// Looks at what the next line of the program makes, or the one before; nothing at its ends.
void step_code_line(Gui& gui, bool back);

/// The next way in which the grid shows the heads, or the one before.
void step_grid(Gui& gui, bool back);
/// The next kind of maps, or the one before.
void step_map_kind(Gui& gui, bool back);
/// The next order of the heads, or the one before.
void step_order(Gui& gui, bool back);
/// The next order of the differences, or the one before.
void step_differences(Gui& gui, bool back);
/// Opens the search for heads, with the words of the pinned cell, and gives it the keyboard.
void begin_search(Gui& gui);

/// The cell of the comparison that is hovered, else pinned, on the joint axes.
std::optional<CellRef> lit_joint_cell(const AppState& state, const JointStack& stack);
std::optional<CellRef> pinned_joint_cell(const AppState& state, const JointStack& stack);

/// Opens this tab of View::inside on a weight of the chosen head.
void explain_cell(Gui& gui, const CellRef& cell, InsideTab tab);
/// View::compare: what of A is put into B, or the maps of both.
void show_patch(Gui& gui, bool on, bool stopped = false);
/// The tab Lens of View::inside.
void show_lens(Gui& gui);
/// The next tab of View::inside.
void step_tab(Gui& gui);

/// Zooms the large head, or the three maps of Compare, around the lit cell.
void zoom(Gui& gui, float factor);
void zoom_compared(Gui& gui, float factor);

/// The heads of the chosen head's layer, by number.
std::vector<Index> all_heads_of_layer(const AppState& state);
/// The smallest threshold above 0 that the keys reach.
inline constexpr float kLeastThreshold = 0.001f;
void change_threshold(Gui& gui, float factor);

/// Whether special tokens can be left out, or the tokens of a word merged, in the maps that are shown.
bool can_fold(const AppState& state, bool FoldChoice::*which);
void toggle_fold(Gui& gui, bool FoldChoice::*which);
bool can_choose_pair_part(const AppState& state);
/// The next part of the pairs of words in two sentences, or the one before.
void step_pair_part(Gui& gui, bool back);
void step_sentence(Gui& gui, bool back);

/// The next step of the lesson or the one before, over the ends of the lessons.
void turn_page(Gui& gui, bool back);

}  // namespace headlight
