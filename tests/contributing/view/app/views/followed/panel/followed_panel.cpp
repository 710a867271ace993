#include "views/followed/panel/followed_panel.h"

#include <imgui.h>

#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "session/state.h"
#include "views/followed/followed.h"

namespace headlight {

void followed_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state_card(gui)) return;
  Drawing scene;
  const TextWidth measure = window_measure(gui);
  add_followed(scene, *state.trace, state.view.chosen, 0, ImGui::GetFontSize(), to_rgb(gui.colours().text), measure);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  paint_scene(gui, scene, {.origin = origin});
  if (const auto clicked = scene_buttons(gui, scene, origin).clicked)
    gui.push(Pin{CellRef{static_cast<Index>(*clicked), 0}});
}

}  // namespace headlight
