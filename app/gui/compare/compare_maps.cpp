// The chosen head in two answers: A, B and B − A on the joint axes of both sentences, and the next word in both.
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "gui/actions/buttons.h"
#include "gui/compare/compare.h"
#include "gui/compare/joint_map.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

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
    line += (line.empty() ? "" : "   ") +
            formatted("%s %.3f", gui.word(kCompareWords.orders[static_cast<std::size_t>(order)].name),
                      static_cast<double>(*value));
  }
  ImGui::SameLine(0, 12 * gui.unit);
  ImGui::AlignTextToFramePadding();
  dim_text(gui, line);
  gui.name_item("difference of chosen", BoxKind::label);
}

/// The lit cell in both answers, in words and digits.
void cell_line(Gui& gui) {
  const std::string words = lit_joint_cell_in_words(gui);
  if (words.empty()) dim_text(gui, gui.word(kCompareWords.point_for_both));
  else ImGui::TextUnformatted(words.c_str());
  gui.name_item("compared cell", BoxKind::label);
}

struct SideWords {
  JointSide side;
  const char* title;
  const char* name;
};
constexpr SideWords kSides[] = {
    {JointSide::a, "A", "map A"}, {JointSide::b, "B", "map B"}, {JointSide::difference, "B − A", "map difference"}};

const Matrix& cells_of(const PatternPair& maps, JointSide side) {
  return side == JointSide::a ? maps.a : side == JointSide::b ? maps.b : maps.difference;
}

/// One of the three, its title above it.
void one_map(Gui& gui, const SideWords& side, const JointStack& stack, const AxisLabels& labels, const Box& box,
             float columns) {
  const AppState& state = gui.state;
  const JointMap map{.stack = &stack,
                     .head = state.comparison->chosen,
                     .side = side.side,
                     .cells = &cells_of(state.comparison->maps, side.side),
                     .version = joint_version(state, static_cast<std::size_t>(side.side)),
                     .values = true,
                     .part = state.view.compared,
                     .words_of_all = true};
  const float title_height = ImGui::GetFontSize() + 4 * gui.unit;
  MapLayout layout = joint_layout(map, labels, {box.x, box.y + title_height, box.w, box.h - title_height});
  layout.plot.y = box.y + title_height + columns;  // level with A's map, which alone has row labels
  const ImU32 ink = side.side == JointSide::a   ? ink_of_a(gui)
                    : side.side == JointSide::b ? ink_of_b(gui)
                                                : gui.colours().text;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText({layout.plot.x, box.y}, ink, side.title);
  if (side.side == JointSide::a && !state.comparison->heads->head(state.comparison->chosen))
    list.AddText({layout.plot.x + 2 * ImGui::GetFontSize(), box.y}, gui.colours().dim,
                 gui.word(kCompareWords.no_such_head_in_a));
  ImGui::SetCursorScreenPos(top_left(layout.plot));
  const bool clicked = ImGui::InvisibleButton(side.name, {layout.plot.w, layout.plot.h});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(side.name, layout.plot, BoxKind::map, state.view.chosen);
  const bool fresh = is_of_now(state) && !is_stale(state) && state.comparison->chosen == state.view.chosen;
  const auto cell = draw_joint_map(gui, list, map, labels, layout, fresh ? 1.0f : kStaleOpacity);
  // A blank map could be one that is not drawn yet.
  if (side.side == JointSide::difference && fresh && map.cells->size() > 0 && (map.cells->array() == 0).all()) {
    const char* words = gui.word(kCompareWords.nothing_differs);
    const ImVec2 size = ImGui::CalcTextSize(words, nullptr, false, layout.plot.w);
    list.AddText(nullptr, 0,
                 {std::round(layout.plot.x + (layout.plot.w - size.x) / 2),
                  std::round(layout.plot.y + (layout.plot.h - size.y) / 2)},
                 gui.colours().dim, words, nullptr, layout.plot.w);
  }
  if (hovered) hover_joint_cell(gui, state.view.chosen, stack, cell);
  if (clicked && cell) pin_joint_cell(gui, stack, *cell);
  if (!hovered) return;
  const auto queries = static_cast<Index>(stack.queries.size()), keys = static_cast<Index>(stack.keys.size());
  if (const auto part = turned(state.view.compared, queries, keys, layout.cell, cell)) gui.push(SetComparedPart{*part});
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
          : gui.word(masked ? kCompareWords.masked_word_of_both : kCompareWords.next_word_of_both);
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

/// The scale that A and B share, and the way it goes.
float weight_legend(Gui& gui, const Box& box) {
  const float text = ImGui::GetFontSize(), width = std::min(box.w, 200 * gui.unit);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddText({box.x, box.y}, gui.colours().dim, gui.word(kCompareWords.weights_of_both));
  paint_ramp(gui, list, {{box.x, box.y + text + 4 * gui.unit, width, 8 * gui.unit}, weight_scale_of_both(gui.state)});
  return 2 * text + 20 * gui.unit;
}

/// The column beside the heads: the scale, the meaning of the words' colours, and the next word.
void beside_maps(Gui& gui, const JointStack& stack, Box box) {
  const float legend = weight_legend(gui, box);
  box.y += legend;
  box.h -= legend;
  const auto alone = [](const JointToken& token) { return !token.in_both(); };
  const auto any_alone = [&](const JointAxis& axis) { return std::ranges::any_of(axis, alone); };
  if (stack.in_both && (any_alone(stack.axes.queries) || any_alone(stack.axes.keys))) {
    const float height = ImGui::CalcTextSize(gui.word(kCompareWords.only_one_has), nullptr, false, box.w).y;
    ImGui::GetWindowDrawList()->AddText(nullptr, 0, {box.x, box.y}, gui.colours().dim,
                                        gui.word(kCompareWords.only_one_has), nullptr, box.w);
    box.y += height + 12 * gui.unit;
    box.h -= height + 12 * gui.unit;
  }
  next_words(gui, box);
}

}  // namespace

void compare_maps_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.comparison || state.comparison->heads->too_long) return;
  title(gui);
  if (state.view.compared != Viewport{}) {
    same_line_if_room(part_line_width(gui, state.view.compared), 12 * gui.unit);
    if (part_line(gui, state.view.compared)) gui.push(SetComparedPart{});
  }
  cell_line(gui);
  const JointStack* stack = state.comparison->heads->stack(state.comparison->chosen.stack);
  if (!stack) return;
  const FontScope small(gui, TextSize::small);
  const AxisLabels labels = axis_labels(gui, stack->queries, stack->keys, state.view.compared);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gap = 16 * gui.unit;
  AxisLabels columns = labels;  // of the second and the third map: only the first map has row labels
  columns.queries = {};
  const JointMap all{.stack = stack, .part = state.view.compared};
  // The row labels of the first map take width from its cells.
  float words = 0, width = 0;
  MapLayout first;
  for (int i = 0; i < 2; ++i) {
    width = std::floor((room.x - words - 2 * gap) / 3);
    first = joint_layout(all, labels, {0, 0, words + width, room.y});
    words = first.plot.x;
  }
  const float pitch = std::min(width, first.plot.w) + gap;  // where they are low they stand close together
  for (std::size_t i = 0; i < std::size(kSides); ++i) {
    const float x = at.x + (i == 0 ? 0 : words) + static_cast<float>(i) * pitch;
    one_map(gui, kSides[i], *stack, i == 0 ? labels : columns, {x, at.y, i == 0 ? words + width : width, room.y},
            first.plot.y);
  }
}

void compare_words_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.comparison || state.comparison->heads->too_long) return;
  const JointStack* stack = state.comparison->heads->stack(state.comparison->chosen.stack);
  if (!stack) return;
  const FontScope small(gui, TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  beside_maps(gui, *stack, {at.x, at.y, room.x, room.y});
}

}  // namespace headlight
