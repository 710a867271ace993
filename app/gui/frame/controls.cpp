#include "gui/frame/controls.h"

#include <imgui_stdlib.h>

#include <algorithm>

#include "base/formatted.h"
#include "gui/frame/focus.h"
#include "gui/frame/imgui_compat.h"

namespace headlight {

void section(Gui& gui, const Words& title) {
  ImGui::Dummy({0, 6 * gui.unit});
  ImGui::TextUnformatted(gui.word(title));
}

void control_label(Gui& gui, const Words& string, const std::string& right) {
  dim_text(gui, gui.word(string));
  if (right.empty()) return;
  const FontScope small(gui, TextSize::small);
  ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(right.c_str()).x);
  coloured_text(gui.colours().dim, right);
}

std::string short_number(float value) { return formatted("%.4g", static_cast<double>(value)); }

SlimScope::SlimScope(const Gui& gui, float width) {
  gui.fonts.push(TextSize::small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2{4 * gui.unit, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, 14 * gui.unit);
  ImGui::SetNextItemWidth(width);
}

SlimScope::~SlimScope() {
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
}

namespace {

/// Behind a slider: its name, its tooltip, the end of its edit; gives the steps of the keys.
int end_slider(Gui& gui, const char* name, const Words& tip) {
  ImGui::PopID();
  gui.name_item(name, BoxKind::slider);
  const int steps = focus_steps(gui);
  if (ImGui::IsItemDeactivatedAfterEdit()) gui.push(EndGesture{});
  explain_item(gui, tip);
  return steps;
}

}  // namespace

bool slider(Gui& gui, const char* name, int& value, int least, int most, const Words& tip, float width) {
  const SlimScope slim(gui, width);
  ImGui::PushID(name);
  const bool moved = ImGui::SliderInt("##slider", &value, least, most, "", ImGuiSliderFlags_AlwaysClamp);
  const int steps = end_slider(gui, name, tip);
  if (steps != 0) value = std::clamp(value + steps, least, most);
  return moved || steps != 0;
}

bool slider(Gui& gui, const char* name, float& value, float least, float most, const Words& tip, float width) {
  const SlimScope slim(gui, width);
  ImGui::PushID(name);
  const bool moved = ImGui::SliderFloat("##slider", &value, least, most, "", ImGuiSliderFlags_None);
  const int steps = end_slider(gui, name, tip);
  if (steps != 0) value = std::clamp(value + static_cast<float>(steps) * (most - least) / 100, least, most);
  return moved || steps != 0;
}

namespace {

/// In two lines where one has no room: a new one begins at the last space, or bracket, that fits.
std::string in_two_lines(std::string text, float room) {
  const auto fits = [&](std::size_t end) { return ImGui::CalcTextSize(text.data(), text.data() + end).x <= room; };
  if (fits(text.size())) return text;
  constexpr std::string_view kWideBracket = "（";
  for (std::size_t at = text.size() - 1; at > 0; --at) {
    const bool space = text[at] == ' ', bracket = text.compare(at, kWideBracket.size(), kWideBracket) == 0;
    if (!(space || bracket) || !fits(at)) continue;
    return text.substr(0, at) + '\n' + text.substr(space ? at + 1 : at);
  }
  return text;
}

}  // namespace

bool checkbox(Gui& gui, const char* name, const Words& string, bool& value, const Words& tip) {
  ImGui::PushID(name);
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight() - ImGui::GetStyle().ItemInnerSpacing.x;
  const bool changed = ImGui::Checkbox(in_two_lines(gui.word(string), room).c_str(), &value);
  ImGui::PopID();
  gui.name_item(name);
  explain_item(gui, tip);
  return changed;
}

bool wide_button(Gui& gui, const char* name, const Words& string, const std::string& tip, bool on, float less) {
  ImGui::PushStyleColor(ImGuiCol_Button, on ? gui.colours().button : 0);
  ImGui::PushID(name);
  const bool pressed = ImGui::Button(gui.word(string), {-1 - less, 0});
  ImGui::PopID();
  ImGui::PopStyleColor();
  gui.name_item(name);
  explain_item(gui, tip);
  return pressed;
}

bool lines_box(const Gui& gui, const char* label, const char* hint, std::string& text, ImVec2 size,
               ImGuiInputTextFlags flags, ImGuiInputTextCallback callback, void* data) {
  const bool empty = text.empty();
  if (empty) {  // the box is a separate window above what is drawn here, so it lets the hint through
    const ImGuiStyle& style = ImGui::GetStyle();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = size.x < 0 ? ImGui::GetContentRegionAvail().x : size.x;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + size.y}, ImGui::GetColorU32(ImGuiCol_FrameBg), style.FrameRounding);
    list.AddText({at.x + style.FramePadding.x, at.y + style.FramePadding.y}, gui.colours().dim, hint);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, ImVec4{});
  }
  const bool edited = ImGui::InputTextMultiline(label, &text, size, flags, callback, data);
  if (empty) ImGui::PopStyleColor();
  return edited;
}

bool word_box(Gui& gui, const char* name, const Words& hint, std::string& text, float width) {
  std::string shown = gui.fonts.edited(text);
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(name);
  const bool edited = ImGui::InputTextWithHint("##word", gui.word(hint), &shown);
  ImGui::PopID();
  gui.name_item(name, BoxKind::field);
  if (!edited || key_pressed(Key::escape, false)) return false;
  text = gui.fonts.typed(shown);
  return true;
}

}  // namespace headlight
