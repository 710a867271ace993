// The parts of the stage around its large map. Each draws into one slot, whose position follows from the window's size
// alone: no text of one part moves another. Only the bars reach up into the room that the map leaves free.
#pragma once

#include <vector>

#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "views/sentence/panel/sentence.h"

namespace headlight {

/// The slots of the stage; `scene` is the room of what it shows. `headline` is the height of its first line of words.
struct StageSlots {
  Box header, scene, guess, changes, actions;
  float headline = 0;
  bool low = false;
};

/// The height of the second line of words, which a low stage does not have, in pixels of the design.
inline constexpr float kSecondLine = 22;

/// The slots of a stage in this box of a window of that size: nothing in it depends on the content. In a low window the
/// changes have no height.
StageSlots stage_slots(const Box& stage, ImVec2 window, float unit);

/// The large map as it was laid out: its content and where its cells are.
struct StageMap {
  MapContent content;
  MapLayout layout;
};

/// A slot as a separate window, so that nothing is drawn outside; widgets begin at its top left corner.
class SlotScope {
 public:
  SlotScope(const char* name, const Box& slot);
  ~SlotScope();
  SlotScope(const SlotScope&) = delete;
};

/// The form of the stage, the chosen head and its switch; the lit cell in words; of a sentence how many weights have
/// arcs. `sentence`: null where no sentence is shown.
void draw_stage_header(Gui& gui, const StageSlots& slots, const SentenceStage* sentence);
/// What a click on a cell asks for: the menu of what can be done with it, or its weight to be typed.
enum class CellAsk { none, menu, weight };
/// The row of the lit cell as bars under the map's columns. Of the pinned row a click pins the bar's key, a drag sets
/// its weight.
CellAsk draw_row_bars(Gui& gui, const Box& slot, const StageMap& map);
/// Opens what is asked for, of the pinned cell, and draws it while it is open.
void cell_menu(Gui& gui, CellAsk ask);
/// Whether a mouse button was released where it was pressed.
bool was_clicked_in_place(int button);
/// The text instead of map and bars, each word shaded.
void draw_text_stage(Gui& gui, const Box& room);
/// The forms of the stage, in the order of StageForm.
std::vector<Segment> form_segments(const Gui& gui);
/// The words that the model predicts: the next one, or the hidden one; before and after the edits.
void draw_guess(Gui& gui, const Box& slot);
/// Changes of one word that move the row of the pinned cell; in a low stage, whose slot has no height, the best of them
/// stands among the actions.
void draw_stage_changes(Gui& gui, const Box& slot);
/// The buttons that act on the pinned cell and on the answer.
void draw_stage_actions(Gui& gui, const StageSlots& slots);

/// How much of the map's room the bands take at its left and above it; 0 where no token has a role.
float band_room(const Gui& gui, const MapContent& content);

/// The bands along the rows, at the left of `area`, and along the columns, above. `layout` is that of the rest of the
/// area.
void draw_role_bands(Gui& gui, const MapContent& content, const MapLayout& layout, const Box& area);

}  // namespace headlight
