#include "gui/gui.h"

#include "gui/panels.h"

#include <algorithm>
#include <cstdio>

namespace headlight {

void Gui::name_item(const std::string& name) {
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  name_box(name, {min.x, min.y, max.x - min.x, max.y - min.y});
}

void Gui::name_box(const std::string& name, const Box& box) {
  if (probe) (*probe)[name] = box;
}

FontScope::FontScope(const Gui& gui, TextSize size) { gui.fonts.push(size); }
FontScope::~FontScope() { ImGui::PopFont(); }

ColourScale colour_scale(const AppState& state) {
  const float largest = state.trace ? state.trace->largest_weight : 1.0f;
  return {.theme = state.settings.theme, .scale = state.view.scale, .top = nice_top(std::min(largest, 1.0f))};
}

std::string query_label(Gui& gui, Index query, Stack stack) {
  return gui.fonts.shown(axis_label(gui.state.trace->query_tokens(stack).tokens[static_cast<std::size_t>(query)]));
}

std::string key_label(Gui& gui, Index key, Stack stack) {
  return gui.fonts.shown(axis_label(gui.state.trace->key_tokens(stack).tokens[static_cast<std::size_t>(key)]));
}

std::string weight_text(float weight) {
  char text[32];
  std::snprintf(text, sizeof text, weight != 0.0f && weight < 0.0001f ? "%.2e" : "%.4f", static_cast<double>(weight));
  return text;
}

std::string cell_in_words(Gui& gui, HeadRef head, const CellRef& cell) {
  const Trace& trace = *gui.state.trace;
  std::string line = query_label(gui, cell.query, head.stack) + " " + gui.word(Str::attends) + " " +
                     key_label(gui, cell.key, head.stack) + ": ";
  const float weight = attention_rows(trace, head, cell.query, 1)(0, cell.key);
  const bool by_hand = edited_weight(trace.request.edits, head, cell) != nullptr;
  if (!by_hand && !trace.mask(head.stack, head.layer).allowed(cell.query, cell.key)) return line + gui.word(Str::blocked);
  line += weight_text(weight);
  return by_hand ? line + " (" + gui.word(Str::by_hand) + ")" : line;
}

std::string head_words(const Gui& gui, const HeadRef& head) {
  std::string text;
  if (gui.state.trace && gui.state.trace->encoder) text = std::string(stack_word(gui, head.stack)) + " · ";
  return text + gui.word(Str::layer) + " " + std::to_string(head.layer + 1) + " · " + gui.word(Str::head) + " " +
         std::to_string(head.head + 1);
}

void explain_item(const Gui& gui, Str string) {
  if (!ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(320 * gui.unit);
  ImGui::TextUnformatted(gui.word(string));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace headlight
