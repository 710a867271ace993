#include <algorithm>
#include <cmath>

#include "figure/grid_layout.h"
#include "gui/draw.h"
#include "gui/map_view.h"
#include "gui/panels.h"

namespace headlight {
namespace {

/// What is wrong, what is being computed, or what the maps mean: one line above them.
void headline(Gui& gui) {
  if (problem_line(gui)) return;
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  std::string line = gui.word(Str::what_is_a_square);
  if (const Stack stack = state.view.chosen.stack;
      state.trace && (state.trace->queries(stack) > kThumbnail || state.trace->keys(stack) > kThumbnail))
    line = std::to_string(state.trace->queries(stack)) + " × " + std::to_string(state.trace->keys(stack)) + ": " +
           gui.word(Str::pooled);
  for (const auto& warning : state.trace ? state.trace->warnings : std::vector<std::string>{}) line += "  " + warning;
  // An explanation that would take the maps' room is left out.
  const float height = ImGui::CalcTextSize(line.c_str(), nullptr, false, ImGui::GetContentRegionAvail().x).y;
  if (height > 0.25f * ImGui::GetContentRegionAvail().y) return;
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  ImGui::TextUnformatted(gui.fonts.shown(line).c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

/// The switch of a head: a disc while the head is on, a ring while it is off. Gives whether the pointer is on it.
bool on_off(Gui& gui, const HeadRef& head, const Box& box, bool off, const std::string& name) {
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(name.c_str(), {box.w, box.h})) gui.say_once(SwitchHead{head, !off});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(name, box);
  explain_item(gui, Str::tip_on_off);
  const ImVec2 middle{box.x + box.w / 2, box.y + box.h / 2};
  const float radius = 4 * gui.unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = hovered ? gui.colours().accent : off ? gui.colours().dim : gui.colours().faint;
  if (off) list.AddCircle(middle, radius, colour, 16, gui.unit);
  else list.AddCircleFilled(middle, radius, colour, 16);
  return hovered;
}

void one_head(Gui& gui, HeadRef head, const Box& box, const AxisLabels& labels, float title_height, float opacity) {
  const AppState& state = gui.state;
  const Trace& trace = *state.trace;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string id = "head " + std::to_string(head.layer) + "." + std::to_string(head.head);
  const bool off = is_off(state.document.edits, head);
  const Box button{box.right() - title_height, box.y, title_height, title_height - 3 * gui.unit};
  const bool over_button = on_off(gui, head, button, off, "on off " + id);
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h}) && !over_button) gui.say(ChooseHead{head});
  const bool hovered = ImGui::IsItemHovered() && !over_button;

  const bool chosen = state.view.chosen == head;
  const std::string title = std::string(gui.word(Str::layer)) + " " + std::to_string(head.layer + 1) + " · " +
                            gui.word(Str::head) + " " + std::to_string(head.head + 1);
  if (off) opacity *= 0.35f;
  const MapContent content{.head = head,
                           .weights = &trace.head(head).thumbnail,
                           .version = thumbnail_version(state, head),
                           .region = {.head = head, .num_queries = trace.queries(head.stack),
                                      .num_keys = trace.keys(head.stack)},
                           .values = false};
  const MapLayout layout = map_layout(content, labels, {box.x, box.y + title_height, box.w, box.h - title_height});
  list.AddText({layout.plot.x, box.y}, chosen || hovered ? gui.colours().accent : off ? gui.colours().faint : gui.colours().text,
               title.c_str());
  const auto cell = draw_map(gui, list, content, labels, layout, opacity);
  if (chosen) {
    const float y = box.y + ImGui::GetFontSize() + gui.unit;
    list.AddLine({layout.plot.x, y}, {layout.plot.x + ImGui::CalcTextSize(title.c_str()).x, y}, gui.colours().accent, gui.unit);
  }
  gui.name_box(id, layout.plot);
  if (hovered) gui.say(Hover{head, cell});
}

/// The three attentions of an encoder-decoder, in the order of the data's way.
void stack_tabs(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace || !(state.trace->has(Stack::encoder) || state.trace->has(Stack::cross))) return;
  for (const Stack stack : kStacks) {
    if (!state.trace->has(stack)) continue;
    const std::string name = std::string("stack ") + words(Language::en, stack == Stack::self ? Str::decoder
                                                          : stack == Stack::cross ? Str::cross : Str::encoder);
    if (flat_button(gui, name.c_str(), stack_word(gui, stack), state.view.chosen.stack == stack))
      gui.say(ChooseHead{{state.view.chosen.layer, state.view.chosen.head, stack}});
    explain_item(gui, stack == Stack::cross ? Str::tip_cross : Str::tip_stack);
    ImGui::SameLine(0, 0);
  }
  ImGui::NewLine();
}

void all_heads(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Stack stack = state.view.chosen.stack;
  const Region whole{.head = {.stack = stack}, .num_queries = trace.queries(stack), .num_keys = trace.keys(stack)};
  const AxisLabels labels = axis_labels(gui, whole);
  const float text = ImGui::GetFontSize(), title_height = text + 6 * gui.unit;

  // The smallest maps still have room for a label beside every cell of a short sentence; longer ones thin their labels
  // out sooner than they scroll: the large head names every cell.
  const float most_cells = static_cast<float>(std::max(whole.num_queries, whole.num_keys));
  const float least_plot = std::clamp(most_cells * std::ceil(text * kLabelPitch), 96 * gui.unit, 108 * gui.unit);
  const float least = least_plot + std::min(labels.query_metrics.widest, least_plot * 0.4f) + text * 0.3f;
  const MapContent content{.head = {}, .weights = nullptr, .version = 0, .region = whole, .values = false};
  const MapLayout trial = map_layout(content, labels, {0, 0, least, least});
  const float extra = title_height + trial.plot.y - trial.plot.x;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const GridLayout grid = layout_grid(room.x - 4 * gui.unit, room.y, trace.num_layers(stack), trace.num_heads(stack), least,
                                      460 * gui.unit, extra, 8 * gui.unit);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), window = ImGui::GetWindowPos();
  const ImVec2 origin{corner.x + 2 * gui.unit, corner.y};  // room for the first frame's line
  const float opacity = is_stale(state) ? kStaleOpacity : 1.0f;
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    for (Index head = 0; head < trace.num_heads(stack); ++head) {
      const Box place = grid.place({layer, head});
      const Box box{origin.x + place.x, origin.y + place.y, place.w, place.h};
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      one_head(gui, {layer, head, stack}, box, labels, title_height, opacity);
    }
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, grid.content_height});
}

}  // namespace

bool problem_line(Gui& gui) {
  const std::string& problem = problem_of(gui.state);
  if (problem.empty()) return false;
  const FontScope small(gui, TextSize::small);
  const std::string line = gui.state.trace ? problem + " — " + gui.word(Str::stale) : problem;
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().warning);
  ImGui::TextUnformatted(gui.fonts.shown(line).c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  return true;
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

void grid_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (nothing_asked(state)) return nothing_yet(gui);
  stack_tabs(gui);
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
