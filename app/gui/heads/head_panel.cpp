#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "figure/map_kinds.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scope.h"
#include "gui/frame/texture_ids.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/heads.h"
#include "session/shown.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"
#include "words/compare_words.h"
#include "words/map_words.h"
#include "words/mask_words.h"

namespace headlight {
namespace {

/// Whether the head's own weights, where it needs them, are of the answer on the screen.
bool has_detail(const AppState& state) { return state.detail && state.detail->trace == state.trace; }

/// Weights token by token: only these can be zoomed into, and their bars dragged.
bool is_of_weights(const MapContent& content) { return !content.folded && content.kind == MapKind::weights; }

/// What the enlarged head shows now: its own weights once they are there, those of the answer before until then if they
/// have the same place (the map would jump under the pointer otherwise), else the thumbnail. Folded maps and those of
/// another kind are always shown whole.
MapContent shown_content(const AppState& state) {
  const HeadRef head = state.view.chosen;
  const Region region = shown_region(state);
  MapContent content = whole_content(state, head);
  content.values = true;
  if (content.folded) {
    content.weights = &content.folded->map(head);
    content.version = folded_version(state, head);
  }
  if (!is_of_weights(content)) return content;
  const auto& detail = state.detail;
  const bool same_head = detail && detail->region.head == head;
  const bool same_place = same_head && detail->region == region &&
                          detail->trace->queries(head.stack) == state.trace->queries(head.stack) &&
                          detail->trace->keys(head.stack) == state.trace->keys(head.stack);
  if (needs_detail(state) && same_head && (has_detail(state) || same_place)) {
    content.weights = &state.detail->weights;
    content.version = detail_version(state);
    content.region = state.detail->region;
  }
  return content;
}

/// Where the strokes go: the mask of the chosen head's stack, in one layer where the controls act on one.
PaintCell painted(const AppState& state, CellRef cell, bool allowed) {
  return {cell, allowed, state.view.chosen.stack, scoped_layer(state)};
}

void paint_line(Gui& gui, CellRef from, CellRef to, bool allowed) {
  const Index steps = std::max<Index>({1, std::abs(to.query - from.query), std::abs(to.key - from.key)});
  for (Index i = 0; i <= steps; ++i)
    gui.say(painted(gui.state,
                    {from.query + (to.query - from.query) * i / steps, from.key + (to.key - from.key) * i / steps},
                    allowed));
}

/// A stroke sets every cell it crosses to the opposite of what its first cell was.
void paint(Gui& gui, const MapContent& content, const MapLayout& layout, const std::optional<CellRef>& cell) {
  const AppState& state = gui.state;
  if (content.folded) {
    // An answer with folded tokens came in the middle of a stroke, which can only end.
  } else if (ImGui::IsItemActivated() && cell) {
    const bool allowed = !mask_of_chosen(state).allowed(cell->query, cell->key);
    gui.say(SetStroke{allowed});
    gui.say(painted(state, *cell, allowed));
  } else if (ImGui::IsItemActive() && state.view.stroke && cell) {
    const ImGuiIO& io = ImGui::GetIO();
    auto before = cell_at(layout, content.region.num_queries, content.region.num_keys, io.MousePos.x - io.MouseDelta.x,
                          io.MousePos.y - io.MouseDelta.y);
    if (before) before = CellRef{before->query + content.region.first_query, before->key + content.region.first_key};
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)
      paint_line(gui, before.value_or(*cell), *cell, *state.view.stroke);
  }
  if (ImGui::IsItemDeactivated() && state.view.stroke) {
    gui.say(SetStroke{});
    gui.say(EndGesture{});
  }
}

/// Of the pinned row, a bar can be dragged: its weight is then set by hand. True while one is.
bool drag_bar(Gui& gui, const MapContent& content, const Box& box, Index query) {
  const AppState& state = gui.state;
  const bool fits = is_of_weights(content) && content.region.num_keys <= box.w;
  if (!fits || !state.view.pinned || state.view.pinned->query != query) return false;
  ImGui::SetCursorScreenPos(top_left(box));
  ImGui::InvisibleButton("row bars", {box.w, box.h});
  explain_item(gui, kChosenHeadWords.tip_bars);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActive()) {
    const float place = std::clamp((mouse.x - box.x) / box.w, 0.0f, 0.999f);
    const Index key =
        content.region.first_key + static_cast<Index>(place * static_cast<float>(content.region.num_keys));
    const float weight = std::clamp((box.bottom() - mouse.y) / box.h, 0.0f, 1.0f);
    gui.say(SetWeight{content.head, {query, key}, weight});
  }
  if (ImGui::IsItemDeactivated()) gui.say(EndGesture{});
  return ImGui::IsItemActive();
}

/// A query's weights to every key, or to every group of them.
Matrix row_of(const AppState& state, const MapContent& content, Index query) {
  if (is_of_weights(content)) return attention_rows(*state.trace, content.head, query, 1);
  return content.weights->row(*map_row(content, query)).cwiseMax(0.0f);
}

std::string row_label(Gui& gui, const MapContent& content, Index query) {
  if (!content.folded) return query_label(gui, query, content.head.stack);
  const auto group = static_cast<std::size_t>(*map_row(content, query));
  return gui.fonts.shown(axis_label(content.folded->fold.queries.tokens[group]));
}

/// The row of the lit cell as bars that stand under their columns.
void row_bars(Gui& gui, const MapContent& content, const MapLayout& layout, const Box& area, const CellRef& lit) {
  const AppState& state = gui.state;
  const Matrix row = row_of(state, content, lit.query);
  const auto lit_column = map_column(content, lit.key);
  double sum = 0;
  for (Index j = 0; j < row.cols(); ++j) sum += static_cast<double>(row(0, j));

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  char head[128];
  std::snprintf(head, sizeof head, content.kind == MapKind::norms ? "%s = %.4f" : "%s = %.6f",
                gui.word(kAnswerWords.sum), sum);
  const std::string label = row_label(gui, content, lit.query);
  list.AddText({layout.plot.x, area.y}, gui.colours().accent, label.c_str());
  const float row_of_x = layout.plot.x + ImGui::CalcTextSize(label.c_str()).x + 6 * gui.unit;
  const char* looks = row_words(gui, content.kind);
  list.AddText({row_of_x, area.y}, gui.colours().dim, looks);
  const float sum_x = std::max(layout.plot.x, layout.plot.right() - ImGui::CalcTextSize(head).x);
  const bool beside = row_of_x + ImGui::CalcTextSize(looks).x + 8 * gui.unit <= sum_x;
  list.AddText({sum_x, area.y + (beside ? 0 : text)}, gui.colours().dim, head);

  const float top = area.y + text * 2.2f, bottom = area.bottom() - gui.unit;
  const Box bars_box{layout.plot.x, top, layout.plot.w, bottom - top};
  const bool dragging = drag_bar(gui, content, bars_box, lit.query);
  // The bars' own scale: from 0 to a round number above the row's largest weight, printed at their top. A bar that is
  // dragged moves over all of 0 … 1.
  const float top_of_row = content.kind == MapKind::norms ? nice_range(row.maxCoeff()) : nice_top(row.maxCoeff());
  const float most = dragging ? 1.0f : top_of_row;
  const std::string most_text = cell_number(most);
  list.AddLine({layout.plot.x, top}, {layout.plot.right(), top}, gui.colours().line, gui.unit);
  list.AddText(
      {std::round(layout.plot.x - ImGui::CalcTextSize(most_text.c_str()).x - 4 * gui.unit), std::round(top - text / 2)},
      gui.colours().dim, most_text.c_str());
  const Index first = content.region.first_key, count = content.region.num_keys;
  const Index bars = std::min<Index>(count, std::max<Index>(1, static_cast<Index>(layout.plot.w)));
  const float width = layout.plot.w / static_cast<float>(bars);
  const float inset = width > 8 ? std::round(width * 0.12f) : 0;
  for (Index b = 0; b < bars; ++b) {
    const Index begin = b * count / bars, end = (b + 1) * count / bars;
    const float weight = row.row(0).segment(first + begin, end - begin).maxCoeff();
    const float height = (bottom - top) * std::min(1.0f, weight / most);
    const float x = layout.plot.x + static_cast<float>(b) * width;
    const bool is_lit = lit_column && *lit_column >= begin && *lit_column < end;
    list.AddRectFilled(
        {x + inset, bottom - height}, {x + width - inset, bottom},
        is_lit ? gui.colours().accent : to_imgui(colour_map(state.settings.theme, state.settings.colours)[150]));
  }
  list.AddLine({layout.plot.x, bottom}, {layout.plot.right(), bottom}, gui.colours().line, gui.unit);
  gui.name_box("row bars", bars_box);
}

void title(Gui& gui) {
  const AppState& state = gui.state;
  {
    const FontScope large(gui, TextSize::title);
    ImGui::TextUnformatted(map_title(gui, state.view.chosen).c_str());
  }
  const MapKind kind = shown_kind(state, state.view.chosen.stack);
  if (kind == MapKind::rollout) return;  // of no head
  explain_item(gui, kChosenHeadWords.tip_label);
  const bool off = is_off(state.document.edits, state.view.chosen);
  ImGui::SameLine(0, 10 * gui.unit);
  if (flat_button(gui, "switch head", gui.word(off ? kChosenHeadWords.head_is_off : kChosenHeadWords.head_is_on), off))
    gui.say_once(SwitchHead{state.view.chosen, !off});
  explain_item(gui, kChosenHeadWords.tip_on_off);
  same_line_if_room(button_width(gui.word(kCompareWords.keep_as_a)), 0);
  keep_button(gui);
  const Viewport& part = state.view.viewport;
  if (part.num_queries > 0 && kind == MapKind::weights && !shown_fold(state, state.view.chosen.stack))
    if (part_line(gui, part)) gui.say(SetViewport{});
}

/// What the lit cell is, in words and digits.
void cell_line(Gui& gui, const std::optional<CellRef>& lit) {
  if (!lit) {
    const bool paints = gui.state.view.painting && !shown_fold(gui.state, gui.state.view.chosen.stack);
    dim_text(gui, gui.word(paints ? kMaskWords.paint_hint : kChosenHeadWords.pinned_hint));
    return;
  }
  ImGui::TextUnformatted(cell_in_words(gui, gui.state.view.chosen, *lit).c_str());
}

/// What can be done with the pinned cell: ask why it is what it is, and set it by hand.
void pinned_cell(Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const MapKind kind = shown_kind(state, head.stack);
  if (kind == MapKind::rollout) return;  // its cells are of no head
  if (!state.view.pinned) {
    ImGui::Dummy({0, ImGui::GetFrameHeight()});  // the map does not move when a cell is pinned
    return;
  }
  const CellRef cell = *state.view.pinned;
  if (flat_button(gui, "why", gui.word(kChosenHeadWords.why))) {
    gui.say(ShowView{View::inside});
    gui.say(ShowSteps{true});
    gui.say(LookAt{{matrix_id(Quantity::weights, head), MatrixCell{cell.query, cell.key}}});
  }
  const bool folded = shown_fold(state, head.stack) != nullptr;
  explain_item(gui, std::string(kind != MapKind::weights
                                    ? gui.word(kMapWords.tip_why_other)
                                    : gui.word(folded ? kChosenHeadWords.tip_why_folded : kChosenHeadWords.tip_why)));
  ImGui::SameLine(0, 8 * gui.unit);
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  ImGui::TextUnformatted(kind != MapKind::weights
                             ? gui.word(kMapWords.weight_by_hand)
                             : gui.word(folded ? kAnswerWords.not_while_folded : kMaskWords.set_by_hand));
  ImGui::PopStyleColor();
  if (folded) return explain_item(gui, kAnswerWords.tip_not_while_folded, {Act::fold_special, Act::merge_words});
  ImGui::SameLine(0, 6 * gui.unit);
  const WeightEdit* edit = edited_weight(state.document.edits, head, cell);
  float weight = edit ? edit->weight : attention_rows(*state.trace, head, cell.query, 1)(0, cell.key);
  const float top = ImGui::GetCursorPosY();
  // The room for × is kept free: a slider that grew narrower under the pointer would jump.
  const float room = ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight() - 8 * gui.unit;
  ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  if (slider(gui, "weight by hand", weight, 0.0f, 1.0f, kMaskWords.tip_weight, std::max(60 * gui.unit, room)))
    gui.say(SetWeight{head, cell, std::clamp(weight, 0.0f, 1.0f)});
  if (!edit) return;
  ImGui::SameLine(0, 4 * gui.unit);
  ImGui::SetCursorPosY(top);
  if (flat_button(gui, "weight as computed", "×")) gui.say_once(SetWeight{head, cell, std::nullopt});
  explain_item(gui, kMaskWords.tip_weight);
}

/// Whether the two are drawn as one cell.
bool same_cell(const MapContent& content, const std::optional<CellRef>& a, const CellRef& b) {
  if (!a || !content.folded) return a == b;
  return content.folded->fold.queries.together(a->query, b.query) && content.folded->fold.keys.together(a->key, b.key);
}

}  // namespace

void head_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace || nothing_asked(state)) return;
  title(gui);
  if (shown_kind(state, state.view.chosen.stack) != MapKind::rollout) measured_line(gui, gui.state.view.chosen);
  const auto lit = state.view.hovered ? state.view.hovered : state.view.pinned;
  cell_line(gui, lit);
  pinned_cell(gui);

  const FontScope small(gui, TextSize::small);
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  // Where there is little room the map has it.
  const bool has_bars = room.y > 220 * gui.unit;
  const float bars_height = has_bars ? std::clamp(room.y * 0.22f, 84 * gui.unit, 150 * gui.unit) : 0;
  const MapContent content = shown_content(state);
  const AxisLabels labels = axis_labels(gui, content);
  const MapLayout layout =
      map_layout(content, labels, {origin.x, origin.y, room.x, room.y - bars_height - 8 * gui.unit});

  ImGui::SetCursorScreenPos(top_left(layout.plot));
  ImGui::InvisibleButton("large map", {layout.plot.w, layout.plot.h});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive(), clicked = ImGui::IsItemActivated();
  const bool painting = state.view.stroke || (!content.folded && (state.view.painting || ImGui::GetIO().KeyShift));
  gui.name_box("large map", layout.plot);
  const auto cell = draw_map(
      gui, *ImGui::GetWindowDrawList(), content, labels, layout,
      is_stale(state) || (!content.folded && needs_detail(state) && !has_detail(state)) ? kStaleOpacity : 1.0f);
  if (hovered || active) gui.say(Hover{state.view.chosen, cell});
  if (painting) paint(gui, content, layout, cell);
  else if (clicked && cell) gui.say(Pin{same_cell(content, state.view.pinned, *cell) ? std::nullopt : cell});
  const Stack stack = state.view.chosen.stack;
  if (hovered && is_of_weights(content))
    if (const auto part =
            turned(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), layout.cell, cell))
      gui.say(SetViewport{*part});

  if (lit && has_bars && (!content.folded || map_row(content, lit->query)))
    row_bars(gui, content, layout, {origin.x, layout.plot.bottom() + 8 * gui.unit, room.x, bars_height}, *lit);
}

}  // namespace headlight
