// The input of a Dear ImGui without a window.
#pragma once

#include "gui/frame/imgui_compat.h"

namespace headlight {

/// ImGui with neither a window nor a renderer, for tests: once after ImGui::CreateContext, instead of the backends,
/// which would map the keys and announce support for textures. Then the inject functions are its input.
inline void prepare_headless() {
#if IMGUI_VERSION_NUM < 18700
  constexpr Key kNames[ImGuiKey_COUNT] = {
      Key::tab, Key::left,   Key::right, Key::up,        Key::down,  Key::page_up, Key::page_down, Key::home,
      Key::end, Key::insert, Key::del,   Key::backspace, Key::space, Key::enter,   Key::escape,    Key::keypad_enter,
      Key::a,   Key::c,      Key::v,     Key::x,         Key::y,     Key::z};
  for (int i = 0; i < ImGuiKey_COUNT; ++i) ImGui::GetIO().KeyMap[i] = static_cast<int>(kNames[i]);
#endif
}

inline void inject_mouse_position(ImVec2 at) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMousePosEvent(at.x, at.y);
#else
  ImGui::GetIO().MousePos = at;
#endif
}

inline void inject_mouse_button(int button, bool down) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseButtonEvent(button, down);
#else
  ImGui::GetIO().MouseDown[button] = down;
#endif
}

inline void inject_wheel(float up) {
#if IMGUI_VERSION_NUM >= 18700
  ImGui::GetIO().AddMouseWheelEvent(0, up);
#else
  ImGui::GetIO().MouseWheel += up;
#endif
}

}  // namespace headlight
