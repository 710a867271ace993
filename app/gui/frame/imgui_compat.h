// One source for Dear ImGui 1.86 (Debian 12) and 1.90 (Ubuntu 24.04): what changed between them, under one name.
// The keys are named here, as 1.86 names only 22 of them.
#pragma once

#include <imgui.h>

#include <cstdint>

namespace headlight {

/// The id of an OpenGL texture, for ImDrawList::AddImage and ImGui::Image.
inline ImTextureID texture_id(unsigned gl_name) { return (ImTextureID)(intptr_t)gl_name; }

/// A key of a US keyboard. The numbers are GLFW's key codes, which 1.86 uses unchanged where GLFW feeds it;
/// letters and digits are their ASCII codes, so that static_cast<Key>('M') is a key too.
enum class Key : int {
  space = 32,
  apostrophe = 39,
  comma = 44,
  minus,
  period,
  slash,
  digit_0 = 48,
  digit_1,
  digit_2,
  digit_3,
  digit_4,
  digit_5,
  digit_6,
  digit_7,
  digit_8,
  digit_9,
  semicolon = 59,
  equal = 61,
  a = 65,
  b,
  c,
  d,
  e,
  f,
  g,
  h,
  i,
  j,
  k,
  l,
  m,
  n,
  o,
  p,
  q,
  r,
  s,
  t,
  u,
  v,
  w,
  x,
  y,
  z,
  left_bracket,
  backslash,
  right_bracket,
  grave_accent = 96,
  escape = 256,
  enter,
  tab,
  backspace,
  insert,
  del,
  right,
  left,
  down,
  up,
  page_up,
  page_down,
  home,
  end,
  f1 = 290,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
  keypad_enter = 335,
  left_shift = 340,
  left_ctrl,
  left_alt,
  left_super,
  right_shift,
  right_ctrl,
  right_alt,
  right_super,
};

#if IMGUI_VERSION_NUM >= 18700
inline ImGuiKey imgui_key(Key key) {
  const int code = static_cast<int>(key);
  const auto after = [&](int imgui_first, Key first) {
    return static_cast<ImGuiKey>(imgui_first + code - static_cast<int>(first));
  };
  if (key >= Key::a && key <= Key::z) return after(ImGuiKey_A, Key::a);
  if (key >= Key::digit_0 && key <= Key::digit_9) return after(ImGuiKey_0, Key::digit_0);
  if (key >= Key::f1 && key <= Key::f12) return after(ImGuiKey_F1, Key::f1);
  switch (key) {
    case Key::space: return ImGuiKey_Space;
    case Key::apostrophe: return ImGuiKey_Apostrophe;
    case Key::comma: return ImGuiKey_Comma;
    case Key::minus: return ImGuiKey_Minus;
    case Key::period: return ImGuiKey_Period;
    case Key::slash: return ImGuiKey_Slash;
    case Key::semicolon: return ImGuiKey_Semicolon;
    case Key::equal: return ImGuiKey_Equal;
    case Key::left_bracket: return ImGuiKey_LeftBracket;
    case Key::backslash: return ImGuiKey_Backslash;
    case Key::right_bracket: return ImGuiKey_RightBracket;
    case Key::grave_accent: return ImGuiKey_GraveAccent;
    case Key::escape: return ImGuiKey_Escape;
    case Key::enter: return ImGuiKey_Enter;
    case Key::tab: return ImGuiKey_Tab;
    case Key::backspace: return ImGuiKey_Backspace;
    case Key::insert: return ImGuiKey_Insert;
    case Key::del: return ImGuiKey_Delete;
    case Key::right: return ImGuiKey_RightArrow;
    case Key::left: return ImGuiKey_LeftArrow;
    case Key::down: return ImGuiKey_DownArrow;
    case Key::up: return ImGuiKey_UpArrow;
    case Key::page_up: return ImGuiKey_PageUp;
    case Key::page_down: return ImGuiKey_PageDown;
    case Key::home: return ImGuiKey_Home;
    case Key::end: return ImGuiKey_End;
    case Key::keypad_enter: return ImGuiKey_KeypadEnter;
    case Key::left_shift: return ImGuiKey_LeftShift;
    case Key::left_ctrl: return ImGuiKey_LeftCtrl;
    case Key::left_alt: return ImGuiKey_LeftAlt;
    case Key::left_super: return ImGuiKey_LeftSuper;
    case Key::right_shift: return ImGuiKey_RightShift;
    case Key::right_ctrl: return ImGuiKey_RightCtrl;
    case Key::right_alt: return ImGuiKey_RightAlt;
    case Key::right_super: return ImGuiKey_RightSuper;
    default: return ImGuiKey_None;
  }
}
#else
inline int imgui_key(Key key) { return static_cast<int>(key); }
#endif

/// Whether the key went down since the last frame, or repeats. Modifiers are ImGuiIO's KeyCtrl, KeyShift and so on.
inline bool key_pressed(Key key, bool repeat = true) { return ImGui::IsKeyPressed(imgui_key(key), repeat); }
inline bool key_down(Key key) { return ImGui::IsKeyDown(imgui_key(key)); }

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
