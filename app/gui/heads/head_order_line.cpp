// The line above the grid: what the heads stand in order of, and which of them are looked for.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/imgui_compat.h"
#include "gui/heads/heads.h"
#include "session/head_grid.h"
#include "words/head_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// A few dim words on the line of the controls.
void quiet(const Gui& gui, const std::string& text, bool warning = false) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, warning ? gui.colours().warning : gui.colours().dim);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

/// Goes on beside the last item where there is room, else in a new line.
void beside(const Gui& gui, float width, float gap = 6) { same_line_if_room(width, gap * gui.unit); }

void order_menu(Gui& gui) {
  const HeadOrder& now = gui.state.view.order;
  if (!ImGui::BeginPopup("orders")) return;
  if (key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
  for (HeadOrder order : head_orders()) {
    order.ascending = now.ascending;
    if (ImGui::Selectable(gui.word(order_words(order).name), order == now)) gui.say(OrderHeads{order});
    gui.name_item("order " + std::string(name(order)));
    explain_item(gui, gui.word(order_words(order).tip));
  }
  ImGui::EndPopup();
}

void order_control(Gui& gui, bool same_line) {
  const HeadOrder& order = gui.state.view.order;
  const OrderWords words = order_words(order);
  const std::string label = std::string(gui.word(kHeadOrderWords.order_of_heads)) + ": " + gui.word(words.name);
  if (same_line) beside(gui, button_width(label.c_str()), 12);
  if (flat_button(gui, "order", label.c_str(), order.by != HeadOrder::By::layer)) ImGui::OpenPopup("orders");
  explain_item(gui, order.by == HeadOrder::By::layer ? kHeadOrderWords.tip_order : words.tip,
               {Act::next_order, Act::previous_order});
  order_menu(gui);
  if (order.by == HeadOrder::By::layer) return;
  const char* arrow = gui.word(order.ascending ? kHeadOrderWords.smallest_first : kHeadOrderWords.largest_first);
  beside(gui, button_width(arrow), 0);
  if (flat_button(gui, "direction", arrow)) gui.say(OrderHeads{{order.by, order.measure, !order.ascending}});
  explain_item(gui, kHeadOrderWords.tip_direction);
}

/// While every head is switched off in turn, and where that cannot be done.
void sweep(Gui& gui) {
  if (!wants_effects(gui.state)) return;
  if (const EffectAnswer* known = known_effects(gui.state)) {
    if (!known->problem.empty()) wrapped_small(gui, known->problem, gui.colours().warning);
    return;
  }
  if (!gui.work.sweeping) return;
  const std::string label = gui.word(kHeadOrderWords.trying);
  beside(gui, ImGui::CalcTextSize(label.c_str()).x + 160 * gui.unit, 12);
  quiet(gui, label);
  ImGui::SameLine(0, 6 * gui.unit);
  ImGui::ProgressBar(gui.work.sweep_progress, {80 * gui.unit, ImGui::GetFrameHeight()});
  gui.name_item("sweep");
  ImGui::SameLine(0, 2 * gui.unit);
  if (flat_button(gui, "cancel sweep", gui.word(kWindowWords.cancel))) gui.say(OrderHeads{});
}

/// A box for one of the two words; true when it changed.
bool word_box(Gui& gui, const char* name, const Words& hint, std::string& text, float width) {
  std::string shown = gui.fonts.shown(text);
  shown.reserve(64);
  ImGui::SetNextItemWidth(width);
  const auto grow = [](ImGuiInputTextCallbackData* data) {
    resize_text(data, *static_cast<std::string*>(data->UserData));
    return 0;
  };
  ImGui::PushID(name);
  const bool edited = ImGui::InputTextWithHint("##word", gui.word(hint), shown.data(), shown.capacity() + 1,
                                               ImGuiInputTextFlags_CallbackResize, grow, &shown);
  ImGui::PopID();
  gui.name_item(name);
  if (!edited || key_pressed(Key::escape, false)) return false;  // Escape leaves the box; what was typed stays
  shown.resize(std::strlen(shown.c_str()));
  text = gui.fonts.typed(shown);
  return true;
}

void found_words(Gui& gui) {
  const AppState& state = gui.state;
  const auto count = count_found(state);
  if (!count) return;
  const bool lacks = lacks_words(state);
  const auto all = heads_of(*state.trace, state.view.chosen.stack).size();
  const std::string text =
      lacks ? gui.word(kHeadOrderWords.no_such_word)
            : std::to_string(*count) + " " + gui.word(kHeadOrderWords.found_of) + " " + std::to_string(all);
  beside(gui, ImGui::CalcTextSize(text.c_str()).x, 8);
  quiet(gui, text, lacks);
  gui.name_item("found");
}

/// Two words, a threshold, and how many heads there are of that kind.
void search(Gui& gui) {
  const AppState& state = gui.state;
  HeadSearch find = state.view.find;
  bool changed = false;
  const float box = 72 * gui.unit;
  beside(gui, box, 12);
  if (state.view.focus_find) ImGui::SetKeyboardFocusHere();
  changed |= word_box(gui, "find from", kHeadOrderWords.from_hint, find.words.from, box);
  if (state.view.focus_find && ImGui::IsItemActive()) gui.say(FocusFind{false});
  beside(gui, ImGui::CalcTextSize(gui.word(kHeadOrderWords.looks_at)).x + box);
  quiet(gui, gui.word(kHeadOrderWords.looks_at));
  ImGui::SameLine(0, 6 * gui.unit);
  changed |= word_box(gui, "find to", kHeadOrderWords.to_hint, find.words.to, box);
  char number[16];
  std::snprintf(number, sizeof number, "%.2f", static_cast<double>(find.above));
  const std::string above = std::string(gui.word(kHeadOrderWords.more_than)) + " " + number;
  beside(gui, ImGui::CalcTextSize(above.c_str()).x + 64 * gui.unit);
  quiet(gui, above);
  ImGui::SameLine(0, 6 * gui.unit);
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  {
    const SlimScope slim(gui, 56 * gui.unit);
    changed |= ImGui::SliderFloat("##above", &find.above, 0.0f, 1.0f, "", ImGuiSliderFlags_AlwaysClamp);
    gui.name_item("find above");
    explain_item(gui, kHeadOrderWords.tip_above);
  }
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosY(top);
  ImGui::Dummy({0, ImGui::GetFrameHeight()});
  found_words(gui);
  if (state.trace && state.view.pinned) {
    beside(gui, button_width(gui.word(kHeadOrderWords.pinned_cell)));
    if (flat_button(gui, "find pinned", gui.word(kHeadOrderWords.pinned_cell))) {
      find.words = words_of_cell(state, *state.view.pinned);
      changed = true;
    }
    explain_item(gui, kHeadOrderWords.tip_pinned_cell);
  }
  beside(gui, button_width("×"), 0);
  if (flat_button(gui, "find off", "×")) {
    find.on = false;
    changed = true;
  }
  if (changed) gui.say(FindHeads{std::move(find)});
}

}  // namespace

void head_order_line(Gui& gui, bool same_line) {
  const FontScope small(gui, TextSize::small);
  order_control(gui, same_line);
  sweep(gui);
  if (gui.state.view.find.on) return search(gui);
  beside(gui, button_width(gui.word(kHeadOrderWords.find_heads)), 12);
  if (flat_button(gui, "find heads", gui.word(kHeadOrderWords.find_heads))) begin_search(gui);
  explain_item(gui, kHeadOrderWords.tip_find, {Act::find_heads});
}

}  // namespace headlight
