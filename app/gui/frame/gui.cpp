#include "gui/frame/gui.h"

#include <algorithm>

#include "base/formatted.h"
#include "derived/derived_maps.h"
#include "figure/figure.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/focus.h"
#include "gui/frame/stacks.h"
#include "model/head_text.h"
#include "session/shown.h"
#include "words/answer_words.h"
#include "words/grid_words.h"
#include "words/mask_words.h"
#include "words/sentence_words.h"

namespace headlight {

std::string_view box_kind_name(BoxKind kind) {
  constexpr std::string_view kNames[] = {"",      "map",    "thumbnail", "button", "segment", "menu", "link",
                                         "field", "slider", "label",     "stage",  "atlas",   "arc"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Gui::name_item(const std::string& name, BoxKind kind, std::uint32_t item) {
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  name_box(name, {min.x, min.y, max.x - min.x, max.y - min.y}, kind, {}, item);
}

void Gui::name_box(const std::string& name, const Box& box, BoxKind kind, std::optional<HeadRef> head,
                   std::uint32_t item, std::optional<CellRef> cell) {
  if (probe) (*probe)[name] = box;
  add_focus_stop(*this, name, box, kind, item);
  // A ring around what a lesson's text points at.
  if (!name.empty() && state.view.pointed == name) {
    const float edge = 4 * unit;
    ImGui::GetForegroundDrawList()->AddRect({box.x - edge, box.y - edge}, {box.right() + edge, box.bottom() + edge},
                                            colours().action, 6 * unit, 0, 3 * unit);
  }
  if (!boxes || kind == BoxKind::none) return;
  const ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 least = list.GetClipRectMin(), most = list.GetClipRectMax();
  const float x = std::max(box.x, least.x), y = std::max(box.y, least.y);
  const Box seen{x, y, std::min(box.right(), most.x) - x, std::min(box.bottom(), most.y) - y};
  if (seen.w > 0 && seen.h > 0) boxes->push_back({name, kind, head, seen, cell});
}

FontScope::FontScope(const Gui& gui, TextSize size) { gui.fonts.push(size); }
FontScope::~FontScope() { ImGui::PopFont(); }

ColourScale colour_scale(const AppState& state) {
  ColourScale scale{.theme = state.settings.theme, .scale = scale_of_colours(state)};
  if (const DerivedMaps* other = state.trace ? shown_maps(state, state.view.chosen.stack) : nullptr)
    scale = other_scale(*other, scale.theme, scale.scale);
  else if (const PictureGrids* grids = shown_grids(state))
    scale = of_numbers(weight_scale(*state.trace, nullptr, scale.theme, scale.scale), grids->map(state.view.chosen));
  else if (state.trace) scale = weight_scale(*state.trace, state.folded.get(), scale.theme, scale.scale);
  scale.colours = state.settings.colours;
  return in_range(scale, state.view.range);
}

std::string query_label(Gui& gui, Index query, Stack stack) {
  return gui.fonts.shown(axis_label(gui.state.trace->query_tokens(stack).tokens[static_cast<std::size_t>(query)]));
}

std::string key_label(Gui& gui, Index key, Stack stack) {
  return gui.fonts.shown(axis_label(gui.state.trace->key_tokens(stack).tokens[static_cast<std::size_t>(key)]));
}

std::string group_label(Gui& gui, const FoldedAxis& axis, Index group) {
  return gui.fonts.shown(axis_label(axis.tokens[static_cast<std::size_t>(group)]));
}

std::string weight_text(float weight) {
  const bool tiny = weight != 0.0f && std::abs(weight) < 0.0001f;
  return typeset(formatted(tiny ? "%.2e" : "%.4f", static_cast<double>(weight)));
}

std::string percent(float probability) { return share_text(static_cast<double>(probability)); }

namespace {

/// Of the folded cell: whether one of its weights was set by hand.
bool any_by_hand(const Edits& edits, const HeadRef& head, const FoldedAxis::Group& rows,
                 const FoldedAxis::Group& columns) {
  for (Index query = rows.first; query < rows.first + rows.count; ++query)
    for (Index key = columns.first; key < columns.first + columns.count; ++key)
      if (edited_weight(edits, head, {query, key})) return true;
  return false;
}

/// Why a token has no row, or no column.
std::string off_axis_label(Gui& gui, const FoldedStack& folded, const Tokens& tokens, Index at, std::string label) {
  const bool special = folded.fold.done.special && tokens.tokens[static_cast<std::size_t>(at)].special;
  return label + ": " + gui.word(special ? kAnswerWords.left_out : kPairWords.other_part);
}

std::string folded_cell_in_words(Gui& gui, const FoldedStack& folded, const HeadRef& head, const CellRef& cell) {
  const FoldedAxis& queries = folded.fold.queries;
  const FoldedAxis& keys = folded.fold.keys;
  const auto row = queries.group(cell.query), column = keys.group(cell.key);
  const Trace& trace = *gui.state.trace;
  if (!row)
    return off_axis_label(gui, folded, trace.query_tokens(head.stack), cell.query,
                          query_label(gui, cell.query, head.stack));
  if (!column)
    return off_axis_label(gui, folded, trace.key_tokens(head.stack), cell.key, key_label(gui, cell.key, head.stack));
  const std::string line = group_label(gui, queries, *row) + " " + gui.word(kAnswerWords.attends) + " " +
                           group_label(gui, keys, *column) + ": ";
  const float weight = folded.map(head)(*row, *column);
  if (weight < 0) return line + gui.word(kAnswerWords.blocked);
  const bool by_hand =
      any_by_hand(gui.state.trace->request.edits, head, queries.tokens_of(*row), keys.tokens_of(*column));
  return line + weight_text(weight) + (by_hand ? std::string(" (") + gui.word(kMaskWords.by_hand) + ")" : "");
}

std::string other_cell_in_words(Gui& gui, const DerivedMaps& maps, const HeadRef& head, const CellRef& cell) {
  const std::string verb = gui.word(maps.kind == MapKind::norms     ? kMapWords.takes_from
                                    : maps.kind == MapKind::rollout ? kMapWords.contains
                                                                    : kAnswerWords.attends);
  const std::string line =
      query_label(gui, cell.query, head.stack) + " " + verb + " " + key_label(gui, cell.key, head.stack) + ": ";
  const float number = (*maps.map(head))(cell.query, cell.key);
  if (number < 0) return line + gui.word(kAnswerWords.blocked);
  const auto strongest = maps.strongest(head, cell);
  return line + number_title(gui.state.settings.language, maps.kind) + " " +
         (strongest ? head_label(*strongest) + " " : "") + weight_text(number);
}

}  // namespace

std::string piece_label(Gui& gui, const Tokens& tokens, Index token) {
  return gui.fonts.shown(piece_label(gui.state.settings.language, tokens, token));
}

std::string cell_in_words(Gui& gui, HeadRef head, const CellRef& cell) {
  if (const DerivedMaps* other = shown_maps(gui.state, head.stack)) return other_cell_in_words(gui, *other, head, cell);
  if (const FoldedStack* folded = shown_fold(gui.state, head.stack))
    return folded_cell_in_words(gui, *folded, head, cell);
  const Trace& trace = *gui.state.trace;
  std::string line = piece_label(gui, trace.query_tokens(head.stack), cell.query) + " " +
                     gui.word(kAnswerWords.attends) + " " + piece_label(gui, trace.key_tokens(head.stack), cell.key) +
                     ": ";
  const float weight = attention_rows(trace, head, cell.query, 1)(0, cell.key);
  const bool by_hand = edited_weight(trace.request.edits, head, cell) != nullptr;
  if (!by_hand && !trace.mask_of(head).allowed(cell.query, cell.key)) return line + gui.word(kAnswerWords.blocked);
  line += is_missing(trace, head, cell) ? "NaN" : weight_text(weight);
  return by_hand ? line + " (" + gui.word(kMaskWords.by_hand) + ")" : line;
}

std::string head_words(const Gui& gui, const HeadRef& head) {
  std::string text;
  if (gui.state.trace && gui.state.trace->encoder) text = std::string(stack_word(gui, head.stack)) + " · ";
  return text + (gui.state.trace ? map_label(gui.state.settings.language, *gui.state.trace, head) : head_label(head));
}

void explain_item(const Gui& gui, const Words& words) {
  if (ImGui::IsItemHovered()) explain_item(gui, std::string(gui.word(words)));
}

void explain_item(const Gui& gui, const std::string& text) {
  if (ImGui::IsItemHovered()) show_tip(gui, text);
}

}  // namespace headlight
