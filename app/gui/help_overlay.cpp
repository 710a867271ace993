#include <algorithm>
#include <iterator>

#include "gui/draw.h"
#include "gui/panels.h"

namespace headlight {

void help_overlay(Gui& gui) {
  if (!gui.state.view.help) return;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{20 * gui.unit, 16 * gui.unit});
  ImGui::Begin("help", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize);
  {
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(gui.word(Str::help));
  }
  // The keys scroll where they are more than the window is high.
  const ImVec2 padding = ImGui::GetStyle().CellPadding;
  float keys = 0, meanings = 0;
  for (const KeyHelp& help : kKeyHelp) {
    keys = std::max(keys, ImGui::CalcTextSize(help.keys).x);
    meanings = std::max(meanings, ImGui::CalcTextSize(gui.chinese() ? help.zh : help.en).x);
  }
  const float row = ImGui::GetTextLineHeight() + 2 * padding.y;
  const float rows = static_cast<float>(std::size(kKeyHelp)) * row + 2 * padding.y;
  const float room =
      display.y * 0.96f - ImGui::GetCursorPosY() - ImGui::GetFrameHeightWithSpacing() - 24 * gui.unit;
  const ImVec2 size{keys + meanings + 4 * padding.x + 2 * ImGui::GetStyle().ScrollbarSize, std::min(rows, room)};
  if (ImGui::BeginTable("keys", 2, rows > room ? ImGuiTableFlags_ScrollY : 0, size)) {
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed, keys);
    for (const KeyHelp& help : kKeyHelp) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
      ImGui::TextUnformatted(help.keys);
      ImGui::PopStyleColor();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(gui.chinese() ? help.zh : help.en);
    }
    ImGui::EndTable();
  }
  if (flat_button(gui, "close help", gui.word(Str::close))) gui.say(ShowHelp{false});
  const bool outside = ImGui::IsMouseReleased(0) && !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem | ImGuiHoveredFlags_ChildWindows);
  if (outside && !ImGui::IsWindowAppearing()) gui.say(ShowHelp{false});
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace headlight
