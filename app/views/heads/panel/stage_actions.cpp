#include <algorithm>

#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/actions/look.h"
#include "gui/actions/possible.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "session/shown.h"
#include "views/heads/panel/stage_parts.h"
#include "views/heads/panel/stage_sentence.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/grid_words.h"
#include "words/inside_words.h"
#include "words/mask_words.h"

namespace headlight {
namespace {

/// What is behind the pinned cell.
void cell_buttons(Gui& gui, bool with_why) {
  const AppState& state = gui.state;
  const CellRef cell = *state.view.pinned;
  if (flat_button(gui, "numbers", gui.word(kInsideWords.numbers))) explain_cell(gui, cell, InsideTab::numbers);
  const bool weights = shown_kind(state, state.view.chosen.stack) == MapKind::weights;
  if (weights && possible::pins_tokens(gui)) explain_item(gui, kInsideWords.tip_numbers, {Act::numbers});
  else explain_item(gui, weights ? kChosenHeadWords.tip_numbers_folded : kMapWords.tip_numbers_other);
  if (!with_why) return;
  ImGui::SameLine(0, 6 * gui.unit);
  if (flat_button(gui, "why", gui.word(kInsideWords.why))) explain_cell(gui, cell, InsideTab::why);
  explain_item(gui, kInsideWords.tip_why, {Act::why});
}

/// Setting the weight of the pinned cell by hand, as far as `right`.
void weight_by_hand(Gui& gui, float right) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const MapKind kind = shown_kind(state, head.stack);
  const CellRef cell = *state.view.pinned;
  ImGui::AlignTextToFramePadding();
  const char* label = gui.word(kind != MapKind::weights ? kMapWords.weight_by_hand : kMaskWords.set_by_hand);
  // The room for × is kept free: a slider that grew narrower under the pointer would jump.
  const float after = ImGui::GetFrameHeight() + 12 * gui.unit, least = 48 * gui.unit;
  const auto wide = [&] {
    const FontScope small(gui, TextSize::small);
    return ImGui::CalcTextSize(label).x + 6 * gui.unit;
  };
  // In a narrow stage the slider stands alone.
  if (ImGui::GetCursorPosX() + wide() + least + after <= right) {
    dim_text(gui, label);
    ImGui::SameLine(0, 6 * gui.unit);
  }
  const WeightEdit* edit = edited_weight(state.document.edits, head, cell);
  float weight = weight_of_words(state, head, cell);
  const float top = ImGui::GetCursorPosY();
  const float room = right - ImGui::GetCursorPosX() - after, narrowest = least;
  if (room < narrowest) return;  // the bars below the map set weights, too
  ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  constexpr float kField = 52;
  const bool field = room >= narrowest + kField * gui.unit;
  const float of_slider = std::min(field ? room - kField * gui.unit : room, 160 * gui.unit);
  if (slider(gui, "weight by hand", weight, 0.0f, 1.0f, kMaskWords.tip_weight, of_slider))
    gui.push(SetWeight{head, cell, std::clamp(weight, 0.0f, 1.0f)});
  if (field) {
    ImGui::SameLine(0, 4 * gui.unit);
    ImGui::SetCursorPosY(top);
    ImGui::SetNextItemWidth((kField - 4) * gui.unit);
    const bool entered = ImGui::InputFloat("##typed", &weight, 0, 0, "%.2f",
                                           ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    gui.name_item("typed weight by hand", BoxKind::field);
    if (entered) gui.push_once(SetWeight{head, cell, std::clamp(weight, 0.0f, 1.0f)});
  }
  if (!edit) return;
  ImGui::SameLine(0, 4 * gui.unit);
  ImGui::SetCursorPosY(top);
  if (flat_button(gui, "weight as computed", "×")) gui.push_once(SetWeight{head, cell, std::nullopt});
  explain_item(gui, kMaskWords.tip_weight);
}

}  // namespace

void draw_stage_actions(Gui& gui, const StageSlots& slots) {
  const AppState& state = gui.state;
  const Box& slot = slots.actions;
  if (is_of_layers(shown_kind(state, state.view.chosen.stack))) return;  // its cells are of no head
  const SlotScope scope("stage actions", slot);
  const float gap = 12 * gui.unit;
  constexpr float kRoomy = 460;
  const bool roomy = slot.w >= kRoomy * gui.unit;
  // In a low stage changes are offered here, and their room is kept: the bars and the menu of the cell set weights.
  const bool offers = slots.changes.h <= 0 && can_say_words(state) && !is_random(state);
  auto attempt = offers ? best_change(gui) : std::nullopt;
  if (!attempt) attempt = stage_try(gui);
  // The width of an attempt changes with the answer, so all controls but the one at the right end stand before it.
  float begin = button_width(gui.word(kInsideWords.numbers)) + gap;
  const Words& label = roomy ? kCompareWords.keep_as_a : kCompareWords.view_compare;
  const float right = slot.w - button_width(gui.word(label)),
              why = button_width(gui.word(kInsideWords.why)) + 6 * gui.unit;
  // In a narrow stage, and where weights are random, Why? is a tab beside the numbers, which have a button.
  const float of_attempt = (state.view.lesson ? 0 : 150) * gui.unit;  // lessons ask for it
  const bool with_why = !is_random(state) && right - begin - why - gap >= of_attempt;
  if (with_why) begin += why;
  if (state.view.pinned) cell_buttons(gui, with_why);
  ImGui::SetCursorPos({begin, 0});
  const std::string shown = attempt ? label_within(attempt->labels, right - begin - gap) : "";
  if (!shown.empty()) {
    if (primary_button(gui, attempt->name.c_str(), shown.c_str())) attempt->run(gui);
    explain_item(gui, attempt->tip);
  } else if (state.view.pinned && !shows_text(state) &&
             !state.trace->is_signed) {  // words are read there, no cell is set
    weight_by_hand(gui, right);
  }
  ImGui::SetCursorPos({right, 0});
  keep_button(gui, label);
}

}  // namespace headlight
