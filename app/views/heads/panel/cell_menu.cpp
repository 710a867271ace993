// What can be done with one cell of the large map: the menu of the right button, and a weight that is typed.
#include <algorithm>

#include "gui/actions/buttons.h"
#include "gui/actions/possible.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "session/shown.h"
#include "views/heads/panel/stage_parts.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

bool can_set_weight(const Gui& gui) {
  return possible::has_pinned(gui) && !is_of_layers(possible::kind(gui)) && !nothing_asked(gui.state);
}

/// Gives whether a weight is to be typed.
bool menu(Gui& gui) {
  const CellRef cell = *gui.state.view.pinned;
  const HeadRef& head = gui.state.view.chosen;
  ImGui::Dummy({220 * gui.unit, 0});
  dim_text(gui, cell_in_words(gui, head, cell));
  if (menu_line(gui, "cell pin", gui.word(kChosenHeadWords.pin_cell), keys_of(Act::pin_hovered), true)) gui.push(Pin{});
  const auto line = [&](const char* name, Act act) { act_line(gui, name, action(act).name, act); };
  line("cell numbers", Act::numbers);
  line("cell why", Act::why);
  line("cell block", Act::block_cell);
  const bool types =
      menu_line(gui, "cell weight", gui.word(kChosenHeadWords.type_weight), {}, false, can_set_weight(gui));
  line("cell copy", Act::copy_weight);
  line("cell find", Act::find_heads);
  return types;
}

void typed_weight(Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const CellRef cell = *state.view.pinned;
  dim_text(gui, gui.word(kChosenHeadWords.weight_0_to_1));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  float weight = weight_of_words(state, head, cell);
  ImGui::SetNextItemWidth(120 * gui.unit);
  const bool entered = ImGui::InputFloat("##weight", &weight, 0, 0, "%.4f",
                                         ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  gui.name_item("typed weight", BoxKind::field);
  if (entered) gui.push_once(SetWeight{head, cell, std::clamp(weight, 0.0f, 1.0f)});
  if (entered || key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
}

}  // namespace

bool was_clicked_in_place(int button) {
  const ImGuiIO& io = ImGui::GetIO();
  return ImGui::IsMouseReleased(button) &&
         io.MouseDragMaxDistanceSqr[button] < io.MouseDragThreshold * io.MouseDragThreshold;
}

void cell_menu(Gui& gui, CellAsk ask) {
  if (ask == CellAsk::menu) ImGui::OpenPopup("cell menu");
  if (ask == CellAsk::weight) ImGui::OpenPopup("cell weight");
  if (!gui.state.view.pinned || !gui.state.trace) return;
  bool types = false;
  if (begin_menu("cell menu")) {
    types = menu(gui);
    ImGui::EndPopup();
  }
  if (types) ImGui::OpenPopup("cell weight");
  if (!ImGui::BeginPopup("cell weight")) return;
  if (can_set_weight(gui)) typed_weight(gui);
  else ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace headlight
