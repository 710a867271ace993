#include <algorithm>
#include <cmath>
#include <cstdio>

#include "figure/grid_layout.h"
#include "gui/draw.h"
#include "gui/map_view.h"
#include "gui/panels.h"

namespace headlight {
namespace {

/// What is wrong, what is being computed, or what the maps mean: one line above them.
void headline(Gui& gui) {
  const AppState& state = gui.state;
  const std::string& problem = problem_of(state);
  const FontScope small(gui, TextSize::small);
  ImGui::PushTextWrapPos(0);
  if (!problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().warning);
    ImGui::TextUnformatted(gui.fonts.shown(problem + (state.trace ? std::string(" — ") + gui.word(Str::stale) : "")).c_str());
    ImGui::PopStyleColor();
  } else {
    std::string line = gui.word(Str::what_is_a_square);
    if (state.trace && (state.trace->queries() > kThumbnail || state.trace->keys() > kThumbnail))
      line = std::to_string(state.trace->queries()) + " × " + std::to_string(state.trace->keys()) + ": " + gui.word(Str::pooled);
    for (const auto& warning : state.trace ? state.trace->warnings : std::vector<std::string>{}) line += "  " + warning;
    // An explanation that would take the maps' room is left out.
    const float height = ImGui::CalcTextSize(line.c_str(), nullptr, false, ImGui::GetContentRegionAvail().x).y;
    if (height <= 0.25f * ImGui::GetContentRegionAvail().y) {
      ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
      ImGui::TextUnformatted(gui.fonts.shown(line).c_str());
      ImGui::PopStyleColor();
    }
  }
  ImGui::PopTextWrapPos();
}

void nothing_yet(Gui& gui) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto centred = [&](const char* text) {
    ImGui::SetCursorPosX((room.x - ImGui::CalcTextSize(text).x) / 2);
    ImGui::TextUnformatted(text);
  };
  ImGui::SetCursorPosY(room.y * 0.4f);
  if (nothing_asked(gui.state)) {
    const FontScope title(gui, TextSize::title);
    centred(gui.word(Str::empty_text));
  }
  if (nothing_asked(gui.state)) centred(gui.word(Str::empty_hint));
  else if (problem_of(gui.state).empty()) centred(gui.word(Str::computing));
}

void one_head(Gui& gui, HeadRef head, const Box& box, const AxisLabels& labels, float title_height, float opacity) {
  const AppState& state = gui.state;
  const Trace& trace = *state.trace;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string id = "head " + std::to_string(head.layer) + "." + std::to_string(head.head);
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h})) gui.say(ChooseHead{head});
  const bool hovered = ImGui::IsItemHovered();

  const bool chosen = state.view.chosen == head;
  char title[64];
  std::snprintf(title, sizeof title, "%s %d · %s %d", gui.word(Str::layer), static_cast<int>(head.layer + 1),
                gui.word(Str::head), static_cast<int>(head.head + 1));
  const MapContent content{.head = head,
                           .weights = &trace.blocks[static_cast<std::size_t>(head.layer)]
                                           .self.heads[static_cast<std::size_t>(head.head)].thumbnail,
                           .version = thumbnail_version(state, head),
                           .region = {.layer = head.layer, .head = head.head, .num_queries = trace.queries(),
                                      .num_keys = trace.keys()},
                           .values = false};
  const MapLayout layout = map_layout(content, labels, {box.x, box.y + title_height, box.w, box.h - title_height});
  list.AddText({layout.plot.x, box.y}, chosen || hovered ? gui.colours().accent : gui.colours().text, title);
  const auto cell = draw_map(gui, list, content, labels, layout, opacity);
  if (chosen) {
    const float y = box.y + ImGui::GetFontSize() + gui.unit;
    list.AddLine({layout.plot.x, y}, {layout.plot.x + ImGui::CalcTextSize(title).x, y}, gui.colours().accent, gui.unit);
  }
  gui.name_box(id, layout.plot);
  if (hovered) gui.say(Hover{head, cell});
}

void all_heads(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Region whole{.num_queries = trace.queries(), .num_keys = trace.keys()};
  const AxisLabels labels = axis_labels(gui, whole);
  const float text = ImGui::GetFontSize(), title_height = text + 6 * gui.unit;

  // The smallest maps still have room for a label beside every cell of a short sentence; longer ones thin their labels
  // out sooner than they scroll: the large head names every cell.
  const float most_cells = static_cast<float>(std::max(trace.queries(), trace.keys()));
  const float least_plot = std::clamp(most_cells * std::ceil(text * kLabelPitch), 96 * gui.unit, 108 * gui.unit);
  const float least = least_plot + std::min(labels.query_metrics.widest, least_plot * 0.4f) + text * 0.3f;
  const MapContent content{.head = {}, .weights = nullptr, .version = 0, .region = whole, .values = false};
  const MapLayout trial = map_layout(content, labels, {0, 0, least, least});
  const float extra = title_height + trial.plot.y - trial.plot.x;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const GridLayout grid = layout_grid(room.x - 4 * gui.unit, room.y, trace.num_layers(), trace.num_heads(), least,
                                      460 * gui.unit, extra, 8 * gui.unit);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos();
  const ImVec2 origin{corner.x + 2 * gui.unit, corner.y};  // room for the first frame's line
  const float opacity = is_stale(state) ? kStaleOpacity : 1.0f;
  for (Index layer = 0; layer < trace.num_layers(); ++layer) {
    for (Index head = 0; head < trace.num_heads(); ++head) {
      const Box place = grid.place({layer, head});
      const Box box{origin.x + place.x, origin.y + place.y, place.w, place.h};
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      one_head(gui, {layer, head}, box, labels, title_height, opacity);
    }
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, grid.content_height});
}

}  // namespace

void grid_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (nothing_asked(state)) return nothing_yet(gui);
  headline(gui);
  if (!state.trace) return nothing_yet(gui);
  if (gui.work.computing && gui.work.computing_progress > 0 && gui.work.computing_progress < 1) {
    const ImVec2 at = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddRectFilled(
        at, {at.x + ImGui::GetWindowWidth() * gui.work.computing_progress, at.y + 2 * gui.unit}, gui.colours().accent);
  }
  ImGui::BeginChild("grid");
  all_heads(gui);
  ImGui::EndChild();
}

}  // namespace headlight
