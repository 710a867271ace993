
#include "gui/frame/looks.h"
#include "gui/question/question.h"
#include "words/model_words.h"

namespace headlight {
namespace {

/// Opens and closes what most readers never change; whether it is open is the window's own affair, as of any menu.
bool more_controls(Gui& gui) {
  bool& open = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("more controls"));
  ImGui::Dummy({0, 4 * gui.unit});
  if (menu_button(gui, "more controls", gui.word(kModelWords.more), open)) open = !open;
  explain_item(gui, kModelWords.tip_more);
  return open;
}

}  // namespace

void controls_panel(Gui& gui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{8 * gui.unit, 3 * gui.unit});
  const bool shaped = takes_shape(gui.state.document);
  mask_controls(gui);
  if (shaped) model_controls(gui);
  changed_by_hand(gui);
  if (more_controls(gui)) {
    score_controls(gui);
    if (shaped) finer_model_controls(gui);
    if (shaped) block_controls(gui);
    part_controls(gui);
  }
  ImGui::PopStyleVar();
}

}  // namespace headlight
