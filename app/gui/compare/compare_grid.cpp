// The difference of every head that two answers have.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "figure/heads_scene.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/compare/compare.h"
#include "gui/compare/joint_map.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "session/shown.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

constexpr const char* kOrderNames[] = {"differences by layer", "differences by largest", "differences by mean",
                                       "differences by divergence"};

void order_buttons(Gui& gui) {
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().dim, gui.word(kCompareWords.order_of_differences));
  for (std::size_t i = 0; i < std::size(kCompareWords.orders); ++i) {
    same_line_if_room(button_width(gui.word(kCompareWords.orders[i].name)), i == 0 ? 4 * gui.unit : 0);
    const auto order = static_cast<DifferenceOrder>(i);
    if (flat_button(gui, kOrderNames[i], gui.word(kCompareWords.orders[i].name), gui.state.view.differences == order))
      gui.push(OrderDifferences{order});
    explain_item(gui, kCompareWords.orders[i].tip, {Act::next_difference_order});
  }
}

/// The meaning of the maps, and the heads without one.
void headline(Gui& gui) {
  const ComparedHeads& compared = *gui.state.comparison->heads;
  const JointStack* stack = compared.stack(gui.state.view.chosen.stack);
  const bool none = stack && shares_no_cell(*stack);
  const bool same = !none && !compared.heads.empty() && compared.largest == 0;
  std::string line =
      gui.word(none                                                       ? kCompareWords.nothing_aligned
               : !same                                                    ? kCompareWords.compare_hint
               : is_of_now(gui.state) && only_unread_heads_off(gui.state) ? kCompareWords.off_in_last_layer
                                                                          : kCompareWords.no_head_differs);
  const auto& words = gui.state.comparison->words;
  if (same && std::ranges::any_of(words, [](const ComparedWord& word) { return word.a != word.b; }))
    line += std::string(gui.chinese() ? "" : " ") + gui.word(kCompareWords.only_the_guess);
  if (compared.only_a > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_a) + " " + std::to_string(compared.only_a);
  if (compared.only_b > 0)
    line += std::string("  ") + gui.word(kCompareWords.heads_only_b) + " " + std::to_string(compared.only_b);
  std::vector<std::string> sentences = folds_in_words(gui);
  sentences.insert(sentences.begin(), line);
  const FontScope small(gui, TextSize::small);
  const float room = ImGui::GetContentRegionAvail().x;
  cut_text(gui, whole_sentences(sentences, room), gui.colours().dim, room);
}

std::string value_text(const HeadDifference& head, DifferenceOrder order) {
  const auto value = order_value(head, order);
  return value ? "  " + order_number_text(*value) : std::string();
}

/// Without words beside the cells.
MapLayout bare_layout(const JointStack& stack, const Box& area) {
  const Viewport all = shown_part(stack);
  return layout_map(area, all.num_queries, all.num_keys, {}, {}, 0);
}

/// Of many heads the map alone: without room for a title its name is under the pointer.
void one_difference(Gui& gui, const HeadDifference& head, const Box& box, float title_height) {
  const AppState& state = gui.state;
  const std::string id = "difference " + head_text({head.head.layer, head.head.head});
  const JointStack& stack = *state.comparison->heads->stack(head.head.stack);
  const JointMap map{stack, head.head, head.map};
  const MapLayout layout = bare_layout(stack, {box.x, box.y + title_height, box.w, box.h - title_height});
  ImGui::SetCursorScreenPos(top_left(box));
  if (ImGui::InvisibleButton(id.c_str(), {box.w, box.h})) gui.push(ChooseHead{head.head});
  const bool hovered = ImGui::IsItemHovered(), chosen = state.view.chosen == head.head;
  const std::string value = value_text(head, state.view.differences);
  if (title_height <= 0 && hovered) explain_item(gui, head_label(head.head) + value);
  const auto cell = draw_joint_map(gui, map, layout, is_fresh(state));
  const Palette& colours = gui.colours();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (title_height > 0) {
    const auto width = [&](const std::string& text) { return shown_width(gui, text); };
    const HeadTitle title = title_within(head.head, name_of_head(gui, head.head), value, box.w, width);
    const TextWidth measure = window_measure(gui);
    const Rgb of_name = to_rgb(title.named ? colours.text : colours.dim);
    const float x = layout.plot.x, y = box.y + ImGui::GetFontSize() + gui.unit;
    Drawing scene;
    add_head_title(scene, title, {x, box.y}, gui.unit,
                   {.head = to_rgb(chosen || hovered ? colours.accent : colours.text),
                    .value = to_rgb(colours.dim),
                    .beside = of_name,
                    .below = of_name},
                   map_style(gui, measure));
    paint_scene(gui, scene, {});
    if (chosen) list.AddLine({x, y}, {x + width(title.head), y}, colours.accent, gui.unit);
  } else if (hovered || chosen) {
    list.AddRect(top_left(layout.plot), bottom_right(layout.plot), colours.accent, 0, 0, gui.unit);
  }
  gui.name_box(id, layout.plot, BoxKind::thumbnail, head.head);
  if (hovered) hover_joint_cell(gui, head.head, stack, cell);
}

constexpr float kLeastSide = 96, kMostSide = 180, kGap = 10;  // of a head's map, without words
constexpr float kLeastHigh = 80;
constexpr Index kMany = 32;  // heads: so many are shown in one picture

/// The most columns that fit and leave no hole in the last row; where that would waste more than a third, those that
/// fit.
Index columns_without_hole(Index count, Index fit) {
  if (count <= fit) return count;
  for (Index columns = fit; 3 * columns >= 2 * fit; --columns)
    if (count % columns == 0) return columns;
  return fit;
}

/// The heads side by side.
struct Tiles {
  Index columns = 1;
  float width = 0, title = 0, gap = 0;
};

/// The fewest columns with which all `count` heads are in sight; `columns` where the heads are ordered by layer. Maps
/// are as large as with fewer heads where all are in sight at that size, too.
Tiles tiles_in_sight(const JointStack& stack, Index count, std::optional<Index> columns, ImVec2 room, Tiles usual,
                     float unit) {
  constexpr float kTiny = 12, kNarrow = 3;
  const auto height = [&](const Tiles& tiles) {
    const MapLayout plot = bare_layout(stack, {0, 0, tiles.width, tiles.width});
    const Index rows = (count + tiles.columns - 1) / tiles.columns;
    return static_cast<float>(rows) * (tiles.title + plot.plot.h + tiles.gap) - tiles.gap;
  };
  if (height(usual) <= room.y) return usual;
  Tiles tiles{.columns = columns.value_or(usual.columns), .title = 0, .gap = kNarrow * unit};
  const auto widest = [&] { return std::floor((room.x + tiles.gap) / static_cast<float>(tiles.columns)) - tiles.gap; };
  tiles.width = widest();
  while (height(tiles) > room.y && tiles.width > kTiny * unit) {
    if (columns) tiles.width -= 1;
    else ++tiles.columns, tiles.width = widest();
  }
  // There is no room for a row a layer: the heads follow each other.
  if (columns && height(tiles) > room.y) return tiles_in_sight(stack, count, std::nullopt, room, usual, unit);
  return tiles;
}

void all_heads(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const ComparedHeads& compared = *state.comparison->heads;
  const Stack chosen = state.view.chosen.stack;
  const JointStack* stack = compared.stack(chosen);
  const std::vector<HeadRef> order = heads_by(compared, chosen, state.view.differences);
  if (!stack || order.empty()) return wrapped_dim(gui, gui.word(kCompareWords.no_head_in_both));
  const float title_height = ImGui::GetFontSize() + 6 * gui.unit;
  // Layer below layer, as in the view of all heads; in another order one head after the other.
  const bool by_layer = state.view.differences == DifferenceOrder::layer;
  Index in_a_layer = 1;
  for (const HeadRef& head : order) in_a_layer = std::max(in_a_layer, head.head + 1);
  const ImVec2 room = ImGui::GetContentRegionAvail(), window = ImGui::GetWindowPos();
  ImGui::SetCursorPosX(std::ceil(gui.unit));  // the first border is inside the window
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const auto count = static_cast<Index>(order.size());
  const Index fit =
      std::max<Index>(1, static_cast<Index>((room.x + kGap * gui.unit) / ((kLeastSide + kGap) * gui.unit)));
  Index columns = by_layer && in_a_layer <= fit ? in_a_layer : columns_without_hole(count, fit);
  // Never so high that not even one line of them is in sight.
  const float high = std::clamp(std::floor(room.y - title_height), kLeastHigh * gui.unit, kMostSide * gui.unit);
  Tiles tiles{columns, 0, title_height, kGap * gui.unit};
  tiles.width = std::min(std::floor((room.x + tiles.gap) / static_cast<float>(columns)) - tiles.gap, high);
  if (count > kMany)
    tiles = tiles_in_sight(*stack, count, by_layer ? std::optional(in_a_layer) : std::nullopt, room, tiles, gui.unit);
  columns = tiles.columns;
  const MapLayout plot = bare_layout(*stack, {0, 0, tiles.width, tiles.width});
  const float height = tiles.title + plot.plot.h, pitch = height + tiles.gap;
  float bottom = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const bool in_layer = by_layer && columns == in_a_layer;
    const Index row = in_layer ? order[i].layer : at / columns, column = in_layer ? order[i].head : at % columns;
    const Box box{corner.x + static_cast<float>(column) * (tiles.width + tiles.gap),
                  corner.y + static_cast<float>(row) * pitch, tiles.width, height};
    bottom = std::max(bottom, box.bottom() - corner.y);
    if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
    one_difference(gui, *compared.head(order[i]), box, tiles.title);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, bottom});
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
