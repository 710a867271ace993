// The input of the harness: pointing, clicking, scrolling, typing.
#include <imgui_internal.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "gui/harness.h"

namespace headlight {
namespace {

/// What must be clicked before a control is on the screen; empty: nothing.
std::string menu_of(const Harness& harness, const std::string& name) {
  const auto is_any = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  if (begins("grid ") || begins("maps ") || begins("pair ") || is_any({"fold special", "merge words", "find heads"}))
    return harness.has("shown menu") ? "shown menu" : "";
  if (begins("write ") || is_any({"find word", "temperature", "prefix"})) return "guess menu";
  if (is_any({"linear", "log", "own range"})) return harness.has("colour bar") ? "colour bar" : "";
  if (name == "add second") return "samples";
  if (is_any({"save", "save as", "export", "figure"})) return "share menu";
  if (is_any({"theme", "language", "smaller", "larger", "motion", "help", "reset"})) return "more menu";
  return harness.has("open controls") ? "open controls" : "";
}

/// Whether the middle of a box is in an open menu; while it is open, nothing outside it can be clicked.
bool is_over_menu(const Box& place) {
  for (const ImGuiPopupData& menu : ImGui::GetCurrentContext()->OpenPopupStack) {
    if (!menu.Window) continue;
    const ImVec2 at = menu.Window->Pos, size = menu.Window->Size;
    if (Box{at.x, at.y, size.x, size.y}.contains(place.x + place.w / 2, place.y + place.h / 2)) return true;
  }
  return false;
}

/// Whether a control stands under More.
bool is_control(const std::string& name) {
  constexpr std::array kNames{
      "seed",      "scale", "scale automatic", "dropout",  "dropout seed", "ffn", "relu", "gelu",
      "gelu-tanh", "silu",  "gated",           "kv heads", "own d_k",      "d_k", "tied", "pad"};
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  return begins("positions ") || begins("norm ") || begins("bias ") || begins("part ") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

void Harness::move_to(ImVec2 at) {
  inject_mouse_position(at);
  frame(2);
}

/// Opens the menu that contains the control, if it is in one, and closes any other. Points at a head whose
/// switch is wanted.
void Harness::reach(const std::string& name) {
  if (!menu_.empty() && !(has(name) ? is_over_menu(box(name)) : menu_of(*this, name) == menu_)) {
    if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId)) key(Key::escape);
    menu_.clear();
  }
  if (constexpr std::string_view kSwitch = "on off "; name.starts_with(kSwitch) && !has(name)) {
    const Box head = box(name.substr(kSwitch.size()));
    move_to({head.x + head.w / 2, head.y + head.h / 2});
  }
  const std::string menu = has(name) ? "" : menu_of(*this, name);
  if (!menu.empty() && has(menu) && menu != name) {
    click(menu);
    menu_ = menu;
  }
  // What is seldom changed stands below the other controls.
  if (!has(name) && name != "more controls" && name != menu && has("more controls") && is_control(name)) {
    const Box more = box("more controls");
    click_at({more.x + more.w / 2, more.y + more.h / 2});
    frame();
  }
}

void Harness::point_at(const std::string& name) {
  reach(name);
  scroll_to(name);
  const Box place = box(name);
  move_to({place.x + place.w / 2, place.y + place.h / 2});
}

void Harness::point_away() { move_to({kFarAway, kFarAway}); }

void Harness::press(int button) {
  inject_mouse_button(button, true);
  frame();
}

void Harness::release(int button) {
  inject_mouse_button(button, false);
  frame(2);
}

void Harness::click_at(ImVec2 at, int button) {
  move_to(at);
  press(button);
  release(button);
  seconds_ = 1;
  frame();
  seconds_ = 1.0f / 60;
}

void Harness::click(const std::string& name, int button) {
  point_at(name);
  click_at(ImGui::GetIO().MousePos, button);
}

void Harness::double_click(const std::string& name) {
  point_at(name);
  double_click_at(ImGui::GetIO().MousePos);
}

void Harness::double_click_at(ImVec2 at) {
  move_to(at);
  press();
  inject_mouse_button(0, false);
  frame();
  press();
  release();
}

void Harness::drag(ImVec2 from, ImVec2 to, int button, int steps) {
  move_to(from);
  press(button);
  for (int i = 1; i <= steps; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(steps);
    inject_mouse_position({from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part});
    frame();
  }
  release(button);
}

void Harness::slide(const std::string& name, float from, float to) {
  point_at(name);
  const Box place = box(name);
  const auto at = [&](float share) { return ImVec2{place.x + 2 + share * (place.w - 4), place.y + place.h / 2}; };
  drag(at(from), at(to), 0, 40);
}

bool Harness::scroll_into(const std::string& region, const std::string& name) {
  const Box around = box(region);
  const auto is_inside = [&] { return has(name) && box(name).y >= around.y && box(name).bottom() <= around.bottom(); };
  if (is_inside()) return true;
  move_to({around.x + around.w / 2, around.y + around.h * 0.8f});
  wheel(1000);
  for (int i = 0; i < 200 && !is_inside(); ++i) wheel(-1);
  return is_inside();
}

void Harness::wheel(float up) {
  inject_wheel(up);
  frame(2);
}

/// The controls scroll where the window is low: back to their top, then down as far as it takes.
void Harness::scroll_to(const std::string& name) {
  if (!has(name) || !has("controls") || !has("padding")) return;
  const Box column = box("controls");
  // A row has what a column begins with.
  const std::string first = box("causal").x >= column.x && box("causal").x < column.right() ? "causal" : "padding";
  const ImVec2 inside{column.x + 6, column.y + column.h / 2};
  for (int i = 0; i < 40 && box(first).y < column.y + 24 * state.settings.ui_scale; ++i) {
    move_to(inside);
    wheel(1);
  }
  if (box(name).x >= column.right() || box(name).y < column.y || box(name) == column) return;
  for (int i = 0; i < 40 && box(name).bottom() > column.bottom(); ++i) {
    move_to(inside);
    wheel(-1);
  }
}

void Harness::hold(Key key, bool down) {
  inject_key(key, down);
  frame();
}

void Harness::key(std::initializer_list<Key> keys) {
  for (const Key key : keys) inject_key(key, true);
  frame();
  for (auto key = keys.end(); key != keys.begin();) inject_key(*--key, false);
  frame(2);
}

void Harness::type(std::string_view utf8) {
  for (const char32_t c : code_points(utf8)) {
    if (c == U'\n') {
      key({Key::left_shift, Key::enter});
      continue;
    }
    fonts.input(c);
    frame();
  }
  frame();
}

void Harness::paste(const std::string& text) {
  clipboard = text;
  key({Key::left_ctrl, Key{'V'}});
}

void Harness::retype(std::string_view utf8) {
  click("text");
  key({Key::left_ctrl, Key{'A'}});
  key(Key::del);
  type(utf8);
}

}  // namespace headlight
