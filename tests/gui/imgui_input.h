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
      Key{'A'}, Key{'C'},    Key{'V'},   Key{'X'},       Key{'Y'},   Key{'Z'}};
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

/// A modifier key also sets ImGuiIO's KeyCtrl and its like.
inline void inject_key(Key key, bool down) {
  ImGuiIO& io = ImGui::GetIO();
  const auto is = [&](Key left, Key right) { return key == left || key == right; };
#if IMGUI_VERSION_NUM >= 18700
  io.AddKeyEvent(imgui_key(key), down);
  if (is(Key::left_ctrl, Key::right_ctrl)) io.AddKeyEvent(ImGuiMod_Ctrl, down);
  if (is(Key::left_shift, Key::right_shift)) io.AddKeyEvent(ImGuiMod_Shift, down);
  if (is(Key::left_alt, Key::right_alt)) io.AddKeyEvent(ImGuiMod_Alt, down);
  if (is(Key::left_super, Key::right_super)) io.AddKeyEvent(ImGuiMod_Super, down);
#else
  io.KeysDown[imgui_key(key)] = down;
  if (is(Key::left_ctrl, Key::right_ctrl)) io.KeyCtrl = down;
  if (is(Key::left_shift, Key::right_shift)) io.KeyShift = down;
  if (is(Key::left_alt, Key::right_alt)) io.KeyAlt = down;
  if (is(Key::left_super, Key::right_super)) io.KeySuper = down;
#endif
}

}  // namespace headlight
