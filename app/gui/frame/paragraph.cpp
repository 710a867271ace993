#include "gui/frame/paragraph.h"

#include "figure/page.h"

namespace headlight {

Paragraph paragraph(Gui& gui, const std::string& text, float room) {
  const TextWidth measure = [](std::string_view part, float) {
    return ImGui::CalcTextSize(part.data(), part.data() + part.size()).x;
  };
  Paragraph set{wrapped(gui.fonts.shown(text), ImGui::GetFontSize(), room, measure), 0};
  set.height = static_cast<float>(set.lines.size()) * (ImGui::GetFontSize() * kLineOfText);
  return set;
}

void draw_paragraph(Gui& gui, const Paragraph& set, ImVec2 at, ImU32 colour, const char* name, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  gui.name_box(name, {at.x, at.y, width, set.height});
  for (const std::string& line : set.lines) {
    list.AddText(at, colour, line.c_str());
    at.y += ImGui::GetFontSize() * kLineOfText;
  }
}

}  // namespace headlight
