// Above the atlas: what the heads stand in order of, and which of them are looked for.

#include "base/formatted.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "session/head_grid.h"
#include "views/heads/panel/grid_parts.h"
#include "words/enum_words.h"
#include "words/head_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// A few dim words on the line of the controls.
void quiet(const Gui& gui, const std::string& text, bool warning = false) {
  ImGui::AlignTextToFramePadding();
  coloured_text(warning ? gui.colours().warning : gui.colours().dim, text);
}

/// Whether an item of this width fits into the line; items that do not fit are left out.
bool fits(float width) { return ImGui::GetCursorPosX() + width <= ImGui::GetContentRegionMax().x; }

void order_menu(Gui& gui) {
  const HeadOrder& now = gui.state.view.order;
  if (!begin_menu_below(gui, "orders")) return;
  for (HeadOrder order : head_orders()) {
    order.ascending = now.ascending;
    const std::string called = "order " + std::string(name(order));
    if (menu_line(gui, called.c_str(), gui.word(order_words(order).name), {}, order == now)) {
      gui.push(OrderHeads{order});
      if (order.by == HeadOrder::By::found && !gui.state.view.find.on) begin_search(gui);
    }
    explain_item(gui, gui.word(order_words(order).tip));
  }
  ImGui::EndPopup();
}

std::string order_label(const Gui& gui) {
  return std::string(gui.word(kHeadOrderWords.order_of_heads)) + ": " +
         gui.word(order_words(gui.state.view.order).name);
}

const char* direction_label(const Gui& gui) {
  return gui.word(gui.state.view.order.ascending ? kHeadOrderWords.smallest_first : kHeadOrderWords.largest_first);
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
  if (!fits(ImGui::CalcTextSize(text.c_str()).x)) return;
  quiet(gui, text, lacks);
  gui.name_item("found", BoxKind::label);
  ImGui::SameLine(0, 8 * gui.unit);
}

/// The least weight that counts.
bool least_weight(Gui& gui, float& above) {
  const std::string text = formatted("%s %.2f", gui.word(kHeadOrderWords.more_than), static_cast<double>(above));
  if (!fits(ImGui::CalcTextSize(text.c_str()).x + 62 * gui.unit)) return false;
  quiet(gui, text);
  ImGui::SameLine(0, 6 * gui.unit);
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  bool changed = false;
  {
    const SlimScope slim(gui, 56 * gui.unit);
    changed = ImGui::SliderFloat("##above", &above, 0.0f, 1.0f, "", ImGuiSliderFlags_AlwaysClamp);
    gui.name_item("find above", BoxKind::slider);
    explain_item(gui, kHeadOrderWords.tip_above);
  }
  ImGui::SameLine(0, 8 * gui.unit);
  ImGui::SetCursorPosY(top);
  return changed;
}

}  // namespace

float order_control_width(const Gui& gui) {
  const float menu = menu_width(gui, order_label(gui).c_str());
  const bool turns = gui.state.view.order.by != HeadOrder::By::layer;
  return menu + (turns ? 4 * gui.unit + button_width(direction_label(gui)) : 0);
}

void order_control(Gui& gui) {
  const HeadOrder& order = gui.state.view.order;
  const bool own = order.by != HeadOrder::By::layer;
  if (menu_button(gui, "order", order_label(gui).c_str(), own)) ImGui::OpenPopup("orders");
  explain_item(gui, own ? order_words(order).tip : kHeadOrderWords.tip_order, {Act::next_order, Act::previous_order});
  order_menu(gui);
  if (!own) return;
  ImGui::SameLine(0, 4 * gui.unit);
  if (flat_button(gui, "direction", direction_label(gui)))
    gui.push(OrderHeads{{order.by, order.measure, !order.ascending}});
  explain_item(gui, kHeadOrderWords.tip_direction);
}

bool sweep_line(Gui& gui) {
  const auto question = effect_question(gui.state);
  if (!question || known_effects(gui.state)) return false;
  if (const Error* error = gui.state.effects.error_of(*question)) {
    quiet(gui, gui.fonts.shown(plain_line(gui, *error)), true);
    explain_item(gui, error->message());
    return true;
  }
  if (!gui.work.sweeping) return false;
  quiet(gui, gui.word(kHeadOrderWords.trying));
  ImGui::SameLine(0, 6 * gui.unit);
  ImGui::ProgressBar(gui.work.sweep_progress, {80 * gui.unit, ImGui::GetFrameHeight()});
  gui.name_item("sweep", BoxKind::label);
  ImGui::SameLine(0, 4 * gui.unit);
  if (flat_button(gui, "cancel sweep", gui.word(kWindowWords.cancel))) gui.push(OrderHeads{});
  return true;
}

void search_line(Gui& gui) {
  const AppState& state = gui.state;
  HeadSearch find = state.view.find;
  bool changed = false;
  const float box = 72 * gui.unit, end = ImGui::GetContentRegionMax().x - button_width("×");
  if (state.view.focus_find) ImGui::SetKeyboardFocusHere();
  changed |= word_box(gui, "find from", kHeadOrderWords.from_hint, find.words.from, box);
  if (state.view.focus_find && ImGui::IsItemActive()) gui.push(FocusFind{false});
  ImGui::SameLine(0, 6 * gui.unit);
  quiet(gui, gui.word(kHeadOrderWords.looks_at));
  ImGui::SameLine(0, 6 * gui.unit);
  changed |= word_box(gui, "find to", kHeadOrderWords.to_hint, find.words.to, box);
  ImGui::SameLine(0, 8 * gui.unit);
  changed |= least_weight(gui, find.above);
  found_words(gui);
  if (state.trace && state.view.pinned &&
      ImGui::GetCursorPosX() + button_width(gui.word(kHeadOrderWords.pinned_cell)) <= end) {
    if (flat_button(gui, "find pinned", gui.word(kHeadOrderWords.pinned_cell))) {
      find.words = words_of_cell(state, *state.view.pinned);
      changed = true;
    }
    explain_item(gui, kHeadOrderWords.tip_pinned_cell);
    ImGui::SameLine(0, 0);
  }
  ImGui::SetCursorPosX(end);
  if (flat_button(gui, "find off", "×")) {
    find.on = false;
    changed = true;
  }
  if (changed) gui.push(FindHeads{std::move(find)});
}

}  // namespace headlight
