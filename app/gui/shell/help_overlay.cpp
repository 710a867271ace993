#include <algorithm>
#include <iterator>

#include "gui/frame/draw.h"
#include "gui/shell/shell.h"
#include "words/window_words.h"
#include "words/words.h"

namespace headlight {
namespace {

/// What the keys take as one column, at the current font.
struct HelpSize {
  float keys = 0, width = 0, row = 0, height = 0;
};

HelpSize help_size(bool chinese) {
  const ImVec2 padding = ImGui::GetStyle().CellPadding;
  HelpSize size;
  float meanings = 0;
  for (const KeyHelp& help : kKeyHelp) {
    size.keys = std::max(size.keys, ImGui::CalcTextSize(help.keys).x);
    meanings = std::max(meanings, ImGui::CalcTextSize(chinese ? help.zh : help.en).x);
  }
  size.width = size.keys + meanings + 4 * padding.x;
  size.row = ImGui::GetTextLineHeight() + 2 * padding.y;
  size.height = static_cast<float>(std::size(kKeyHelp)) * size.row + 2 * padding.y;
  return size;
}

/// The keys in one or two columns; they scroll where they are higher than `most`.
void help_table(Gui& gui, std::size_t columns, float most) {
  const HelpSize one = help_size(gui.chinese());
  const std::size_t count = std::size(kKeyHelp), rows = (count + columns - 1) / columns;
  const float height = static_cast<float>(rows) * one.row + 2 * ImGui::GetStyle().CellPadding.y;
  const ImVec2 size{static_cast<float>(columns) * one.width + 2 * ImGui::GetStyle().ScrollbarSize,
                    std::min(height, most)};
  const auto flags = ImGuiTableFlags_SizingFixedFit | (height > most ? ImGuiTableFlags_ScrollY : 0);
  if (!ImGui::BeginTable("keys", static_cast<int>(2 * columns), flags, size)) return;
  for (std::size_t row = 0; row < rows; ++row) {
    ImGui::TableNextRow();
    for (std::size_t at = row; at < count; at += rows) {
      const KeyHelp& help = kKeyHelp[at];
      ImGui::TableNextColumn();
      ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
      ImGui::TextUnformatted(help.keys);
      ImGui::PopStyleColor();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(gui.chinese() ? help.zh : help.en);
    }
  }
  ImGui::EndTable();
}

}  // namespace

void help_overlay(Gui& gui) {
  if (!gui.state.view.help) return;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{20 * gui.unit, 16 * gui.unit});
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize);
  {
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(gui.word(kWindowWords.help));
  }
  {
    // Two columns of small text where one would be higher than the window.
    const HelpSize body = help_size(gui.chinese());
    const float most = display.y * 0.96f - ImGui::GetCursorPosY() - ImGui::GetFrameHeightWithSpacing() - 24 * gui.unit;
    const bool two = body.height > most;
    const FontScope font(gui, two ? TextSize::small : TextSize::body);
    help_table(gui, two && 2 * help_size(gui.chinese()).width <= display.x * 0.96f - 40 * gui.unit ? 2 : 1, most);
  }
  if (flat_button(gui, "close help", gui.word(kWindowWords.close))) gui.say(ShowHelp{false});
  const bool outside =
      ImGui::IsMouseReleased(0) &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem | ImGuiHoveredFlags_ChildWindows);
  if (outside && !ImGui::IsWindowAppearing()) gui.say(ShowHelp{false});
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

}  // namespace headlight
