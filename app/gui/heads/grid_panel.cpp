#include <algorithm>
#include <cmath>
#include <cstdio>

#include "figure/grid_layout.h"
#include "gui/actions/actions.h"
#include "gui/actions/fold_switches.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/stacks.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/greeting.h"
#include "gui/heads/grid_parts.h"
#include "gui/heads/heads.h"
#include "model/head_text.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/grid_words.h"

namespace headlight {
namespace {

/// What is wrong, what is being computed, what was done to the maps and what they mean: a few lines above them.
void headline(Gui& gui) {
  const bool problem = problem_line(gui);
  const AppState& state = gui.state;
  for (const auto& warning : state.trace ? state.trace->warnings : std::vector<std::string>{})
    wrapped_small(gui, warning, gui.colours().caution);
  const FontScope small(gui, TextSize::small);
  if (const std::string folds = folds_in_words(gui); !folds.empty()) wrapped_dim(gui, folds);
  if (problem) return;
  const bool greets = greeting(gui);
  const std::string kind = map_kind_words(gui);
  // The greeting says what a square is, and one row or column what it shows.
  const bool is_said = greets || shown_line(state);
  std::string line = !kind.empty() ? kind : is_said ? "" : gui.word(kChosenHeadWords.what_is_a_square);
  if (kind.empty() && !shown_line(state) && state.trace) {
    const MapContent content = whole_content(state, state.view.chosen);
    const Index rows = content.region.num_queries, columns = content.region.num_keys;
    if (std::max(rows, columns) > kThumbnail)
      line = std::to_string(rows) + " × " + std::to_string(columns) + ": " +
             gui.word(content.folded ? kAnswerWords.pooled_folded
                                     : kAnswerWords.pooled);  // what is folded cannot be zoomed
  }
  if (line.empty()) return;
  // An explanation that would take the maps' room is left out.
  const float height = ImGui::CalcTextSize(line.c_str(), nullptr, false, ImGui::GetContentRegionAvail().x).y;
  if (height > 0.25f * ImGui::GetContentRegionAvail().y) return;
  wrapped_dim(gui, line);
}

/// The switch of a head: a disc while the head is on, a ring while it is off. Gives whether the pointer is on it.
bool on_off(Gui& gui, const HeadRef& head, const Box& box, bool off, const std::string& name) {
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(name.c_str(), {box.w, box.h})) gui.say_once(SwitchHead{head, !off});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(name, box);
  explain_item(gui, kChosenHeadWords.tip_on_off);
  const ImVec2 middle{box.x + box.w / 2, box.y + box.h / 2};
  const float radius = 4 * gui.unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = hovered ? gui.colours().accent : off ? gui.colours().dim : gui.colours().faint;
  if (off) list.AddCircle(middle, radius, colour, 16, gui.unit);
  else list.AddCircleFilled(middle, radius, colour, 16);
  return hovered;
}

void one_head(Gui& gui, HeadRef head, const Box& box, const AxisLabels& labels, float title_height) {
  const AppState& state = gui.state;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string id = "head " + head_text({head.layer, head.head});
  const bool off = is_off(state.document.edits, head);
  const Box button{box.right() - title_height, box.y, title_height, title_height - 3 * gui.unit};
  const bool over_button = on_off(gui, head, button, off, "on off " + id);
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h}) && !over_button) gui.say(ChooseHead{head});
  const bool hovered = ImGui::IsItemHovered() && !over_button;

  const bool chosen = state.view.chosen == head;
  const bool passed_over = is_passed_over(state, head);
  const MapContent content = whole_content(state, head);
  const MapLayout layout = map_layout(content, labels, {box.x, box.y + title_height, box.w, box.h - title_height});
  const MeasuredTitle measured =
      measured_title(gui, head, button.x - layout.plot.x - 4 * gui.unit, order_value_text(state, head));
  const std::string& title = measured.head;
  const float title_width = ImGui::CalcTextSize(title.c_str()).x;
  const float value_width = ImGui::CalcTextSize(measured.value.c_str()).x;
  const bool faint = off || passed_over;
  if (!measured.value.empty())
    list.AddText({layout.plot.x + title_width, box.y}, faint ? gui.colours().faint : gui.colours().dim,
                 measured.value.c_str());
  if (!measured.relations.empty())
    list.AddText({layout.plot.x + title_width + value_width, box.y},
                 passed_over ? gui.colours().faint : gui.colours().accent, measured.relations.c_str());
  list.AddText({layout.plot.x, box.y},
               chosen || hovered ? gui.colours().accent
               : faint           ? gui.colours().faint
                                 : gui.colours().text,
               title.c_str());
  const auto cell = draw_map(gui, list, content, labels, layout, head_opacity(state, head));
  if (chosen) {
    const float y = box.y + ImGui::GetFontSize() + gui.unit;
    list.AddLine({layout.plot.x, y}, {layout.plot.x + title_width, y}, gui.colours().accent, gui.unit);
  }
  gui.name_box(id, layout.plot);
  if (hovered) gui.say(Hover{head, cell});
}

void all_heads(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Stack stack = state.view.chosen.stack;
  const MapContent content = whole_content(state, {.stack = stack});
  const Region& whole = content.region;
  const AxisLabels labels = axis_labels(gui, content);
  const float text = ImGui::GetFontSize(), title_height = text + 6 * gui.unit;

  // The smallest maps still have room for a label beside every cell of a short sentence; longer ones thin their labels
  // out sooner than they scroll: the large head names every cell.
  const float most_cells = static_cast<float>(std::max(whole.num_queries, whole.num_keys));
  const float least_plot = std::clamp(most_cells * std::ceil(text * kLabelPitch), 96 * gui.unit, 108 * gui.unit);
  const float least = least_plot + std::min(labels.query_metrics.widest, least_plot * 0.4f) + text * 0.3f;
  const MapLayout trial = map_layout(content, labels, {0, 0, least, least});
  const float extra = title_height + trial.plot.y - trial.plot.x;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  // In an order of their own the heads follow each other like those of a single layer.
  const bool by_layer = shown_kind(state, stack) == MapKind::rollout;  // then so do the layers, each a single map
  const std::vector<HeadRef> order = by_layer ? layers_of(state) : shown_order(state);
  const Index rows = order.empty() ? trace.num_layers(stack) : 1;
  const Index in_a_row = order.empty() ? trace.num_heads(stack) : static_cast<Index>(order.size());
  const GridLayout grid =
      layout_grid(room.x - 4 * gui.unit, room.y, rows, in_a_row, least, 460 * gui.unit, extra, 8 * gui.unit);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos();
  const ImVec2 origin{corner.x + 2 * gui.unit, corner.y};  // room for the first frame's line
  for (Index layer = 0; layer < rows; ++layer) {
    for (Index head = 0; head < in_a_row; ++head) {
      const Box place = grid.place({layer, head});
      const Box box{origin.x + place.x, origin.y + place.y, place.w, place.h};
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      const HeadRef shown = order.empty() ? HeadRef{layer, head, stack} : order[static_cast<std::size_t>(head)];
      (by_layer ? one_layer : one_head)(gui, shown, box, labels, title_height);
    }
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, grid.content_height});
}

}  // namespace

std::string order_value_text(const AppState& state, const HeadRef& head) {
  const auto value = order_value(state, head);
  if (!value) return {};
  char text[32];
  const double number = static_cast<double>(*value);
  std::snprintf(text, sizeof text,
                number != 0 && std::abs(number) < 0.001 ? "  %.1e"
                : number < 10                           ? "  %.3f"
                                                        : "  %.1f",
                number);
  return text;
}

float head_opacity(const AppState& state, const HeadRef& head) {
  const float fresh = is_stale(state) ? kStaleOpacity : 1.0f;
  if (is_off(state.document.edits, head)) return fresh * 0.35f;
  return is_passed_over(state, head) ? fresh * 0.2f : fresh;
}

void grid_switch(Gui& gui, bool beside) {
  const struct {
    GridShow show;
    const char* name;
    const Words &label, &tip;
  } ways[] = {{GridShow::maps, "grid maps", kGridWords.grid_maps, kGridWords.tip_grid_maps},
              {GridShow::glance, "grid glance", kGridWords.grid_glance, kGridWords.tip_grid_glance},
              {GridShow::query, "grid row", kGridWords.grid_query, kGridWords.tip_grid_query},
              {GridShow::key, "grid column", kGridWords.grid_key, kGridWords.tip_grid_key}};
  const FontScope small(gui, TextSize::small);
  float width = 0;
  for (const auto& way : ways) width += button_width(gui.word(way.label));
  if (beside) same_line_if_room(width, 12 * gui.unit);
  for (const auto& way : ways) {
    if (&way != ways) ImGui::SameLine(0, 0);
    if (flat_button(gui, way.name, gui.word(way.label), gui.state.view.grid == way.show)) gui.say(ShowGrid{way.show});
    explain_item(gui, way.tip, {Act::next_grid});
  }
}

void grid_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (nothing_asked(state)) return nothing_yet(gui);
  const float top = ImGui::GetCursorPosY();
  bool beside = stack_tabs(gui);
  if (state.view.view == View::heads) {
    grid_switch(gui, beside);
    beside = true;
  }
  map_kind_switches(gui, beside);
  fold_switches(gui, ImGui::GetCursorPosY() > top);
  head_order_line(gui, ImGui::GetCursorPosY() > top);
  headline(gui);
  if (!state.trace) return nothing_yet(gui);
  const float done = gui.work.computing ? gui.work.computing_progress
                     : gui.work.reading ? gui.work.reading_progress
                                        : 0;
  if (done > 0 && done < 1) {
    const ImVec2 at = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + ImGui::GetWindowWidth() * done, at.y + 2 * gui.unit},
                                              gui.colours().accent);
  }
  ImGui::BeginChild("grid");
  switch (state.view.view == View::heads ? state.view.grid : GridShow::maps) {
    case GridShow::maps: all_heads(gui); break;
    case GridShow::glance: glance_grid(gui); break;
    case GridShow::query:
    case GridShow::key: line_grid(gui); break;
  }
  ImGui::EndChild();
}

}  // namespace headlight
