#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/shell/palette_entries.h"
#include "gui/shell/shell.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// The box that finds; true where Enter was pressed in it.
bool query_box(Gui& gui, CommandPalette& palette) {
  std::string shown = gui.fonts.shown(palette.query);
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();  // an entry that is pressed keeps the pointer
  const bool entered =
      ImGui::InputTextWithHint("##query", gui.word(kPaletteWords.hint), &shown, ImGuiInputTextFlags_EnterReturnsTrue);
  gui.name_item("palette query", BoxKind::field);
  if (std::string typed = gui.fonts.typed(shown); typed != palette.query) palette = {std::move(typed), 0};
  return entered;
}

/// One entry: its name, and its keys at the right.
bool entry(Gui& gui, const PaletteEntry& action, std::size_t number, bool chosen) {
  ImGui::PushID(static_cast<int>(number));
  const bool pressed = plain_selectable(gui.fonts.shown(action.title), chosen);
  ImGui::PopID();
  gui.name_item("action " + std::to_string(number));
  const float width = ImGui::CalcTextSize(action.keys.c_str()).x;
  if (width > 0) {
    ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - width);
    coloured_text(gui.colours().dim, action.keys);
  }
  return pressed;
}

}  // namespace

void palette_panel(Gui& gui) {
  if (!gui.state.view.palette) return;
  CommandPalette palette = *gui.state.view.palette;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 size{std::min(620 * gui.unit, display.x * 0.9f), std::min(460 * gui.unit, display.y * 0.8f)};
  ImGui::SetNextWindowPos({(display.x - size.x) / 2, std::min(72 * gui.unit, (display.y - size.y) / 2)});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{16 * gui.unit, 14 * gui.unit});
  ImGui::Begin("palette", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
  const bool closes = key_pressed(Key::escape, false);
  const bool entered = query_box(gui, palette);

  const std::vector<PaletteEntry> found = found_entries(gui, palette.query);
  const std::size_t before = palette.chosen;
  if (key_pressed(Key::down) && palette.chosen + 1 < found.size()) ++palette.chosen;
  if (key_pressed(Key::up) && palette.chosen > 0) --palette.chosen;
  palette.chosen = found.empty() ? 0 : std::min(palette.chosen, found.size() - 1);

  ImGui::BeginChild("actions");
  if (found.empty()) dim_text(gui, gui.word(kPaletteWords.nothing_found));
  std::optional<std::size_t> run;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (entry(gui, found[i], i, i == palette.chosen)) run = i;
    if (i == palette.chosen && palette.chosen != before) ImGui::SetScrollHereY();
  }
  ImGui::EndChild();
  const bool outside =
      ImGui::IsMouseClicked(0) &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  end_dialog();
  if (entered && !found.empty()) run = palette.chosen;
  if (run || closes || (outside && !ImGui::IsWindowAppearing())) gui.push(ShowPalette{});
  else if (!(palette == *gui.state.view.palette)) gui.push(ShowPalette{std::move(palette)});
  if (run) found[*run].run(gui);
}

}  // namespace headlight
