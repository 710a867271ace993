#include "gui/theme/theme.h"

namespace headlight {
namespace {

constexpr Palette kLight{.background = IM_COL32(251, 251, 250, 255),
                         .panel = IM_COL32(243, 243, 241, 255),
                         .text = IM_COL32(28, 30, 33, 255),
                         .dim = IM_COL32(92, 96, 102, 255),
                         .faint = IM_COL32(176, 179, 183, 255),
                         .line = IM_COL32(224, 224, 221, 255),
                         .outline = IM_COL32(120, 123, 127, 255),
                         .accent = IM_COL32(168, 64, 0, 255),
                         .selected = IM_COL32(251, 234, 223, 255),
                         .warning = IM_COL32(178, 40, 28, 255),
                         .caution = IM_COL32(130, 78, 0, 255),
                         .caution_ground = IM_COL32(255, 240, 204, 255),
                         .action = IM_COL32(24, 92, 176, 255),
                         .action_hovered = IM_COL32(18, 74, 146, 255),
                         .on_action = IM_COL32(255, 255, 255, 255),
                         .button = IM_COL32(231, 231, 228, 255),
                         .button_hovered = IM_COL32(222, 222, 218, 255)};

constexpr Palette kDark{.background = IM_COL32(21, 23, 26, 255),
                        .panel = IM_COL32(28, 31, 35, 255),
                        .text = IM_COL32(228, 230, 233, 255),
                        .dim = IM_COL32(160, 165, 172, 255),
                        .faint = IM_COL32(88, 93, 100, 255),
                        .line = IM_COL32(48, 52, 57, 255),
                        .outline = IM_COL32(128, 133, 140, 255),
                        .accent = IM_COL32(255, 146, 48, 255),
                        .selected = IM_COL32(62, 42, 24, 255),
                        .warning = IM_COL32(255, 130, 112, 255),
                        .caution = IM_COL32(240, 180, 64, 255),
                        .caution_ground = IM_COL32(54, 44, 20, 255),
                        .action = IM_COL32(126, 178, 255, 255),
                        .action_hovered = IM_COL32(160, 198, 255, 255),
                        .on_action = IM_COL32(12, 22, 38, 255),
                        .button = IM_COL32(44, 48, 53, 255),
                        .button_hovered = IM_COL32(54, 59, 65, 255)};

}  // namespace

const Palette& palette(Theme theme) { return theme == Theme::dark ? kDark : kLight; }

ImU32 to_imgui(Rgb colour, float opacity) {
  return IM_COL32(colour.r, colour.g, colour.b, static_cast<int>(255.0f * opacity + 0.5f));
}

void apply_style(Theme theme, float unit) {
  const Palette& colours = palette(theme);
  ImGuiStyle style;
  style.WindowPadding = {16, 8};
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {6, 4};
  style.WindowBorderSize = style.ChildBorderSize = 0;
  style.PopupBorderSize = style.FrameBorderSize = 1;
  style.WindowRounding = style.ChildRounding = 0;
  style.FrameRounding = style.GrabRounding = style.PopupRounding = 4;
  style.ScrollbarSize = 10;
  style.GrabMinSize = 12;
  style.ScaleAllSizes(unit);
  style.DisabledAlpha = 0.45f;

  const auto set = [&](ImGuiCol what, ImU32 colour) { style.Colors[what] = ImGui::ColorConvertU32ToFloat4(colour); };
  set(ImGuiCol_Text, colours.text);
  set(ImGuiCol_TextDisabled, colours.dim);
  set(ImGuiCol_WindowBg, colours.background);
  set(ImGuiCol_ChildBg, 0);
  set(ImGuiCol_PopupBg, colours.panel);
  set(ImGuiCol_Border, colours.outline);
  set(ImGuiCol_FrameBg, colours.background);
  set(ImGuiCol_FrameBgHovered, colours.button_hovered);
  set(ImGuiCol_FrameBgActive, colours.button_hovered);
  set(ImGuiCol_Button, colours.button);
  set(ImGuiCol_ButtonHovered, colours.button_hovered);
  set(ImGuiCol_ButtonActive, colours.faint);
  set(ImGuiCol_Header, colours.button);
  set(ImGuiCol_HeaderHovered, colours.button_hovered);
  set(ImGuiCol_HeaderActive, colours.button_hovered);
  set(ImGuiCol_CheckMark, colours.text);
  set(ImGuiCol_SliderGrab, colours.dim);
  set(ImGuiCol_SliderGrabActive, colours.text);
  set(ImGuiCol_ScrollbarBg, 0);
  set(ImGuiCol_ScrollbarGrab, colours.button_hovered);
  set(ImGuiCol_ScrollbarGrabHovered, colours.faint);
  set(ImGuiCol_ScrollbarGrabActive, colours.dim);
  set(ImGuiCol_Separator, colours.line);
  set(ImGuiCol_PlotHistogram, colours.action);
  set(ImGuiCol_NavHighlight, colours.action);
  set(ImGuiCol_TextSelectedBg, theme == Theme::dark ? IM_COL32(126, 178, 255, 80) : IM_COL32(24, 92, 176, 60));
  ImGui::GetStyle() = style;
}

}  // namespace headlight
