// The difference of every head that two answers have.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "figure/difference_words.h"
#include "figure/grid_layout.h"
#include "gui/actions/actions.h"
#include "gui/compare/compare.h"
#include "gui/compare/joint_map.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/stacks.h"
#include "gui/frame/texture_ids.h"
#include "model/head_text.h"
#include "session/shown.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

constexpr const char* kOrderNames[] = {"differences by layer", "differences by largest", "differences by mean",
                                       "differences by divergence"};

void order_buttons(Gui& gui) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  ImGui::TextUnformatted(gui.word(kCompareWords.order_of_differences));
  ImGui::PopStyleColor();
  for (std::size_t i = 0; i < std::size(kCompareWords.orders); ++i) {
    same_line_if_room(button_width(gui.word(kCompareWords.orders[i].name)), i == 0 ? 4 * gui.unit : 0);
    const auto order = static_cast<DifferenceOrder>(i);
    if (flat_button(gui, kOrderNames[i], gui.word(kCompareWords.orders[i].name), gui.state.view.differences == order))
      gui.say(OrderDifferences{order});
    explain_item(gui, kCompareWords.orders[i].tip, {Act::next_difference_order});
  }
}

/// What the maps mean, and which heads have none.
void headline(Gui& gui) {
  const ComparedHeads& compared = *gui.state.comparison->heads;
  const JointStack* stack = compared.stack(gui.state.view.chosen.stack);
  const bool none = stack && shares_no_cell(*stack);
  std::string line = gui.word(none ? kCompareWords.nothing_aligned : kCompareWords.compare_hint);
  if (compared.only_a > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_a) + " " + std::to_string(compared.only_a);
  if (compared.only_b > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_b) + " " + std::to_string(compared.only_b);
  wrapped_dim(gui, line);
}

std::string value_text(const HeadDifference& head, DifferenceOrder order) {
  const auto value = order_value(head, order);
  if (!value) return {};
  char text[24];
  std::snprintf(text, sizeof text, *value != 0 && *value < 0.001f ? "  %.1e" : "  %.3f", static_cast<double>(*value));
  return text;
}

void one_difference(Gui& gui, const HeadDifference& head, const Box& box, const AxisLabels& labels,
                    float title_height) {
  const AppState& state = gui.state;
  const std::string id = "difference " + head_text({head.head.layer, head.head.head});
  const JointStack& stack = *state.comparison->heads->stack(head.head.stack);
  const JointMap map{
      .stack = &stack, .head = head.head, .cells = &head.map, .version = joint_version(state, head.head)};
  const MapLayout layout = joint_layout(map, labels, {box.x, box.y + title_height, box.w, box.h - title_height});
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h})) gui.say(ChooseHead{head.head});
  const bool hovered = ImGui::IsItemHovered(), chosen = state.view.chosen == head.head;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string value = value_text(head, state.view.differences);
  const std::string title = head_label(head.head);
  const float width = ImGui::CalcTextSize(title.c_str()).x;
  list.AddText({layout.plot.x, box.y}, chosen || hovered ? gui.colours().accent : gui.colours().text, title.c_str());
  list.AddText({layout.plot.x + width, box.y}, gui.colours().dim, value.c_str());
  const auto cell =
      draw_joint_map(gui, list, map, labels, layout, is_of_now(state) && !is_stale(state) ? 1.0f : kStaleOpacity);
  if (chosen) {
    const float y = box.y + ImGui::GetFontSize() + gui.unit;
    list.AddLine({layout.plot.x, y}, {layout.plot.x + width, y}, gui.colours().accent, gui.unit);
  }
  gui.name_box(id, layout.plot);
  if (hovered) hover_joint_cell(gui, head.head, stack, cell);
}

void all_heads(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const ComparedHeads& compared = *state.comparison->heads;
  const Stack chosen = state.view.chosen.stack;
  const JointStack* stack = compared.stack(chosen);
  const std::vector<HeadRef> order = heads_by(compared, chosen, state.view.differences);
  if (!stack || order.empty()) return wrapped_dim(gui, gui.word(kCompareWords.no_head_in_both));
  const AxisLabels labels = axis_labels(gui, stack->queries, stack->keys);
  const float text = ImGui::GetFontSize(), title_height = text + 6 * gui.unit;
  const float most_cells = static_cast<float>(std::max(stack->queries.size(), stack->keys.size()));
  const float least_plot = std::clamp(most_cells * std::ceil(text * kLabelPitch), 96 * gui.unit, 108 * gui.unit);
  const float least = least_plot + std::min(labels.query_metrics.widest, least_plot * 0.4f) + text * 0.3f;
  const MapLayout trial = joint_layout({.stack = stack}, labels, {0, 0, least, least});
  // Layer below layer, as in the view of all heads; in another order one head after the other.
  std::vector<HeadRef> places;  // row and column of each
  Index in_a_row = 0, rows = 1;
  for (const HeadRef& head : order) {
    const bool by_layer = state.view.differences == DifferenceOrder::layer;
    places.push_back(by_layer ? HeadRef{head.layer, head.head} : HeadRef{0, static_cast<Index>(places.size())});
    in_a_row = std::max(in_a_row, places.back().head + 1);
    rows = std::max(rows, places.back().layer + 1);
  }
  const ImVec2 room = ImGui::GetContentRegionAvail(), corner = ImGui::GetCursorScreenPos(),
               window = ImGui::GetWindowPos();
  const GridLayout grid = layout_grid(room.x - 4 * gui.unit, room.y, rows, in_a_row, least, 460 * gui.unit,
                                      title_height + trial.plot.y - trial.plot.x, 8 * gui.unit);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Box place = grid.place(places[i]);
    const Box box{corner.x + 2 * gui.unit + place.x, corner.y + place.y, place.w, place.h};
    if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
    one_difference(gui, *compared.head(order[i]), box, labels, title_height);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, grid.content_height});
}

}  // namespace

void compare_grid_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.comparison) return nothing_yet(gui);
  if (const auto& too_long = state.comparison->heads->too_long)
    return wrapped_small(gui,
                         std::string(gui.word(kCompareWords.too_long_to_compare)) + " " + std::to_string(*too_long),
                         gui.colours().warning);
  stack_tabs(gui);
  order_buttons(gui);
  headline(gui);
  ImGui::BeginChild("differences");
  all_heads(gui);
  ImGui::EndChild();
}

}  // namespace headlight
