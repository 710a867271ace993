#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "gui/frame/draw.h"
#include "views/heads/panel/derived_maps.h"
#include "views/heads/panel/stage_parts.h"
#include "words/answer_words.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

/// The key whose bar is at x.
Index key_at(const MapContent& content, const Box& box, float x) {
  const float share = std::clamp((x - box.x) / box.w, 0.0f, 0.999f);
  const auto column = static_cast<Index>(share * static_cast<float>(content.region.num_keys));
  return cell_of(content, {0, column}).key;
}

/// A click pins the bar's key. A drag from a bar sets its weight, a double click lets it be typed.
CellAsk press_bars(Gui& gui, const MapContent& content, const Box& box, Index query) {
  const AppState& state = gui.state;
  CellAsk asked = CellAsk::none;
  if (!state.view.pinned || state.view.pinned->query != query || is_of_layers(content.kind)) return asked;
  const bool sets = shows_tokens(content) && content.region.num_keys <= box.w;
  ImGui::SetCursorScreenPos(top_left(box));
  ImGui::InvisibleButton("row bars", {box.w, box.h});
  explain_item(gui, sets ? kChosenHeadWords.tip_bars : kChosenHeadWords.tip_bars_click);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const ImVec2 mouse = ImGui::GetIO().MousePos, from = ImGui::GetIO().MouseClickedPos[0];
  if (sets && active && ImGui::IsMouseDragging(0)) {
    const float weight = std::clamp((box.bottom() - mouse.y) / box.h, 0.0f, 1.0f);
    gui.push(SetWeight{content.head, {query, key_at(content, box, from.x)}, weight});
  }
  if (ImGui::IsItemDeactivated()) {
    if (was_clicked_in_place(0)) gui.push(Pin{CellRef{query, key_at(content, box, from.x)}});
    else gui.push(EndGesture{});
  }
  if (hovered && sets && ImGui::IsMouseDoubleClicked(0)) asked = CellAsk::weight;
  if (hovered && was_clicked_in_place(1)) {
    gui.push(Pin{CellRef{query, key_at(content, box, mouse.x)}});
    asked = CellAsk::menu;
  }
  return asked;
}

/// A query's weights to every key, or to every group of them.
Matrix row_of(const AppState& state, const MapContent& content, Index query) {
  if (!content.folded && content.kind == MapKind::weights) return attention_rows(*state.trace, content.head, query, 1);
  return content.weights->row(*map_row(content, query)).cwiseMax(0.0f);
}

std::string row_label(Gui& gui, const MapContent& content, Index query) {
  return content.folded ? group_label(gui, content.folded->fold.queries, *map_row(content, query))
                        : query_label(gui, query, content.head.stack);
}

/// `it looks at`, and at the right end, where there is room, what the row sums to.
void bars_title(Gui& gui, const MapContent& content, const Box& plot, float y, Index query, const Matrix& row) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string label = row_label(gui, content, query);
  list.AddText({plot.x, y}, gui.colours().accent, label.c_str());
  const float x = plot.x + ImGui::CalcTextSize(label.c_str()).x + 6 * gui.unit;
  const char* looks = row_words(gui, content.kind);
  list.AddText({x, y}, gui.colours().dim, looks);
  const HeadRef& head = content.head;
  const bool has_sink = gui.state.trace->attention(head.stack, head.layer).sinks.size() > 0;
  std::string sum = formatted(content.kind == MapKind::norms ? "%s = %.4f" : "%s = %.6g",
                              gui.word(has_sink ? kAnswerWords.sum_beside_sink : kAnswerWords.sum),
                              row.array().isFinite().select(row, 0.0f).cast<double>().sum());
  if (content.folded && content.folded->fold.done.special)
    sum = filled(gui.word(kAnswerWords.rests), {percent(std::max(0.0f, 1 - row.sum()))});
  const float sum_x = plot.right() - ImGui::CalcTextSize(sum.c_str()).x;
  if (x + ImGui::CalcTextSize(looks).x + 8 * gui.unit <= sum_x)
    list.AddText({sum_x, y}, gui.colours().dim, sum.c_str());
}

}  // namespace

CellAsk draw_row_bars(Gui& gui, const Box& slot, const StageMap& map) {
  const AppState& state = gui.state;
  const MapContent& content = map.content;
  const Box& plot = map.layout.plot;
  const auto lit = state.view.hovered ? state.view.hovered : state.view.pinned;
  if (slot.h <= 0 || !lit || (content.folded && !map_row(content, lit->query))) return CellAsk::none;
  const SlotScope scope("stage bars", slot);
  const FontScope small(gui, TextSize::small);
  const Matrix row = row_of(state, content, lit->query);
  const auto lit_column = map_column(content, lit->key);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  bars_title(gui, content, plot, slot.y, lit->query, row);

  const float top = slot.y + text + 6 * gui.unit, bottom = slot.bottom() - 2 * gui.unit;
  const Box bars_box{plot.x, top, plot.w, bottom - top};
  const bool is_signed = state.trace->is_signed;  // numbers that are no weights are not set by hand
  const CellAsk asked = is_signed ? CellAsk::none : press_bars(gui, content, bars_box, lit->query);
  // Weights stand on an axis to 1: a row of small ones is no finding.
  const bool above_1 = content.kind == MapKind::norms || content.kind == MapKind::sum;
  const auto size_of = [&](float number) {
    return !std::isfinite(number) ? 0.0f : is_signed ? std::abs(number) : number;
  };
  const float most = above_1 || is_signed ? nice_range(row.unaryExpr(size_of).maxCoeff()) : 1.0f;
  const std::string most_text = most < 0.01f ? tick_number(most) : cell_number(most);
  list.AddLine({plot.x, top}, {plot.right(), top}, gui.colours().line, gui.unit);
  const float most_x = plot.x - ImGui::CalcTextSize(most_text.c_str()).x - 4 * gui.unit;
  list.AddText({std::round(std::max(most_x, slot.x)), std::round(top - text / 2)}, gui.colours().dim,
               most_text.c_str());
  const Index first = content.region.first_key, count = content.region.num_keys;
  const Index bars = std::min<Index>(count, std::max<Index>(1, static_cast<Index>(plot.w)));
  const float width = plot.w / static_cast<float>(bars);
  const float inset = width > 8 ? std::round(width * 0.12f) : 0;
  const ImU32 plain = to_imgui(colour_map(state.settings.theme, state.settings.colours)[150]);
  for (Index b = 0; b < bars; ++b) {
    const Index begin = b * count / bars, end = (b + 1) * count / bars;
    const auto part = row.row(0).segment(first + begin, end - begin).unaryExpr(size_of);
    const float weight = std::max(0.0f, part.maxCoeff());
    const float height = (bottom - top) * std::min(1.0f, weight / most);
    const float x = plot.x + static_cast<float>(b) * width;
    const bool is_lit = lit_column && *lit_column >= begin && *lit_column < end;
    list.AddRectFilled({x + inset, bottom - height}, {x + width - inset, bottom},
                       is_lit                                   ? gui.colours().accent
                       : is_signed && row(0, first + begin) < 0 ? gui.colours().warning
                                                                : plain);
  }
  // What rests on special tokens that are left out is a bar of its own, before the first word.
  if (content.folded && content.folded->fold.done.special && content.kind == MapKind::weights) {
    const float rests = std::clamp(1 - row.sum(), 0.0f, 1.0f) * (bottom - top);
    list.AddRectFilled({plot.x - 10 * gui.unit, bottom - rests}, {plot.x - 3 * gui.unit, bottom},
                       gui.colours().outline);
  }
  list.AddLine({plot.x, bottom}, {plot.right(), bottom}, gui.colours().line, gui.unit);
  gui.name_box("row bars", bars_box, BoxKind::slider);
  return asked;
}

}  // namespace headlight
