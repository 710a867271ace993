// The chosen head in two answers: A, B and B − A on the joint axes of both sentences, and the next word in both.
#include <algorithm>
#include <cmath>

#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

/// That of the compared head; null where there is none.
const JointStack* shown_stack(const AppState& state) {
  if (!state.comparison || state.comparison->heads->too_long) return nullptr;
  return state.comparison->heads->stack(state.comparison->chosen.stack);
}

void title(Gui& gui) {
  const AppState& state = gui.state;
  {
    const FontScope large(gui, TextSize::title);
    ImGui::TextUnformatted(head_words(gui, state.view.chosen).c_str());
  }
  const HeadDifference* head = state.comparison->heads->head(state.view.chosen);
  if (!head) return;
  std::string line;
  for (const DifferenceOrder order : {DifferenceOrder::largest, DifferenceOrder::mean, DifferenceOrder::divergence}) {
    const auto value = order_value(*head, order);
    if (!value) continue;
    line.append(line.empty() ? "" : "   ").append(gui.word(kCompareWords.orders[static_cast<std::size_t>(order)].name));
    line += " " + order_number_text(*value);
  }
  ImGui::SameLine(0, 12 * gui.unit);
  ImGui::AlignTextToFramePadding();
  dim_text(gui, line);
  gui.name_item("difference of chosen", BoxKind::label);
}

/// One of the three.
void one_map(Gui& gui, const ComparedMap& shown, const JointMap& map) {
  const AppState& state = gui.state;
  const MapLayout& layout = shown.layout;
  ImGui::SetCursorScreenPos(top_left(layout.plot));
  const bool clicked = ImGui::InvisibleButton(shown.name, {layout.plot.w, layout.plot.h});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(shown.name, layout.plot, BoxKind::map, state.view.chosen);
  const bool fresh = is_fresh(state) && map.head == state.view.chosen;
  const auto cell = draw_joint_map(gui, map, layout, fresh);
  if (shown.side == JointSide::difference && fresh) {
    const TextWidth measure = window_measure(gui);
    Drawing remark;
    add_nothing_differs(remark, map.cells, layout.plot, state.settings.language, map_style(gui, measure));
    paint_scene(gui, remark, {});
  }
  if (hovered) hover_joint_cell(gui, state.view.chosen, map.stack, cell);
  if (clicked && cell) pin_joint_cell(gui, map.stack, *cell);
  if (!hovered) return;
  const Viewport all = shown_part(map.stack);
  if (const auto part = turned(state.view.compared, all.num_queries, all.num_keys, layout.cell, cell))
    gui.push(SetComparedPart{*part});
}

std::string percent_or_none(const Gui& gui, const std::optional<float>& probability) {
  return probability ? percent(*probability) : gui.word(kCompareWords.unknown_word);
}

/// The most probable words of both: A's share above B's, as bars and in digits.
void next_words(Gui& gui, const Box& box) {
  const AppState& state = gui.state;
  const auto& words = state.comparison->words;
  if (words.empty()) return;
  const bool masked = state.trace->model->config.arch == Arch::encoder;
  const auto& hidden = state.comparison->hidden;
  const std::string heading =
      hidden && *hidden < state.trace->queries()
          ? filled(gui.word(kCompareWords.hidden_word_of_both), {query_label(gui, *hidden, Stack::self)})
          : gui.word(classifies(*state.trace->model) ? kCompareWords.class_of_both
                     : masked                        ? kCompareWords.masked_word_of_both
                                                     : kCompareWords.next_word_of_both);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize(), row = text + 10 * gui.unit;
  list.AddText({box.x, box.y}, gui.colours().dim, heading.c_str());
  float number = 0;
  for (const ComparedWord& word : words)
    for (const auto& probability : {word.a, word.b})
      number = std::max(number, ImGui::CalcTextSize(percent_or_none(gui, probability).c_str()).x + 10 * gui.unit);
  const float end_b = box.right(), end_a = end_b - number;
  const auto right_aligned = [&](float end, float y, ImU32 ink, const std::string& shown) {
    list.AddText({std::round(end - ImGui::CalcTextSize(shown.c_str()).x), y}, ink, shown.c_str());
  };
  right_aligned(end_a, box.y, ink_of_a(gui), "A");
  right_aligned(end_b, box.y, ink_of_b(gui), "B");
  float y = box.y + row;
  for (const ComparedWord& word : words) {
    if (y + row > box.bottom()) break;
    list.PushClipRect({box.x, y}, {end_a - number, y + row}, true);
    list.AddText({box.x, y}, gui.colours().text, gui.fonts.shown(axis_label({.text = word.text, .raw = {}})).c_str());
    list.PopClipRect();
    right_aligned(end_a, y, gui.colours().dim, percent_or_none(gui, word.a));
    right_aligned(end_b, y, gui.colours().dim, percent_or_none(gui, word.b));
    const auto bar = [&](float top, const std::optional<float>& probability, ImU32 ink) {
      list.AddRectFilled({box.x, top},
                         {box.x + box.w * std::clamp(probability.value_or(0), 0.0f, 1.0f), top + 2 * gui.unit}, ink);
    };
    bar(y + text + 2 * gui.unit, word.a, ink_of_a(gui));
    bar(y + text + 5 * gui.unit, word.b, ink_of_b(gui));
    gui.name_box("compared word " + word.text, {box.x, y, box.w, row});
    y += row;
  }
}

}  // namespace

void compare_maps_panel(Gui& gui) {
  const AppState& state = gui.state;
  const JointStack* stack = shown_stack(state);
  if (!stack) return;
  title(gui);
  if (state.view.compared != Viewport{}) {
    same_line_if_room(part_line_width(gui, state.view.compared), 12 * gui.unit);
    if (part_line(gui, state.view.compared)) gui.push(SetComparedPart{});
  }
  const std::string words = lit_joint_cell_in_words(gui);
  if (words.empty()) dim_text(gui, gui.word(kCompareWords.point_for_both));
  else ImGui::TextUnformatted(words.c_str());
  gui.name_item("compared cell", BoxKind::label);
  const FontScope small(gui, TextSize::small);
  if (compare_pictures(gui, *stack) || compare_changes(gui, *stack)) return;
  const TextWidth measure = window_measure(gui);
  const MapStyle style = map_style(gui, measure);
  const Viewport part = shown_part(*stack, state.view.compared);
  const AxisLabels labels = axis_labels(gui, stack->queries, stack->keys, part);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ComparisonLayout maps =
      comparison_layout({at.x, at.y, room.x, room.y}, part.num_queries, part.num_keys, labels.queries.metrics,
                        labels.keys.metrics, {.title = style.em, .line = style.line});
  const HeadRef head = state.comparison->chosen;
  Drawing titles;
  add_titles(titles, maps, style.em, state.settings.theme, measure);
  if (!state.comparison->heads->head(head))
    titles.add(text_of({maps[0].at.x + 2 * style.em, maps[0].at.y}, gui.word(kCompareWords.no_such_head_in_a), style.em,
                       style.ink.dim, measure));
  paint_scene(gui, titles, {});
  for (const ComparedMap& map : maps)
    one_map(gui, map, {*stack, head, state.comparison->maps.*map.cells, map.side, part, &labels});
}

void compare_words_panel(Gui& gui) {
  const JointStack* stack = shown_stack(gui.state);
  if (!stack) return;
  const FontScope small(gui, TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  Box box{at.x, at.y, room.x, room.y};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto below = [&](float height) { box.y += height, box.h -= height; };
  const bool has_maps = !gui.state.view.patch.on;
  if (has_maps) {
    list.AddText({box.x, box.y}, gui.colours().dim, gui.word(kCompareWords.weights_of_both));
    below(ImGui::GetFontSize() + 4 * gui.unit);
    paint_ramp(gui, list,
               {{box.x, box.y, std::min(box.w, 200 * gui.unit), 8 * gui.unit}, weight_scale_of_both(gui.state)});
    below(ImGui::GetFontSize() + 16 * gui.unit);
  }
  if (has_maps && has_words_of_one(*stack)) {
    const char* words = gui.word(kCompareWords.only_one_has);
    list.AddText(nullptr, 0, {box.x, box.y}, gui.colours().dim, words, nullptr, box.w);
    below(ImGui::CalcTextSize(words, nullptr, false, box.w).y + 12 * gui.unit);
  }
  next_words(gui, box);
}

}  // namespace headlight
