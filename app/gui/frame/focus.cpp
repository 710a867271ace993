#include "gui/frame/focus.h"

#include <imgui_internal.h>

#include <algorithm>

#include "gui/frame/imgui_compat.h"

namespace headlight {
namespace {

/// In each window's storage: the control that was brought into sight last.
constexpr ImGuiID kBroughtIntoSight = 0x666f6375;

bool is_control(BoxKind kind) {
  return kind != BoxKind::none && kind != BoxKind::label && kind != BoxKind::map && kind < BoxKind::stage;
}

/// The window that has the keyboard for itself: an open menu, else an open dialog; null: all are open to it.
const void* window_in_front(const Gui& gui) {
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  if (!context.OpenPopupStack.empty()) return context.OpenPopupStack.back().Window;
  if (gui.state.browser.purpose != Browser::Purpose::none) return ImGui::FindWindowByName("browser");
  if (gui.state.view.help) return ImGui::FindWindowByName("help");
  return nullptr;
}

/// Presses a control in the next frame, or lets a field take the keyboard.
void press_item(std::uint32_t item, bool takes_keyboard) {
  ImGuiContext& context = *ImGui::GetCurrentContext();
  context.NavNextActivateId = item;
  context.NavNextActivateFlags = takes_keyboard ? ImGuiActivateFlags_PreferInput : ImGuiActivateFlags_None;
}

/// The stop after, or before, the one that has the keyboard; the first, or the last, where none has.
const FocusStop& neighbour(const std::vector<const FocusStop*>& stops, std::uint32_t item, bool back) {
  const auto at = std::ranges::find_if(stops, [&](const FocusStop* stop) { return stop->control.item == item; });
  if (at == stops.end()) return back ? *stops.back() : *stops.front();
  const std::size_t count = stops.size(), i = static_cast<std::size_t>(at - stops.begin());
  return *stops[(i + (back ? count - 1 : 1)) % count];
}

}  // namespace

void add_focus_stop(Gui& gui, const std::string& name, const Box& box, BoxKind kind, std::uint32_t item) {
  const ImGuiLastItemData& last = ImGui::GetCurrentContext()->LastItemData;
  if (item == 0) item = last.ID;
  if (!gui.stops || !is_control(kind) || item == 0 || (last.InFlags & ImGuiItemFlags_Disabled)) return;
  if (std::ranges::any_of(*gui.stops, [&](const FocusStop& stop) { return stop.control.item == item; })) return;
  const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
  gui.stops->push_back({{item, name}, kind, window->RootWindow});
  if (gui.state.view.focus.item != item) return;
  const ImVec2 least = window->ClipRect.Min, most = window->ClipRect.Max;
  // Once it came into sight the wheel may take it away again.
  int& brought = *ImGui::GetStateStorage()->GetIntRef(kBroughtIntoSight);
  if (std::exchange(brought, static_cast<int>(item)) != static_cast<int>(item) &&
      (box.y < least.y || box.bottom() > most.y))
    ImGui::SetScrollHereY();
  const float edge = 3 * gui.unit;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.PushClipRect({least.x - edge, least.y - edge}, {most.x + edge, most.y + edge});
  list.AddRect({box.x - edge, box.y - edge}, {box.right() + edge, box.bottom() + edge}, gui.colours().action,
               5 * gui.unit, 0, 2 * gui.unit);
  list.PopClipRect();
}

bool walk_focus(Gui& gui) {
  const ImGuiIO& io = ImGui::GetIO();
  const ControlFocus& now = gui.state.view.focus;
  const auto let_go = [&] { gui.push(FocusControl{}); };
  if (now.item != 0 && (ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1))) let_go();
  if (gui.state.view.palette || !gui.stops || io.KeyCtrl || io.KeyAlt || io.KeySuper) return false;
  const void* front = window_in_front(gui);
  std::vector<const FocusStop*> stops;
  for (const FocusStop& stop : *gui.stops)
    if (!front || stop.window == front) stops.push_back(&stop);
  if (stops.empty()) return false;
  if (key_pressed(Key::tab)) {
    ImGui::NavMoveRequestCancel();  // Dear ImGui would go to the next text field
    const std::uint32_t typed = ImGui::GetCurrentContext()->ActiveId;
    const FocusStop& next = neighbour(stops, io.WantTextInput && typed != 0 ? typed : now.item, io.KeyShift);
    ImGui::ClearActiveID();
    if (next.kind == BoxKind::field) press_item(next.control.item, true);
    gui.push(FocusControl{next.control});
    return true;
  }
  if (now.item == 0 || io.WantTextInput) return false;
  const auto at = std::ranges::find_if(stops, [&](const FocusStop* stop) { return stop->control.item == now.item; });
  if (at == stops.end()) return false;
  if (key_pressed(Key::escape, false) && !front) return let_go(), true;
  const BoxKind kind = (*at)->kind;
  if (kind == BoxKind::slider) return key_down(Key::left) || key_down(Key::right);
  if (!key_pressed(Key::enter, false) && !key_pressed(Key::keypad_enter, false) && !key_pressed(Key::space, false))
    return false;
  press_item(now.item, kind == BoxKind::field);
  return true;
}

int focus_steps(Gui& gui) {
  const ImGuiID item = ImGui::GetItemID();
  if (item == 0 || gui.state.view.focus.item != item) return 0;
  for (const Key key : {Key::left, Key::right})
    if (ImGui::IsKeyReleased(imgui_key(key))) gui.push(EndGesture{});
  return static_cast<int>(key_pressed(Key::right)) - static_cast<int>(key_pressed(Key::left));
}

}  // namespace headlight
