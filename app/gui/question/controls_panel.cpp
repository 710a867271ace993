#include <imgui_internal.h>

#include <algorithm>

#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/stacks.h"
#include "gui/question/question.h"
#include "session/lesson_commands.h"
#include "words/mask_words.h"
#include "words/model_words.h"

namespace headlight {
namespace {

// Pixels of the design, in the row.
constexpr float kAfterLabel = 6, kBetweenMasks = 4, kBeforeMenu = 12;

float slider_width(const Gui& gui) {
  return std::round(std::clamp(0.13f * ImGui::GetIO().DisplaySize.x / gui.unit - 77, 34.0f, 100.0f) * gui.unit);
}

/// What has no room in the row, below its menu.
void rest_of_row(Gui& gui) {
  constexpr float kWidth = 216, kMost = 620;
  if (menu_button(gui, "open controls", gui.word(kModelWords.more))) ImGui::OpenPopup("controls");
  explain_item(gui, kModelWords.tip_controls);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float top = ImGui::GetItemRectMax().y + 4 * gui.unit, edge = 8 * gui.unit, width = kWidth * gui.unit;
  const Box box{std::min(ImGui::GetItemRectMin().x, display.x - width - edge), top, width,
                std::min(kMost * gui.unit, display.y - top - edge)};
  ImGui::SetNextWindowPos(top_left(box));
  ImGui::SetNextWindowSize({box.w, box.h});
  if (!begin_menu("controls")) return;
  gui.name_box("controls", box);
  controls_panel(gui);
  ImGui::EndPopup();
}

}  // namespace

bool only_controls_open() {
  ImGuiWindow* window = ImGui::FindWindowByName("sentence");
  const auto& open = ImGui::GetCurrentContext()->OpenPopupStack;
  return window && open.Size == 1 && open[0].PopupId == window->GetID("controls");
}

void controls_row(Gui& gui) {
  const AppState& state = gui.state;
  const ControlsRow row{ImGui::GetCursorPosY(), slider_width(gui)};
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().dim, gui.word(kMaskWords.section_mask));
  ImGui::SameLine(0, kAfterLabel * gui.unit);
  const MaskSpec& mask = scoped_mask(state);
  if (flat_button(gui, "causal", gui.word(kMaskWords.causal_brief), mask.causal))
    gui.push_once(SetMask{!mask.causal, mask.padding, state.view.chosen.stack, scoped_layer(state)});
  explain_item(gui, kMaskWords.tip_causal);
  ImGui::SameLine(0, kBetweenMasks * gui.unit);
  paint_control(gui);
  if (takes_shape(state.document)) shape_controls(gui, row);
  ImGui::SameLine(0, kBeforeMenu * gui.unit);
  ImGui::SetCursorPosY(row.top);
  rest_of_row(gui);
}

void controls_panel(Gui& gui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{8 * gui.unit, 3 * gui.unit});
  const bool shaped = takes_shape(gui.state.document);
  mask_controls(gui);
  if (shaped) model_controls(gui);
  score_controls(gui);
  if (shaped) finer_model_controls(gui);
  if (shaped) block_controls(gui);
  part_controls(gui);
  padding_control(gui);  // which comes and goes with the model
  changed_by_hand(gui);  // below all others, which it does not move
  ImGui::PopStyleVar();
}

}  // namespace headlight
