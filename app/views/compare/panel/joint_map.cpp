#include "views/compare/panel/joint_map.h"

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "view/viewport.h"
#include "words/answer_words.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

/// The cells, and over them the rows and columns that the side lacks.
Drawing cells_and_gaps(const JointMap& map, const MapLayout& layout, const ColourScale& scale) {
  const auto of_cells = [&layout](auto count) { return static_cast<float>(count) * layout.cell; };
  const JointAxes& axes = map.stack.axes;
  const Box whole{layout.plot.x - of_cells(map.part.first_key), layout.plot.y - of_cells(map.part.first_query),
                  of_cells(axes.keys.size()), of_cells(axes.queries.size())};
  Drawing scene;
  scene.add(Cells{whole, borrowed(map.cells), scale});
  const auto lacks = [side = map.side](const JointToken& token) {
    return side == JointSide::a ? !token.a : side == JointSide::b ? !token.b : !token.in_both();
  };
  const auto add_gaps = [&](const JointAxis& axis, const auto& gap) {
    for (std::size_t i = 0, first = 0; i <= axis.size(); ++i) {
      if (i < axis.size() && lacks(axis[i])) continue;
      if (i > first)
        scene.add(Rectangle{.box = gap(of_cells(first), of_cells(i - first)), .fill = gap_colour(scale.theme)});
      first = i + 1;
    }
  };
  add_gaps(axes.queries, [&](float y, float h) { return Box{whole.x, whole.y + y, whole.w, h}; });
  add_gaps(axes.keys, [&](float x, float w) { return Box{whole.x + x, whole.y, w, whole.h}; });
  return scene;
}

std::string weight_in_words(const Gui& gui, const std::optional<float>& weight) {
  return weight ? weight_text(*weight) : std::string(gui.word(kAnswerWords.blocked));
}

std::string signed_weight(float difference) {
  if (difference == 0) return "0";
  return (difference < 0 ? "−" : "+") + weight_text(std::abs(difference));
}

/// Of a head of B and, where A has it, of A's.
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

}  // namespace

ColourScale weight_scale_of_both(const AppState& state) {
  const bool own = state.view.own_range && state.comparison && !state.comparison->heads->too_long;
  const PatternPair* maps = own ? &state.comparison->maps : nullptr;
  return {.theme = state.settings.theme,
          .scale = scale_of_colours(state),
          .top = nice_top(range_of_weights(compared_trace(state).get(), *state.trace, maps)),
          .colours = state.settings.colours};
}

ColourScale difference_scale(const AppState& state, const HeadRef& head) {
  const float largest = state.comparison ? range_of(*state.comparison->heads, head, state.view.own_range) : 0;
  return {.theme = state.settings.theme, .top = nice_range(largest), .diverging = true};
}

ImU32 ink_of_a(const Gui& gui) { return to_imgui(joint_ink(JointSide::a, gui.state.settings.theme)); }
ImU32 ink_of_b(const Gui& gui) { return to_imgui(joint_ink(JointSide::b, gui.state.settings.theme)); }

Viewport shown_part(const JointStack& stack, const Viewport& part) {
  return whole_or(part, static_cast<Index>(stack.queries.size()), static_cast<Index>(stack.keys.size()));
}

bool is_fresh(const AppState& state) { return is_of_now(state) && !is_stale(state); }

std::optional<CellRef> draw_joint_map(Gui& gui, const JointMap& map, const MapLayout& layout, bool fresh) {
  const AppState& state = gui.state;
  const JointStack& stack = map.stack;
  const bool is_difference = map.side == JointSide::difference;
  const ColourScale scale = is_difference ? difference_scale(state, map.head) : weight_scale_of_both(state);
  const Viewport part = shown_part(stack, map.part);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto version = [&](std::size_t) {
    return map.labels ? joint_version(state, static_cast<std::size_t>(map.side)) : joint_version(state, map.head);
  };
  list.PushClipRect(top_left(layout.plot), bottom_right(layout.plot), true);
  paint_scene(gui, list, cells_and_gaps(map, layout, scale),
              {.opacity = fresh ? 1.0f : kStaleOpacity, .version = version});
  list.PopClipRect();
  list.AddRect({layout.plot.x - 1, layout.plot.y - 1}, {layout.plot.right() + 1, layout.plot.bottom() + 1},
               gui.colours().line);
  const auto shown_index = [](const auto& cell, Index CellRef::*axis, Index first, Index count) {
    const Index at = cell ? (*cell).*axis - first : -1;
    return at >= 0 && at < count ? std::optional(at) : std::nullopt;
  };
  const auto row = [&](const auto& cell) {
    return shown_index(cell, &CellRef::query, part.first_query, part.num_queries);
  };
  const auto column = [&](const auto& cell) { return shown_index(cell, &CellRef::key, part.first_key, part.num_keys); };
  const auto shown = [&](const std::optional<CellRef>& cell) {
    return row(cell) && column(cell) ? std::optional(CellRef{*row(cell), *column(cell)}) : std::nullopt;
  };
  const auto lit = lit_joint_cell(state, stack), pinned = pinned_joint_cell(state, stack);
  auto [rows, columns] =
      joint_inks(stack, part, state.settings.theme, to_rgb(gui.colours().dim), to_rgb(gui.colours().faint));
  draw_marks(gui, list, map.labels ? *map.labels : AxisLabels{}, layout,
             {.rows = std::move(rows),
              .columns = std::move(columns),
              .lit_row = row(lit),
              .lit_column = column(lit),
              .pinned = shown(pinned),
              .hovered = lit == pinned ? std::nullopt : shown(lit),
              .numbers = map.labels ? &map.cells : nullptr,
              .scale = scale,
              .look = {.least = is_difference ? MapNumbers{}.least : kLeastPrinted,
                       .first = {part.first_query, part.first_key}}});
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
  const bool lets_go = pinned_joint_cell(gui.state, stack) == cell || !is_of_now(gui.state);
  gui.push(lets_go ? Pin{} : Pin{cells.b, cells.b ? std::nullopt : cells.a});
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
