
#include "gui/question/question.h"

namespace headlight {

void controls_panel(Gui& gui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{8 * gui.unit, 3 * gui.unit});
  mask_controls(gui);
  const bool shaped = takes_shape(gui.state.document);
  if (shaped) model_controls(gui);
  score_controls(gui);
  if (shaped) block_controls(gui);
  ImGui::PopStyleVar();
}

}  // namespace headlight
