// One source for Dear ImGui 1.86 (Debian 12) and 1.90 (Ubuntu 24.04): what changed between them, under one name.
// The keys are named here, as 1.86 names only 22 of them.
#pragma once

#include <imgui.h>

#include <cstdint>

namespace headlight {

/// The id of an OpenGL texture, for ImDrawList::AddImage and ImGui::Image.
inline ImTextureID texture_id(unsigned gl_name) { return (ImTextureID)(intptr_t)gl_name; }

/// A key of a US keyboard. The numbers are GLFW's key codes, which 1.86 uses unchanged where GLFW feeds it;
/// letters and digits are their ASCII codes: Key{'M'}.
enum class Key : int {
  space = 32,
  comma = 44,
  minus,
  period,
  slash,
  semicolon = 59,
  equal = 61,
  left_bracket = 91,
  backslash,
  right_bracket,
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
/// Where either sequence begins, and how long it is.
struct KeysOfImGui {
  Key first;
  int imgui_first, count = 1;
};
inline constexpr KeysOfImGui kKeysOfImGui[] = {{Key{'A'}, ImGuiKey_A, 26},
                                               {Key{'0'}, ImGuiKey_0, 10},
                                               {Key::f1, ImGuiKey_F1, 2},
                                               {Key::space, ImGuiKey_Space},
                                               {Key::comma, ImGuiKey_Comma, 4},
                                               {Key::semicolon, ImGuiKey_Semicolon},
                                               {Key::equal, ImGuiKey_Equal},
                                               {Key::left_bracket, ImGuiKey_LeftBracket, 3},
                                               {Key::escape, ImGuiKey_Escape},
                                               {Key::enter, ImGuiKey_Enter},
                                               {Key::tab, ImGuiKey_Tab},
                                               {Key::backspace, ImGuiKey_Backspace},
                                               {Key::del, ImGuiKey_Delete},
                                               {Key::right, ImGuiKey_RightArrow},
                                               {Key::left, ImGuiKey_LeftArrow},
                                               {Key::down, ImGuiKey_DownArrow},
                                               {Key::up, ImGuiKey_UpArrow},
                                               {Key::page_up, ImGuiKey_PageUp, 4},
                                               {Key::keypad_enter, ImGuiKey_KeypadEnter},
                                               {Key::left_shift, ImGuiKey_LeftShift},
                                               {Key::left_ctrl, ImGuiKey_LeftCtrl},
                                               {Key::left_alt, ImGuiKey_LeftAlt, 2},
                                               {Key::right_shift, ImGuiKey_RightShift},
                                               {Key::right_ctrl, ImGuiKey_RightCtrl},
                                               {Key::right_alt, ImGuiKey_RightAlt, 2}};

inline ImGuiKey imgui_key(Key key) {
  for (const auto& [first, imgui_first, count] : kKeysOfImGui) {
    const int after = static_cast<int>(key) - static_cast<int>(first);
    if (after >= 0 && after < count) return static_cast<ImGuiKey>(imgui_first + after);
  }
  return ImGuiKey_None;
}
#else
inline int imgui_key(Key key) { return static_cast<int>(key); }
#endif

/// Whether the key went down since the last frame, or repeats. Modifiers are ImGuiIO's KeyCtrl, KeyShift and so on.
inline bool key_pressed(Key key, bool repeat = true) { return ImGui::IsKeyPressed(imgui_key(key), repeat); }
inline bool key_down(Key key) { return ImGui::IsKeyDown(imgui_key(key)); }

}  // namespace headlight
