#include "gui/gui.h"

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

std::string query_label(Gui& gui, Index query) {
  return gui.fonts.shown(axis_label(gui.state.trace->query_tokens().tokens[static_cast<std::size_t>(query)]));
}

std::string key_label(Gui& gui, Index key) {
  return gui.fonts.shown(axis_label(gui.state.trace->key_tokens().tokens[static_cast<std::size_t>(key)]));
}

std::string weight_text(float weight) {
  char text[32];
  std::snprintf(text, sizeof text, weight != 0.0f && weight < 0.0001f ? "%.2e" : "%.4f", static_cast<double>(weight));
  return text;
}

std::string cell_in_words(Gui& gui, HeadRef head, const CellRef& cell) {
  const Trace& trace = *gui.state.trace;
  std::string line = query_label(gui, cell.query) + " " + gui.word(Str::attends) + " " + key_label(gui, cell.key) + ": ";
  if (!trace.mask.allowed(cell.query, cell.key)) return line + gui.word(Str::blocked);
  return line + weight_text(attention_rows(trace, head.layer, head.head, cell.query, 1)(0, cell.key));
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
