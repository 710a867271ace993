#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "derived/word_changes.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/stacks.h"
#include "gui/frame/texture_ids.h"
#include "gui/question/question.h"
#include "session/shown.h"
#include "views/heads/panel/heads.h"
#include "views/heads/panel/stage_parts.h"
#include "words/answer_words.h"

namespace headlight {
namespace {

/// Whether the weights of the head at full size, where they are needed, are of the answer on the screen.
bool has_detail(const AppState& state) { return state.detail && state.detail->trace == state.trace; }

/// The content of the enlarged head now: its weights at full size once they are there; until then those of the answer
/// before if they cover the same region (the map would jump under the pointer otherwise), else the thumbnail. Maps of
/// merged words and those of another kind are always whole; a part of a map has the special tokens that are in it.
MapContent shown_content(const AppState& state) {
  const HeadRef head = state.view.chosen;
  const Region region = shown_region(state);
  MapContent content = whole_content(state, head);
  content.values = true;
  if (content.folded) {
    content.weights = &content.folded->map(head);
    content.version = folded_version(state, head);
  }
  const bool whole = state.view.viewport == Viewport{};
  if (!shows_tokens(content) || (content.folded && (whole || !has_detail(state)))) return content;
  const auto& detail = state.detail;
  const bool same_head = detail && detail->region.head == head;
  const bool same_region = same_head && detail->region == region &&
                           detail->trace->queries(head.stack) == state.trace->queries(head.stack) &&
                           detail->trace->keys(head.stack) == state.trace->keys(head.stack);
  if (needs_detail(state) && same_head && (has_detail(state) || same_region)) {
    content.weights = &state.detail->weights;
    content.version = detail_version(state);
    content.region = state.detail->region;
    content.folded = nullptr;
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
    gui.push(painted(gui.state,
                     {from.query + (to.query - from.query) * i / steps, from.key + (to.key - from.key) * i / steps},
                     allowed));
}

/// A stroke sets every cell it crosses to the opposite of what its first cell was.
void paint(Gui& gui, const MapContent& content, const MapLayout& layout, const std::optional<CellRef>& cell) {
  const AppState& state = gui.state;
  if (!shows_tokens(content) || (cell && !map_column(content, cell->key))) {
    // Merged words came in the middle of a stroke, which can only end, or it is beside the map.
  } else if (ImGui::IsItemActivated() && cell) {
    const bool allowed = !mask_of_chosen(state).allowed(cell->query, cell->key);
    gui.push(SetStroke{allowed});
    gui.push(painted(state, *cell, allowed));
  } else if (ImGui::IsItemActive() && state.view.stroke && cell) {
    const ImGuiIO& io = ImGui::GetIO();
    auto before = cell_at(layout, content.region.num_queries, content.region.num_keys, io.MousePos.x - io.MouseDelta.x,
                          io.MousePos.y - io.MouseDelta.y);
    if (before) before = cell_of(content, *before);
    if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)
      paint_line(gui, before.value_or(*cell), *cell, *state.view.stroke);
  }
  if (ImGui::IsItemDeactivated() && state.view.stroke) {
    gui.push(SetStroke{});
    gui.push(EndGesture{});
  }
}

/// Whether the two are drawn as one cell.
bool same_cell(const MapContent& content, const std::optional<CellRef>& a, const CellRef& b) {
  if (!a || !content.folded) return a == b;
  return content.folded->fold.queries.together(a->query, b.query) && content.folded->fold.keys.together(a->key, b.key);
}

/// Whether the weights of the head at full size, which the map needs, are late.
bool awaits_detail(const Gui& gui, const MapContent& content) {
  return shows_tokens(content) && needs_detail(gui.state) && !has_detail(gui.state) && !gui.motion;
}

/// A click pins the cell; on the pinned one it opens *Why?*. The right button opens its menu.
CellAsk press_cell(Gui& gui, const MapContent& content, const CellRef& cell, bool clicked, bool hovered) {
  if (hovered && was_clicked_in_place(1) && !is_of_layers(content.kind)) {
    gui.push(Pin{cell});
    return CellAsk::menu;
  }
  if (!clicked) return CellAsk::none;
  if (!same_cell(content, gui.state.view.pinned, cell)) gui.push(Pin{cell});
  else if (!is_of_layers(content.kind)) explain_cell(gui, *gui.state.view.pinned, InsideTab::why);
  return CellAsk::none;
}

/// The map in its room, as a square of cells that begins at the left.
CellAsk large_map(Gui& gui, const MapContent& content, const AxisLabels& labels, const MapLayout& layout) {
  const AppState& state = gui.state;
  const float strip = resting_room(gui, content);
  ImGui::SetCursorScreenPos({layout.plot.x - strip, layout.plot.y});
  ImGui::InvisibleButton("stage map", {layout.plot.w + strip, layout.plot.h});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive(), clicked = ImGui::IsItemActivated();
  const bool painting =
      state.view.stroke || (shows_tokens(content) && (state.view.painting || ImGui::GetIO().KeyShift));
  gui.name_box("stage map", layout.plot, BoxKind::map, state.view.chosen);
  const float opacity = awaits_detail(gui, content) ? kStaleOpacity : answer_opacity(gui);
  const auto cell = draw_map(gui, *ImGui::GetWindowDrawList(), content, labels, layout, opacity);
  if (hovered || active) gui.push(Hover{state.view.chosen, cell});
  CellAsk ask = CellAsk::none;
  if (painting) paint(gui, content, layout, cell);
  else if (cell) ask = press_cell(gui, content, *cell, clicked, hovered);
  const Stack stack = state.view.chosen.stack;
  if (hovered && cell && !map_column(content, cell->key))
    explain_item(gui, kAnswerWords.tip_rests, {Act::fold_special});
  if (!hovered || !shows_tokens(content)) return ask;
  if (const auto part =
          turned(state.view.viewport, state.trace->queries(stack), state.trace->keys(stack), layout.cell, cell))
    gui.push(SetViewport{*part});
  return ask;
}

/// Above the rows' words: shows the special tokens, or leaves them out again.
void special_switch(Gui& gui, const MapContent& content, const MapLayout& layout, float left) {
  if (!can_fold(gui.state, &FoldChoice::special)) return;
  const bool folded = content.folded && content.folded->fold.done.special;
  if (!folded && content.region.num_keys > kMostWords) return;
  std::string names;
  for (const Token& token : gui.state.trace->key_tokens(content.head.stack).tokens)
    if (is_resting_token(token) && names.find(token.text) == std::string::npos)
      names += (names.empty() ? "" : " ") + token.text;
  const auto width = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
  if (names.empty()) return;
  const float right = layout.plot.x;
  const std::string sign = folded ? "+" : "−", whole = sign + " " + names;
  const std::string label = width(whole) <= right - left ? whole : sign;
  ImGui::SetCursorScreenPos({right - width(label), layout.plot.y - ImGui::GetFrameHeight()});
  if (link_button(gui, "special tokens", label.c_str())) toggle_fold(gui, &FoldChoice::special);
  explain_item(gui, folded ? kAnswerWords.tip_rests : kAnswerWords.tip_fold_special, {Act::fold_special});
}

/// The tokens in a line, the large map and the bars of its lit row; what a click on them asks for.
CellAsk draw_map_stage(Gui& gui, const StageSlots& slots) {
  constexpr float kChips = 31, kBars = 84, kLowBars = 64, kGap = 8;
  Box room = slots.scene;
  if (!has_chips(gui.state)) {
    const float chips = kChips * gui.unit;
    {
      const SlotScope scope("stage chips", {room.x, room.y, room.w, chips});
      all_chips(gui, room.w);
    }
    room.y += chips, room.h -= chips;
  }
  constexpr float kRoomy = 850;  // a window so high
  const bool roomy = ImGui::GetIO().DisplaySize.y >= kRoomy * gui.unit;
  const float bars = (roomy ? kBars : kLowBars) * gui.unit;
  Box of_bars{room.x, room.bottom() - bars, room.w, bars};
  room.h -= bars + kGap * gui.unit;
  StageMap map;
  CellAsk ask = CellAsk::none;
  {
    const FontScope small(gui, TextSize::small);
    map.content = shown_content(gui.state);
    map.content.slot = 1;
    const AxisLabels labels = axis_labels(gui, map.content);
    const float bands = band_room(gui, map.content);
    const float left = bands + resting_room(gui, map.content);
    map.layout = map_layout(map.content, labels, {room.x + left, room.y + bands, room.w - left, room.h - bands});
    ask = large_map(gui, map.content, labels, map.layout);
    if (bands <= 0) special_switch(gui, map.content, map.layout, room.x);
    if (bands > 0) draw_role_bands(gui, map.content, map.layout, room);
  }
  // The bars grow into what a map of few rows leaves free above them.
  constexpr float kMostBars = 150;
  const float bottom = of_bars.bottom();
  of_bars.y = std::min(of_bars.y, std::max(map.layout.plot.bottom() + kGap * gui.unit, bottom - kMostBars * gui.unit));
  of_bars.h = bottom - of_bars.y;
  const CellAsk of_bar = draw_row_bars(gui, of_bars, map);
  return of_bar == CellAsk::none ? ask : of_bar;
}

}  // namespace

SlotScope::SlotScope(const char* name, const Box& slot) {
  ImGui::SetCursorScreenPos(top_left(slot));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{});
  ImGui::BeginChild(name, {slot.w, slot.h}, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
}

SlotScope::~SlotScope() { ImGui::EndChild(); }

StageSlots stage_slots(const Box& stage, ImVec2 window, float unit) {
  constexpr float kLeft = 16, kRight = 8, kRow = 27, kGap = 8, kGuess = 31, kBottom = 6, kLow = 700, kMostHeadline = 40,
                  kHeadline = 33, kLowHeadline = 26;
  StageSlots slots;
  slots.low = window.y < kLow * unit;
  const float growth = stage_growth(window.x / unit, window.y / unit);
  slots.headline = std::round((slots.low ? kLowHeadline : std::min(kMostHeadline, kHeadline * growth)) * unit);
  const float x = stage.x + kLeft * unit, w = stage.w - (kLeft + kRight) * unit, row = kRow * unit, gap = kGap * unit;
  const float words = slots.headline + (slots.low ? 0 : kSecondLine * unit);
  slots.header = {x, stage.y, w, row + gap / 2 + words};
  slots.actions = {x, stage.bottom() - kBottom * unit - row, w, row};
  const float changes = slots.low ? 0 : row;
  slots.changes = {x, slots.actions.y - (changes > 0 ? changes + gap : 0), w, changes};
  slots.guess = {x, slots.changes.y - gap - kGuess * unit, w, kGuess * unit};
  const float top = slots.header.bottom() + gap / 2;
  slots.scene = {x, top, w, slots.guess.y - gap - top};
  return slots;
}

Box headline_and_scene(const Gui& gui, const Box& stage) {
  const StageSlots slots = stage_slots(stage, ImGui::GetIO().DisplaySize, gui.unit);
  const float bottom = stage_form(gui.state) == StageForm::text ? slots.header.bottom() : slots.scene.bottom();
  const float top = slots.header.bottom() - slots.headline - (slots.low ? 0 : kSecondLine * gui.unit);
  return {slots.scene.x, top, slots.scene.w, bottom - top};
}

void stage_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state_card(gui)) return;
  const ImVec2 corner = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  StageSlots slots = stage_slots({corner.x, corner.y, size.x, size.y}, ImGui::GetIO().DisplaySize, gui.unit);
  CellAsk ask = CellAsk::none;
  SentenceStage sentence;
  const StageForm form = stage_form(state);
  if (form == StageForm::sentence) {
    sentence = sentence_stage(gui, slots.scene);
    ask = sentence.types_weight ? CellAsk::weight : sentence.opens_menu ? CellAsk::menu : CellAsk::none;
  } else if (form == StageForm::text) {
    Box room = slots.scene;
    if (shows_picture(state)) {  // of which no change of words is offered, and only a classifier's has a guess
      const float gap = 8 * gui.unit;
      slots.guess.y = slots.actions.y - gap - slots.guess.h;
      room.h = (can_say_words(state) ? slots.guess.y : slots.actions.y) - gap - room.y;
    }
    draw_text_stage(gui, room);
  } else {
    ask = draw_map_stage(gui, slots);
  }
  draw_stage_header(gui, slots, form == StageForm::sentence ? &sentence : nullptr);
  draw_guess(gui, slots.guess);
  draw_stage_changes(gui, slots.changes);
  draw_stage_actions(gui, slots);
  cell_menu(gui, ask);
}

}  // namespace headlight
