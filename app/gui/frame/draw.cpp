#include "gui/frame/draw.h"

#include <cfloat>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "figure/labels.h"
#include "figure/page.h"

namespace headlight {

void draw_stacked(ImDrawList& list, float x, float bottom, ImU32 colour, std::string_view text) {
  const auto characters = code_points(text);
  const float height = ImGui::GetFontSize();
  float y = bottom - height * static_cast<float>(characters.size());
  for (const char32_t character : characters) {
    std::string one;
    append_utf8(one, character);
    const float width = ImGui::CalcTextSize(one.c_str()).x;
    list.AddText({std::round(x - width / 2), std::round(y)}, colour, one.c_str());
    y += height;
  }
}

void draw_rotated(ImDrawList& list, float x, float bottom, ImU32 colour, std::string_view text) {
  const int first = list.VtxBuffer.Size;
  // Laid out in the corner of what is shown, where no letter of it is left out, then turned.
  const ImVec2 shown = list.GetClipRectMin(), corner{std::ceil(shown.x), std::ceil(shown.y)};
  list.AddText(corner, colour, text.data(), text.data() + text.size());
  const float half = ImGui::GetFontSize() / 2;
  for (int i = first; i < list.VtxBuffer.Size; ++i) {
    ImVec2& at = list.VtxBuffer[i].pos;
    at = {std::round(x - half) + at.y - corner.y, bottom - (at.x - corner.x)};
  }
}

TextSize font_for(const Gui& gui, float line) {
  const auto nearer = [&](TextSize size, TextSize larger) {
    return line < (gui.fonts.pixels(size) + gui.fonts.pixels(larger)) / 2;
  };
  if (nearer(TextSize::small, TextSize::body)) return TextSize::small;
  if (nearer(TextSize::body, TextSize::title)) return TextSize::body;
  return nearer(TextSize::title, TextSize::large) ? TextSize::title : TextSize::large;
}

TextWidth window_measure(Gui& gui) {
  return [&gui](std::string_view text, float size) {
    const float line = kLineOfEm * size;
    const TextSize font = font_for(gui, line);
    const std::string shown = gui.fonts.shown(text, font);
    const float pixels = std::abs(line - gui.fonts.pixels(font)) > kUnscaled ? line : gui.fonts.pixels(font);
    return gui.fonts.font(font)->CalcTextSizeA(pixels, FLT_MAX, 0, shown.data(), shown.data() + shown.size()).x;
  };
}

float shown_width(const Gui& gui, std::string_view text) {
  return ImGui::CalcTextSize(gui.fonts.shown(text).c_str()).x;
}

bool flat_button(Gui& gui, const char* name, const char* label, bool on) {
  const bool cross = std::string_view(label) == "×";
  ImGui::PushID(name);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, cross ? 0 : gui.unit);
  ImGui::PushStyleColor(ImGuiCol_Button, on ? gui.colours().button : 0);
  ImGui::PushStyleColor(ImGuiCol_Border, on ? gui.colours().text : gui.colours().outline);
  const bool pressed = ImGui::Button("##button", {button_width(label), 0});
  const ImVec2 min = ImGui::GetItemRectMin(), padding = ImGui::GetStyle().FramePadding;
  ImGui::GetWindowDrawList()->AddText({min.x + padding.x, min.y + padding.y}, ImGui::GetColorU32(ImGuiCol_Text), label);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  ImGui::PopID();
  gui.name_item(name);
  return pressed;
}

bool plain_selectable(const std::string& text, bool selected, ImGuiSelectableFlags flags) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  ImGui::PushID(text.c_str());
  // As wide as its text, which a popup that fits its content must know.
  const float width = std::max(size.x, ImGui::GetContentRegionAvail().x);
  const bool pressed = ImGui::Selectable("##line", selected, flags, {width, size.y});
  ImGui::PopID();
  ImGui::GetWindowDrawList()->AddText(at, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
  return pressed;
}

float button_width(const char* label) { return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x; }

void same_line_if_room(float width, float gap) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
}

void wrapped_small(const Gui& gui, const std::string& line, ImU32 colour) {
  const FontScope small(gui, TextSize::small);
  ImGui::PushTextWrapPos(0);
  coloured_text(colour, gui.fonts.shown(line));
  ImGui::PopTextWrapPos();
}

void wrapped_dim(const Gui& gui, const std::string& line) { wrapped_small(gui, line, gui.colours().dim); }

void cut_text(Gui& gui, const std::string& line, ImU32 colour, float room) {
  std::string first = line.substr(0, line.find('\n'));
  if (first.size() < line.size()) first += "…";
  first = cut_to(first, room, [&](const std::string& text) { return shown_width(gui, text); });
  coloured_text(colour, gui.fonts.shown(first));
  if (first != line) explain_item(gui, line);
}

std::string whole_sentences(const std::vector<std::string>& sentences, float room) {
  std::string text;
  for (const std::string& sentence : sentences) {
    const std::string more = text + (text.empty() || text.ends_with("。") ? "" : " ") + sentence;
    if (!text.empty() && ImGui::CalcTextSize(more.c_str()).x > room) break;
    text = more;
  }
  return text;
}

void hatch_unknown(const Gui& gui, ImDrawList& list, const Box& box) {
  const ImU32 amber = (gui.colours().caution & ~IM_COL32_A_MASK) | IM_COL32(0, 0, 0, 0x50);
  list.PushClipRect(top_left(box), bottom_right(box), true);
  for (float x = box.x - box.h; x < box.right(); x += 6 * gui.unit)
    list.AddLine({x, box.bottom()}, {x + box.h, box.y}, amber, gui.unit);
  list.PopClipRect();
}

void coloured_text(ImU32 colour, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

void dim_text(const Gui& gui, std::string_view text) {
  const FontScope small(gui, TextSize::small);
  coloured_text(gui.colours().dim, text);
}

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
