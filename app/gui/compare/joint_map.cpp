#include "gui/compare/joint_map.h"

#include <algorithm>

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "session/shown.h"
#include "view/viewport.h"
#include "words/answer_words.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

/// Whether a side has no such token.
bool lacks(const JointToken& token, JointSide side) {
  return side == JointSide::a ? !token.a : side == JointSide::b ? !token.b : !token.in_both();
}

/// Of the labels of an axis from its token `first` on.
LabelInk ink_of(const Gui& gui, const JointMap& map, const JointAxis& axis, const std::vector<Token>& tokens,
                Index first) {
  const JointSide side = map.words_of_all ? JointSide::difference : map.side;
  return [&gui, side, in_both = map.stack->in_both, &axis, &tokens, first](Index label) {
    const auto i = static_cast<std::size_t>(first + label);
    const JointToken& token = axis[i];
    if (in_both && !token.in_both()) {
      if (side != JointSide::difference && lacks(token, side)) return to_rgb(gui.colours().faint);
      return to_rgb(token.a ? ink_of_a(gui) : ink_of_b(gui));
    }
    return to_rgb(tokens[i].pad ? gui.colours().faint : gui.colours().dim);
  };
}

/// Runs of tokens that a side lacks, as bands over the map.
template <class Band>
void for_each_gap(const JointAxis& axis, JointSide side, Band band) {
  for (std::size_t i = 0; i < axis.size();) {
    const std::size_t first = i;
    while (i < axis.size() && lacks(axis[i], side)) ++i;
    if (i > first) band(static_cast<float>(first), static_cast<float>(i - first));
    else ++i;
  }
}

Viewport shown_part(const JointMap& map) {
  return whole_or(map.part, static_cast<Index>(map.stack->queries.size()), static_cast<Index>(map.stack->keys.size()));
}

/// Where all of the map would stand so that its part stands in the plot.
Box whole_box(const JointMap& map, const MapLayout& layout) {
  const Viewport part = shown_part(map);
  return {layout.plot.x - static_cast<float>(part.first_key) * layout.cell,
          layout.plot.y - static_cast<float>(part.first_query) * layout.cell,
          static_cast<float>(map.stack->keys.size()) * layout.cell,
          static_cast<float>(map.stack->queries.size()) * layout.cell};
}

/// The cells, and over them the rows and columns that this side lacks.
Drawing cells_and_gaps(const Gui& gui, const JointMap& map, const MapLayout& layout, const ColourScale& scale) {
  const Box whole = whole_box(map, layout);
  Drawing scene;
  scene.add(Cells{whole, borrowed(*map.cells), scale});
  const auto fill = [&](const Box& box) {
    scene.add(Rectangle{.box = box, .fill = gap_colour(gui.state.settings.theme)});
  };
  for_each_gap(map.stack->axes.queries, map.side, [&](float first, float count) {
    fill({whole.x, whole.y + first * layout.cell, whole.w, count * layout.cell});
  });
  for_each_gap(map.stack->axes.keys, map.side, [&](float first, float count) {
    fill({whole.x + first * layout.cell, whole.y, count * layout.cell, whole.h});
  });
  return scene;
}

std::string weight_in_words(const Gui& gui, const std::optional<float>& weight) {
  return weight ? weight_text(*weight) : std::string(gui.word(kAnswerWords.blocked));
}

std::string signed_weight(float difference) {
  if (difference == 0) return "0";
  return (difference < 0 ? "−" : "+") + weight_text(std::abs(difference));
}

}  // namespace

ColourScale weight_scale_of_both(const AppState& state) {
  const auto other = compared_trace(state);
  const bool own = state.view.own_range && state.comparison && !state.comparison->heads->too_long;
  const float largest = own ? largest_weight(state.comparison->maps)
                            : std::max(state.trace->largest_weight, other ? other->largest_weight : 0.0f);
  return {.theme = state.settings.theme,
          .scale = scale_of_colours(state),
          .top = nice_top(std::min(largest, 1.0f)),
          .colours = state.settings.colours};
}

ColourScale difference_scale(const AppState& state, const HeadRef& head) {
  const float largest = state.comparison ? range_of(*state.comparison->heads, head, state.view.own_range) : 0;
  return {.theme = state.settings.theme, .top = nice_range(largest), .diverging = true};
}

ImU32 ink_of_a(const Gui& gui) { return to_imgui(diverging_map(gui.state.settings.theme).front()); }
ImU32 ink_of_b(const Gui& gui) { return to_imgui(diverging_map(gui.state.settings.theme).back()); }

MapLayout joint_layout(const JointMap& map, const AxisLabels& labels, const Box& area) {
  const Viewport part = shown_part(map);
  return layout_map(area, part.num_queries, part.num_keys, labels.queries.metrics, labels.keys.metrics,
                    ImGui::GetFontSize());
}

std::optional<CellRef> draw_joint_map(Gui& gui, ImDrawList& list, const JointMap& map, const AxisLabels& labels,
                                      const MapLayout& layout, float opacity) {
  const JointStack& stack = *map.stack;
  const ColourScale scale =
      map.side == JointSide::difference ? difference_scale(gui.state, map.head) : weight_scale_of_both(gui.state);
  const Viewport part = shown_part(map);
  list.PushClipRect(top_left(layout.plot), bottom_right(layout.plot), true);
  const auto version = [&](std::size_t) { return map.version; };
  paint_scene(gui, list, cells_and_gaps(gui, map, layout, scale), {.opacity = opacity, .version = version});
  list.PopClipRect();
  list.AddRect({layout.plot.x - 1, layout.plot.y - 1}, {layout.plot.right() + 1, layout.plot.bottom() + 1},
               gui.colours().line);
  const auto index = [](Index at, Index first, Index count) {
    return at >= first && at < first + count ? std::optional(at - first) : std::nullopt;
  };
  const auto row = [&](const auto& cell) {
    return cell ? index(cell->query, part.first_query, part.num_queries) : std::nullopt;
  };
  const auto column = [&](const auto& cell) {
    return cell ? index(cell->key, part.first_key, part.num_keys) : std::nullopt;
  };
  const auto shown = [&](const std::optional<CellRef>& cell) {
    return row(cell) && column(cell) ? std::optional(CellRef{*row(cell), *column(cell)}) : std::nullopt;
  };
  const auto lit = lit_joint_cell(gui.state, stack), pinned = pinned_joint_cell(gui.state, stack);
  MapMarks marks{.rows = ink_of(gui, map, stack.axes.queries, stack.queries, part.first_query),
                 .columns = ink_of(gui, map, stack.axes.keys, stack.keys, part.first_key),
                 .lit_row = row(lit),
                 .lit_column = column(lit),
                 .pinned = shown(pinned),
                 .hovered = lit == pinned ? std::nullopt : shown(lit)};
  const auto rows = static_cast<Index>(stack.queries.size()), columns = static_cast<Index>(stack.keys.size());
  if (map.values && map.cells->rows() == rows && map.cells->cols() == columns) marks.numbers = map.cells;
  marks.scale = scale;
  marks.look = {.least = scale.diverging ? MapNumbers{}.least : kLeastPrinted,
                .first = {part.first_query, part.first_key}};
  draw_marks(gui, list, labels, layout, std::move(marks));
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto under = cell_at(layout, part.num_queries, part.num_keys, mouse.x, mouse.y);
  return under ? std::optional(CellRef{under->query + part.first_query, under->key + part.first_key}) : std::nullopt;
}

void hover_joint_cell(Gui& gui, const HeadRef& head, const JointStack& stack, const std::optional<CellRef>& cell) {
  if (!cell || !is_of_now(gui.state)) return gui.push(Hover{head, std::nullopt});
  const CellsBehind cells = cells_behind(stack, *cell);
  gui.push(Hover{head, cells.b, cells.b ? std::nullopt : cells.a});
}

void pin_joint_cell(Gui& gui, const JointStack& stack, const CellRef& cell) {
  const CellsBehind cells = cells_behind(stack, cell);
  if (pinned_joint_cell(gui.state, stack) == cell || !is_of_now(gui.state)) return gui.push(Pin{});
  gui.push(Pin{cells.b, cells.b ? std::nullopt : cells.a});
}

std::string joint_cell_in_words(Gui& gui, const HeadRef& head, const JointStack& stack, const CellRef& cell) {
  const auto label = [&](const std::vector<Token>& tokens, Index i) {
    return gui.fonts.shown(axis_label(tokens[static_cast<std::size_t>(i)]));
  };
  std::string line = label(stack.queries, cell.query) + " " + gui.word(kAnswerWords.attends) + " " +
                     label(stack.keys, cell.key) + ": ";
  const CellsBehind cells = cells_behind(stack, cell);
  const Trace &a = *compared_trace(gui.state), &b = *gui.state.trace;
  const bool in_a = cells.a && gui.state.comparison->heads->head(head);
  std::optional<float> before, after;
  if (in_a) before = folded_weight(a, stack.a, head, *cells.a);
  if (cells.b) after = folded_weight(b, stack.b, head, *cells.b);
  if (!in_a) return line + "B " + weight_in_words(gui, after) + " (" + gui.word(kCompareWords.not_in_a) + ")";
  line += "A " + weight_in_words(gui, before);
  if (!cells.b) return line + " (" + gui.word(kCompareWords.not_in_b) + ")";
  line += " → B " + weight_in_words(gui, after);
  return before || after ? line + " (" + signed_weight(after.value_or(0) - before.value_or(0)) + ")" : line;
}

std::string lit_joint_cell_in_words(Gui& gui) {
  const AppState& state = gui.state;
  if (!is_of_now(state)) return {};
  const HeadRef head = state.view.hovered_head.value_or(state.view.chosen);
  const JointStack* stack = state.comparison->heads->stack(head.stack);
  const auto lit = stack ? lit_joint_cell(state, *stack) : std::nullopt;
  return lit ? joint_cell_in_words(gui, head, *stack, *lit) : std::string();
}

}  // namespace headlight
