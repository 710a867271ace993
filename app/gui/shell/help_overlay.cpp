#include <algorithm>
#include <string>
#include <vector>

#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/shell/shell.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr float kAboveHeading = 0.6f;  // rows

/// A row of the table with its keys, or the heading of a group, which has none.
struct KeyLine {
  std::string keys, meaning;
};

std::vector<KeyLine> lines_of(const Gui& gui) {
  std::vector<KeyLine> lines;
  for (int group = 0; group < static_cast<int>(ActionGroup::count); ++group) {
    lines.push_back({"", gui.word(group_words(static_cast<ActionGroup>(group)))});
    for (const Action& action : all_actions())
      if (static_cast<int>(action.group) == group)
        if (std::string keys = keys_of(action.id); !keys.empty())
          lines.push_back({std::move(keys), gui.word(action.name)});
    if (static_cast<ActionGroup>(group) == ActionGroup::files)
      lines.push_back({chord_text(sample_chord(0)) + " … " + chord_text(sample_chord(kSampleKeys - 1)),
                       gui.word(kPaletteWords.take_sample)});
  }
  return lines;
}

/// The lines in columns of about equal height, at the current font.
struct Columns {
  struct Column {
    std::size_t first = 0;         // of its lines
    float keys = 0, meanings = 0;  // widths
  };
  std::vector<Column> columns;
  float width = 0, height = 0, row = 0, gap = 0;  // the gap between two columns is wider than the one inside a column
};

/// A heading has room above it, but at the top of a column, and is never the last line of one.
Columns columns_of(const Gui& gui, const std::vector<KeyLine>& lines, std::size_t count) {
  const auto rows_of = [&](std::size_t i) { return lines[i].keys.empty() ? 1 + kAboveHeading : 1; };
  float all = 0, rows = 0, most = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) all += rows_of(i);
  Columns set{{}, 0, 0, ImGui::GetTextLineHeight() + 2 * gui.unit, 24 * gui.unit};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool heads_next = lines[i].keys.empty() && rows + rows_of(i) + 1 > all / static_cast<float>(count);
    if (set.columns.empty() ||
        (set.columns.size() < count && (heads_next || rows >= all / static_cast<float>(count)))) {
      set.columns.push_back({i});
      rows = 0;
    }
    rows += rows > 0 ? rows_of(i) : 1;
    most = std::max(most, rows);
    Columns::Column& column = set.columns.back();
    column.keys = std::max(column.keys, ImGui::CalcTextSize(lines[i].keys.c_str()).x);
    column.meanings = std::max(column.meanings, ImGui::CalcTextSize(lines[i].meaning.c_str()).x);
  }
  set.height = most * set.row;
  for (const Columns::Column& column : set.columns) set.width += column.keys + set.gap / 2 + column.meanings;
  set.width += set.gap * static_cast<float>(set.columns.size() - 1);
  return set;
}

/// As many columns as the height asks for and the width allows.
Columns fitted(const Gui& gui, const std::vector<KeyLine>& lines, ImVec2 room) {
  Columns best = columns_of(gui, lines, 1);
  for (std::size_t count = 2; count <= 4 && best.height > room.y; ++count) {
    Columns wider = columns_of(gui, lines, count);
    if (wider.width > room.x) break;
    best = std::move(wider);
  }
  return best;
}

void draw_columns(Gui& gui, const std::vector<KeyLine>& lines, const Columns& set) {
  const ImVec2 corner = ImGui::GetCursorPos();
  float x = corner.x;
  for (std::size_t at = 0; at < set.columns.size(); ++at) {
    const Columns::Column& column = set.columns[at];
    const std::size_t end = at + 1 < set.columns.size() ? set.columns[at + 1].first : lines.size();
    float y = corner.y;
    for (std::size_t i = column.first; i < end; ++i, y += set.row) {
      const bool heading = lines[i].keys.empty();
      if (heading && i > column.first) y += kAboveHeading * set.row;
      ImGui::SetCursorPos({x, y});
      coloured_text(heading ? gui.colours().text : gui.colours().dim, heading ? lines[i].meaning : lines[i].keys);
      gui.name_item("key line " + std::to_string(i), BoxKind::label);
      if (heading) {
        const ImVec2 below{ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y};
        const float width = column.keys + set.gap / 2 + column.meanings;
        ImGui::GetWindowDrawList()->AddLine(below, {below.x + width, below.y}, gui.colours().outline, gui.unit);
        continue;
      }
      ImGui::SetCursorPos({x + column.keys + set.gap / 2, y});
      ImGui::TextUnformatted(lines[i].meaning.c_str());
      gui.name_item("key meaning " + std::to_string(i), BoxKind::label);
    }
    x += column.keys + set.gap / 2 + column.meanings + set.gap;
  }
  ImGui::SetCursorPos({corner.x, corner.y + set.height});
}

}  // namespace

void help_overlay(Gui& gui) {
  if (!gui.state.view.help) return;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({display.x / 2, display.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, gui.colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{20 * gui.unit, 16 * gui.unit});
  ImGui::Begin("help", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_AlwaysAutoResize);
  {
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(gui.word(kWindowWords.help));
  }
  {
    const FontScope font(gui, TextSize::small);
    const std::vector<KeyLine> lines = lines_of(gui);
    const float most = display.y * 0.96f - ImGui::GetCursorPosY() - ImGui::GetFrameHeightWithSpacing() - 24 * gui.unit;
    const float bar = ImGui::GetStyle().ScrollbarSize;
    const Columns set = fitted(gui, lines, {display.x * 0.96f - 40 * gui.unit - bar, most});
    ImGui::BeginChild(
        "keys", {std::min(set.width + bar, display.x * 0.96f - 40 * gui.unit), std::min(set.height + gui.unit, most)});
    draw_columns(gui, lines, set);
    ImGui::EndChild();
  }
  if (flat_button(gui, "close help", gui.word(kWindowWords.close))) gui.push(ShowHelp{false});
  const bool outside =
      ImGui::IsMouseReleased(0) &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem | ImGuiHoveredFlags_ChildWindows);
  if (outside && !ImGui::IsWindowAppearing()) gui.push(ShowHelp{false});
  end_dialog();
}

}  // namespace headlight
