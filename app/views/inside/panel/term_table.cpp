#include "views/inside/panel/term_table.h"

#include <algorithm>
#include <cmath>

#include "derived/writer_split.h"
#include "gui/frame/draw.h"

namespace headlight {
namespace {

void part(Gui& gui, const TermPart& part, const std::string& name) {
  if (!part.leads_to) return ImGui::TextUnformatted(part.text.c_str());
  ImGui::PushID(name.c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, part.as_link ? gui.colours().action : gui.colours().text);
  if (ImGui::Selectable(part.text.c_str())) gui.push(part.leads_to());
  ImGui::PopStyleColor();
  ImGui::PopID();
  // Of the line alone: a Selectable reaches into the lines above and below.
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const float height = ImGui::GetFontSize();
  gui.name_box(name, {min.x, (min.y + max.y - height) / 2, max.x - min.x, height}, BoxKind::button);
}

/// To the right where the term is positive, to the left where it is negative.
void bar(const Gui& gui, float length, float least, float most) {
  const float room = std::min(ImGui::GetContentRegionAvail().x, 240 * gui.unit);
  const float height = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float share = least < 0 ? -least / (most - least) : 0, middle = at.x + room * share;
  const float width = most > least && std::isfinite(length) ? length / (most - least) * room : 0;
  ImGui::GetWindowDrawList()->AddRectFilled({std::min(middle, middle + width), at.y + height * 0.2f},
                                            {std::max(middle, middle + width), at.y + height * 0.8f},
                                            to_imgui(diverging_map(gui.state.settings.theme)[width < 0 ? 40 : 215]));
  ImGui::Dummy({room, height});
}

}  // namespace

Way way_to_writer(const Trace& trace, const Writer& writer, Index token, std::optional<InsideTab> tab) {
  if (writer.kind != WriterKind::head) return {};
  return [&trace, writer, token, tab] {
    const WriterCell at = *cell_of_writer(trace, writer, token);
    return LookAt{look_of_weight(at.head, at.cell), at.cell, tab};
  };
}

bool has_room_for_terms(const Gui& gui) { return ImGui::GetContentRegionAvail().x >= 420 * gui.unit; }

void term_table(Gui& gui, std::size_t count, TermColumns columns, const std::function<float(std::size_t)>& length,
                const std::function<TermLine(std::size_t)>& line, const TermLine& heading) {
  const FontScope small(gui, TextSize::small);
  float most = 0, least = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const float one = length(i); std::isfinite(one)) most = std::max(most, one), least = std::min(least, one);
  // In a wide window a bar would stand too far from its number to be read with it.
  const float width = std::min(ImGui::GetContentRegionAvail().x, (columns.times ? 820 : 560) * gui.unit);
  // Terms of a sum are as wide as they are, and bars take what is left.
  const bool fixed = columns.times && heading.from.text.empty();
  const ImGuiTableFlags flags =
      ImGuiTableFlags_ScrollY | (fixed ? ImGuiTableFlags_SizingFixedFit : ImGuiTableFlags_SizingStretchProp);
  const bool bars = !columns.times || has_room_for_terms(gui);
  columns.addends = columns.addends && (!fixed || width >= 320 * gui.unit);  // the two factors come first
  const int count_of_columns = 1 + (columns.times ? 1 : 0) + (columns.addends ? 1 : 0) + (bars ? 1 : 0);
  if (!ImGui::BeginTable("terms", count_of_columns, flags, {width, 0})) return;
  ImGui::TableSetupColumn("from", 0, fixed ? 0 : 1.2f);
  if (columns.times) ImGui::TableSetupColumn("times", 0, fixed ? 0 : 1.1f);
  if (columns.addends) ImGui::TableSetupColumn("addend", 0, fixed ? 0 : 0.7f);
  if (bars) ImGui::TableSetupColumn("bar", fixed ? ImGuiTableColumnFlags_WidthStretch : 0, 1.0f);
  if (!heading.from.text.empty()) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow();
    for (const std::string* text : {&heading.from.text, &heading.times.text, &heading.addend})
      if (!text->empty() && ImGui::TableNextColumn()) coloured_text(gui.colours().dim, *text);
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const TermLine term = line(at);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      part(gui, term.from, "term " + std::to_string(i));
      if (columns.times && ImGui::TableNextColumn() && !term.times.text.empty())
        part(gui, term.times, "times " + std::to_string(i));
      if (columns.addends && ImGui::TableNextColumn()) ImGui::TextUnformatted(term.addend.c_str());
      if (bars && ImGui::TableNextColumn()) bar(gui, length(at), least, most);
    }
  ImGui::EndTable();
}

}  // namespace headlight
