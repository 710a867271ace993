#include "gui/frame/looks.h"

#include <algorithm>
#include <cmath>

#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"

namespace headlight {
namespace {

constexpr float kTriangle = 8;  // of a menu, from side to side

/// An invisible button as large as its look; the look is drawn by the caller.
struct Pressed {
  Box box;
  bool clicked, hovered;
};
Pressed press(const char* name, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  ImGui::PushID(name);
  const bool clicked = ImGui::InvisibleButton("button", {width, height});
  ImGui::PopID();
  return {{at.x, at.y, width, height}, clicked, ImGui::IsItemHovered()};
}

ImU32 with_alpha(ImU32 colour) { return ImGui::GetColorU32(ImGui::ColorConvertU32ToFloat4(colour)); }

void text_in(const Box& box, float x, ImU32 colour, const char* label) {
  ImGui::GetWindowDrawList()->AddText({std::round(x), std::round(box.y + (box.h - ImGui::GetFontSize()) / 2)},
                                      with_alpha(colour), label);
}

}  // namespace

float primary_width(const char* label) { return button_width(label) + ImGui::GetStyle().FramePadding.x; }

bool primary_button(Gui& gui, const char* name, const char* label) {
  const Pressed it = press(name, primary_width(label));
  const Palette& colours = gui.colours();
  ImGui::GetWindowDrawList()->AddRectFilled(top_left(it.box), bottom_right(it.box),
                                            with_alpha(it.hovered ? colours.action_hovered : colours.action),
                                            ImGui::GetStyle().FrameRounding);
  text_in(it.box, it.box.x + (it.box.w - ImGui::CalcTextSize(label).x) / 2, colours.on_action, label);
  gui.name_item(name);
  return it.clicked;
}

float segmented_width(const std::vector<Segment>& segments) {
  float width = 0;
  for (const Segment& segment : segments) width += button_width(segment.label);
  return width;
}

std::optional<std::size_t> segmented(Gui& gui, const std::vector<Segment>& segments) {
  const Palette& colours = gui.colours();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImGuiStyle& style = ImGui::GetStyle();
  const float height = ImGui::GetFrameHeight(), rounding = style.FrameRounding;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const Box bar{corner.x, corner.y, segmented_width(segments), height};
  list.AddRectFilled(top_left(bar), bottom_right(bar), with_alpha(colours.background), rounding);
  std::optional<std::size_t> pressed;
  Box chosen{};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (i > 0) ImGui::SameLine(0, 0);
    const Pressed it = press(segment.name.c_str(), button_width(segment.label));
    if (it.clicked && !segment.faint) pressed = i;
    const ImDrawFlags corners = (i == 0 ? ImDrawFlags_RoundCornersLeft : ImDrawFlags_RoundCornersNone) |
                                (i + 1 == segments.size() ? ImDrawFlags_RoundCornersRight : 0);
    if (segment.on || it.hovered)
      list.AddRectFilled(top_left(it.box), bottom_right(it.box),
                         with_alpha(segment.on ? colours.button : colours.button_hovered), rounding, corners);
    if (i > 0) list.AddLine({it.box.x, it.box.y}, {it.box.x, it.box.bottom()}, with_alpha(colours.outline), gui.unit);
    if (segment.on) chosen = it.box;
    text_in(it.box, it.box.x + style.FramePadding.x, segment.faint && !segment.on ? colours.faint : colours.text,
            segment.label);
    gui.name_item(segment.name, BoxKind::segment);
    if (!segment.tip.empty()) explain_item(gui, segment.tip);
  }
  list.AddRect(top_left(bar), bottom_right(bar), with_alpha(colours.outline), rounding, 0, gui.unit);
  if (chosen.w > 0)
    list.AddLine({chosen.x + 2 * gui.unit, chosen.bottom() - gui.unit},
                 {chosen.right() - 2 * gui.unit, chosen.bottom() - gui.unit}, with_alpha(colours.text), 2 * gui.unit);
  return pressed;
}

float menu_width(const Gui& gui, const char* label) { return button_width(label) + (kTriangle + 6) * gui.unit; }

bool menu_button(Gui& gui, const char* name, const char* label, bool on) {
  const Pressed it = press(name, menu_width(gui, label));
  const Palette& colours = gui.colours();
  const ImGuiStyle& style = ImGui::GetStyle();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(top_left(it.box), bottom_right(it.box),
                     with_alpha(it.hovered ? colours.button_hovered
                                : on       ? colours.button
                                           : colours.background),
                     style.FrameRounding);
  list.AddRect(top_left(it.box), bottom_right(it.box), with_alpha(on ? colours.text : colours.outline),
               style.FrameRounding, 0, gui.unit);
  const ImU32 ink = colours.text;
  text_in(it.box, it.box.x + style.FramePadding.x, ink, label);
  const float half = kTriangle / 2 * gui.unit, x = it.box.right() - style.FramePadding.x - half,
              y = it.box.y + it.box.h / 2;
  list.AddTriangleFilled({x - half, y - half / 2}, {x + half, y - half / 2}, {x, y + half / 2 + gui.unit},
                         with_alpha(ink));
  gui.name_item(name, BoxKind::menu);
  return it.clicked;
}

bool begin_menu(const char* popup) {
  if (!ImGui::BeginPopup(popup)) return false;
  if (key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
  return true;
}

bool begin_menu_below(Gui& gui, const char* popup) {
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  // Below the button, above it where the window ends.
  const bool right = max.x > 0.7f * display.x, above = max.y > 0.7f * display.y;
  const float gap = 4 * gui.unit;
  ImGui::SetNextWindowPos({right ? max.x : min.x, above ? min.y - gap : max.y + gap}, ImGuiCond_Always,
                          {right ? 1.0f : 0.0f, above ? 1.0f : 0.0f});
  return begin_menu(popup);
}

void begin_dialog(Gui& gui, const char* name, const Words& title, float width, float height) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 size{std::min(width * gui.unit, display.x * 0.9f), std::min(height * gui.unit, display.y * 0.9f)};
  ImGui::SetNextWindowPos({(display.x - size.x) / 2, (display.y - size.y) / 2});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{20 * gui.unit, 16 * gui.unit});
  ImGui::Begin(name, nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
  const FontScope large(gui, TextSize::title);
  ImGui::TextUnformatted(gui.word(title));
}

void end_dialog() {
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

bool menu_line(Gui& gui, const char* name, const char* label, const std::string& keys, bool on, bool possible) {
  const float text = ImGui::CalcTextSize(label).x, tick = 20 * gui.unit, gap = 24 * gui.unit;
  const float wanted = tick + text + (keys.empty() ? 0 : gap + ImGui::CalcTextSize(keys.c_str()).x);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(wanted, ImGui::GetContentRegionAvail().x), height = ImGui::GetFrameHeight();
  ImGui::PushID(name);
  const bool pressed =
      ImGui::Selectable("##line", false, possible ? 0 : ImGuiSelectableFlags_Disabled, {width, height});
  ImGui::PopID();
  const Palette& colours = gui.colours();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Box box{at.x, at.y, width, height};
  text_in(box, at.x + tick, possible ? colours.text : colours.faint, label);
  if (!keys.empty())
    text_in(box, at.x + width - ImGui::CalcTextSize(keys.c_str()).x, possible ? colours.dim : colours.faint,
            keys.c_str());
  if (on) {
    const float x = at.x + 3 * gui.unit, y = at.y + height / 2, size = 10 * gui.unit;
    const ImVec2 points[] = {{x, y}, {x + 0.35f * size, y + 0.35f * size}, {x + size, y - 0.4f * size}};
    list.AddPolyline(points, 3, colours.text, 0, 2 * gui.unit);
  }
  gui.name_item(name, BoxKind::menu);
  return pressed;
}

bool link_button(Gui& gui, const char* name, const char* label) {
  const Pressed it = press(name, std::max(1.0f, ImGui::CalcTextSize(label).x));
  const ImU32 colour = gui.colours().action;
  text_in(it.box, it.box.x, colour, label);
  if (it.hovered) {
    const float y = std::round(it.box.y + (it.box.h + ImGui::GetFontSize()) / 2 - gui.unit);
    ImGui::GetWindowDrawList()->AddLine({it.box.x, y}, {it.box.right(), y}, with_alpha(colour), gui.unit);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  gui.name_item(name, BoxKind::link);
  return it.clicked;
}

}  // namespace headlight
